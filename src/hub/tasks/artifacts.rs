//! Files that agents hand on: what is in them, and whether they are what they should be.

use std::path::{Path, PathBuf};

use super::schema_check;
use crate::api::Fault;
use crate::config::Hash;
use crate::engine::Event;
use crate::hub::Hub;
use crate::hub::agents::hooks::ReportCall;
use crate::hub::record::commit_queue::PendingEffect;
use crate::hub::remote::workspace::refresh;
use crate::hub::requests::route::Asker;
use crate::model::{AgentName, RunId, TaskId};
use crate::protocol::ReportKind;
use crate::workspace::inside;

/// A file whose hash is taken; of a larger one only the name is kept.
const ARTIFACT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A report that waits until the file it is about has been looked at.
#[derive(Debug)]
pub(in crate::hub) struct ArtifactReport {
    pub(in crate::hub) asker: Asker,
    pub(in crate::hub) agent: AgentName,
    pub(in crate::hub) run: RunId,
    pub(in crate::hub) said: ReportCall,
    /// The attempt that it speaks of.
    pub(in crate::hub) tag: Option<String>,
}

impl Hub {
    /// Takes the hash of a file that an attempt hands on.
    pub(in crate::hub) fn weigh(&self, task: TaskId, attempt: usize, path: String, cwd: PathBuf) {
        let abroad = self.shown_at(&cwd);
        let weighing = async move {
            if let Err(reason) = refresh(abroad).await {
                tracing::warn!(reason, "it is weighed as it was");
            }
            let name = path.clone();
            let weighed = tokio::task::spawn_blocking(move || {
                inside::read(&cwd, &name, ARTIFACT_BYTES_MAX)
                    .map(|text| Hash::of(&text).to_string())
            });
            let hash = weighed.await.ok().and_then(Result::ok);
            Event::FileHashed { task, attempt, path, hash }
        };
        self.when_done(weighing, Self::decide);
    }

    /// Takes a report about a file once the file has been looked at; what is not as it should be is
    /// refused with the reason.
    pub(in crate::hub) fn check_artifact(&self, waiting: ArtifactReport, schema: Option<String>) {
        let cwd = self.engine.seat(&waiting.agent).map(|seat| seat.member.cwd.clone());
        let (cwd, path) = (cwd.unwrap_or_default(), waiting.said.path());
        let abroad = self.shown_at(&cwd);
        let examining = async move {
            let refreshed = refresh(abroad).await;
            let looking =
                tokio::task::spawn_blocking(move || refuse(&cwd, &path, schema.as_deref()));
            match looking.await {
                Ok(Ok(())) => refreshed.err(),
                Ok(Err(reason)) => Some(reason),
                Err(error) => Some(error.to_string()),
            }
        };
        self.when_done(examining, |hub, fault| hub.on_examined(waiting, fault));
    }

    fn on_examined(&mut self, waiting: ArtifactReport, fault: Option<String>) {
        let ArtifactReport { asker, agent, run, said, tag } = waiting;
        let answer = match fault {
            Some(reason) => Err(refusal(&reason)),
            // Its run or its attempt may have ended while the file was looked at.
            None => match self.refuse_late(&agent, run, tag.as_deref()) {
                Some(fault) => Err(fault),
                None => self.on_report(&agent, run, said),
            },
        };
        self.carry_out_later(PendingEffect::Answer { asker, answer });
    }
}

impl ReportCall {
    /// Says whether the file that it is about is looked at first.
    pub(in crate::hub) fn is_artifact(&self) -> bool {
        self.kind == ReportKind::Artifact
    }

    /// Returns the path of `path — kind`.
    fn path(&self) -> String {
        let path = self.text.split([' ', '\t']).next().unwrap_or_default();
        path.trim_matches('`').to_owned()
    }
}

/// Says why a file cannot be handed on.
fn refuse(cwd: &Path, path: &str, schema: Option<&str>) -> Result<(), String> {
    let name = inside::shown(path);
    if path.starts_with('-') {
        return Err(format!("`{name}` looks like an option; write `./{name}`"));
    }
    let told = inside::open(cwd, path)?.metadata().map_err(|error| format!("{name}: {error}"))?;
    if told.len() == 0 {
        return Err(format!("{name} is empty"));
    }
    match schema {
        Some(schema) if schema.trim_start().starts_with('{') => {
            Err("the schema is named by its file".to_owned())
        }
        Some(schema) => schema_check::check(cwd, path, schema),
        None => Ok(()),
    }
}

fn refusal(reason: &str) -> Fault {
    Fault::new(format!("The artifact is refused: {reason}")).with_hint(
        "Name a file below the directory that you work in, correct it, and report it again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_the_workspace_that_fits_is_handed_on() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        let set = |name: &str, text: &str| std::fs::write(root.join(name), text).unwrap();
        set("good.json", "{\"port\": 1}");
        set("bad.json", "{}");
        set("s.json", "{\"required\": [\"port\"]}");
        set("empty", "");
        set("-dash", "1");
        set("ünï.txt", "1");
        std::os::unix::fs::symlink("/etc/passwd", root.join("link")).unwrap();
        assert_eq!(refuse(root, "good.json", Some("s.json")), Ok(()));
        for path in ["good.json", "./-dash", "ünï.txt"] {
            assert_eq!(refuse(root, path, None), Ok(()), "{path}");
        }
        for (path, schema, words) in [
            ("bad.json", Some("s.json"), "port"),
            ("good.json", Some("none.json"), "the schema"),
            ("good.json", Some("../s.json"), "the schema"),
            ("good.json", Some("/etc/passwd"), "the schema"),
            ("good.json", Some("link"), "the schema"),
            ("good.json", Some("{}"), "by its file"),
            ("empty", None, "is empty"),
            ("-dash", None, "./-dash"),
            ("link", None, "does not lie"),
            ("../x", None, "does not lie"),
            ("/etc/passwd", None, "does not lie"),
            ("a\0b", None, "does not lie"),
            ("none", None, "none: "),
            (".", None, "does not lie"),
        ] {
            let said = refuse(root, path, schema).unwrap_err();
            assert!(said.contains(words), "{path:?} {schema:?}: {said}");
        }
    }
}
