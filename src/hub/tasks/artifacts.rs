//! Checks files that agents hand on: what is in them, and whether they are what they should be.

use std::path::{Path, PathBuf};

use super::schema_check;
use crate::api::Fault;
use crate::config::Hash;
use crate::hub::remote::workspace::{RemoteWorkspace, refresh};
use crate::protocol::ReportKind;
use crate::workspace::inside;

/// A file whose hash is taken; of a larger one only the name is kept.
const ARTIFACT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A report that an agent made by a call.
#[derive(Debug)]
pub(in crate::hub) struct ReportCall {
    /// The same call again is the same report.
    pub(in crate::hub) call: String,
    pub(in crate::hub) kind: ReportKind,
    pub(in crate::hub) text: String,
}

impl ReportCall {
    /// Says whether the file that it is about is looked at first.
    pub(in crate::hub) fn is_artifact(&self) -> bool {
        self.kind == ReportKind::Artifact
    }

    /// Returns the path of `path — kind`.
    pub(in crate::hub) fn path(&self) -> String {
        let path = self.text.split([' ', '\t']).next().unwrap_or_default();
        path.trim_matches('`').to_owned()
    }
}

/// Returns the hash of a file that an attempt hands on.
pub(in crate::hub) async fn hash_file(
    remote: Option<RemoteWorkspace>,
    cwd: PathBuf,
    name: String,
) -> Option<String> {
    if let Err(reason) = refresh(remote).await {
        tracing::warn!(reason, "its hash is taken as it was");
    }
    let hash = move || {
        let text = inside::read(&cwd, &name, ARTIFACT_BYTES_MAX);
        text.map(|text| Hash::of(&text).to_string())
    };
    tokio::task::spawn_blocking(hash).await.ok().and_then(Result::ok)
}

/// Returns what is wrong with a file that an attempt hands on.
pub(in crate::hub) async fn check_file(
    remote: Option<RemoteWorkspace>,
    cwd: PathBuf,
    path: String,
    schema: Option<String>,
) -> Option<String> {
    let refreshed = refresh(remote).await;
    let check = move || refuse(&cwd, &path, schema.as_deref());
    match tokio::task::spawn_blocking(check).await {
        Ok(Ok(())) => refreshed.err(),
        Ok(Err(reason)) => Some(reason),
        Err(error) => Some(error.to_string()),
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

/// Says that a file is not as it should be.
pub(in crate::hub) fn refusal(reason: &str) -> Fault {
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
