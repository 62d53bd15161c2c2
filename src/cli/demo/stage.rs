//! The demo's world: a repository, a team and a hub of its own, gone when the demo is over.

use std::fmt::Write;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::config::Paths;
use crate::git;
use crate::sim::DEMO;

/// What the demo's repository is called; its name stands in the dashboard.
const PROJECT: &str = "shop";

/// Nobody watches a demo for three minutes to see that an agent is stuck.
const STUCK_SECONDS: u32 = 8;

const README: &str = "# Shop\n\nA tiny shop, so that agents have something to work on.\n";

/// A world that cleans up after itself.
pub(super) struct Stage {
    root: PathBuf,
    program: PathBuf,
}

impl Stage {
    pub(super) fn build() -> anyhow::Result<Self> {
        let root = std::env::temp_dir().join(format!("wheelhouse-demo-{}", std::process::id()));
        let make = |path: &Path| DirBuilder::new().mode(0o700).create(path);
        make(&root).with_context(|| format!("Failed to create `{}`", root.display()))?;
        let program = std::env::current_exe()?;
        let stage = Self { root, program };
        for part in ["scripts", "state", "run", PROJECT] {
            make(&stage.root.join(part))?;
        }
        stage.write_project()?;
        stage.run(&["config", "trust", "--yes"])?;
        Ok(stage)
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join(PROJECT)
    }

    /// Returns a command of our own in this world.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .env("XDG_STATE_HOME", self.root.join("state"))
            .env("XDG_RUNTIME_DIR", self.root.join("run"))
            .arg("--project")
            .arg(self.project())
            .args(words);
        command
    }

    /// Returns where this world's hub is found.
    pub(super) fn paths(&self) -> anyhow::Result<Paths> {
        let mut paths = Paths::find(&self.project())?;
        let session = Path::new("wheelhouse").join(&paths.session.0);
        paths.state_dir = self.root.join("state").join(&session);
        paths.runtime_dir = self.root.join("run").join(&session);
        Ok(paths)
    }

    pub(super) fn run(&self, words: &[&str]) -> anyhow::Result<()> {
        let output = self.command(words).stdin(Stdio::null()).output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(
            output.status.success(),
            "{}",
            said.trim_start_matches("error: ").trim_end()
        );
        Ok(())
    }

    fn write_project(&self) -> anyhow::Result<()> {
        let project = self.project();
        fs::write(project.join("README.md"), README)?;
        let mut settings =
            format!("[stuck]\nafter_seconds = {STUCK_SECONDS}\n[team.demo]\nlayout = \"grid\"\n");
        for (name, script) in DEMO {
            let path = self.root.join("scripts").join(format!("{name}.sim"));
            fs::write(&path, script)?;
            let command = serde_json::to_string(
                &[self.program.as_os_str(), "sim".as_ref(), path.as_os_str()]
                    .map(|word| word.display().to_string()),
            )?;
            write!(
                settings,
                "\n[[team.demo.agents]]\nname = \"{name}\"\ncli = \"{name}\"\nworkspace = \"shared\"\n\
                 \n[cli.{name}]\ncommand = {command}\nlike = 'sim'\n"
            )?;
        }
        fs::write(project.join("wheelhouse.toml"), settings)?;
        fs::write(project.join(".gitignore"), "wheelhouse.toml\n")?;
        for words in [
            &["init", "--quiet"][..],
            &["config", "user.name", "demo"],
            &["config", "user.email", "demo@localhost"],
            &["add", "--all"],
            &["commit", "--quiet", "--message", "Open the shop"],
        ] {
            git::run(&project, words).context("The demo works on a git repository")?;
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // What cannot be ended or removed lies in the temporary directory; there is nobody to tell.
        let _ = self.run(&["down", "--force"]);
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_may_lie_in_a_directory_of_any_name() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("demo");
        let program = PathBuf::from("/no/where/it's \"here\"/bücher/wheelhouse");
        for part in ["scripts", PROJECT] {
            fs::create_dir_all(root.join(part)).unwrap();
        }
        let stage = Stage { root, program: program.clone() };
        stage.write_project().unwrap();
        let settings = fs::read_to_string(stage.project().join("wheelhouse.toml")).unwrap();
        let settings: toml::Table = settings.parse().unwrap();
        let cli = settings["cli"].as_table().unwrap();
        assert_eq!(cli.len(), DEMO.len());
        for one in cli.values() {
            assert_eq!(one["command"][0].as_str(), program.to_str());
        }
    }
}
