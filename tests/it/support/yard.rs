//! A world whose project is a repository, with scripted agents that each have a workspace.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::plots;
use super::world::{PROGRAM, World};

/// The world, and what its agents play.
pub(crate) struct Yard {
    pub(crate) world: World,
}

impl Yard {
    /// Lays out a repository with these files, and a team `crew` of agents that play these scripts, each
    /// in a worktree; `settings` go into `[workspace]`.
    pub(crate) fn new(files: &[(&str, &str)], agents: &[(&str, &str)], settings: &str) -> Self {
        Self::in_world(World::new(), files, agents, (settings, ""))
    }

    /// Does the same in a world, with more settings for each agent.
    pub(crate) fn in_world(
        world: World,
        files: &[(&str, &str)],
        agents: &[(&str, &str)],
        (settings, of_each): (&str, &str),
    ) -> Self {
        let mut config = format!("[stop]\ngrace_seconds = 1\n[workspace]\n{settings}\n");
        for (name, script) in agents {
            let path = world.path(&format!("{name}.sim"));
            fs::write(&path, format!("speed 10\n{script}")).unwrap();
            let command = serde_json::to_string(&[PROGRAM, "sim", path.to_str().unwrap()]).unwrap();
            write!(
                config,
                "[cli.{name}]\nlike = \"sim\"\ncommand = {command}\n\
                 [[team.crew.agents]]\nname = \"{name}\"\ncli = \"{name}\"\n\
                 workspace = \"worktree\"\n{of_each}\n"
            )
            .unwrap();
        }
        let yard = Self { world };
        for (name, text) in files {
            let path = yard.project().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::write(yard.project().join(".gitignore"), "wheelhouse.toml\n.env\n*.log\n").unwrap();
        yard.git(&["init", "-q", "-b", "main"]);
        yard.git(&["config", "user.name", "Someone"]);
        yard.git(&["config", "user.email", "someone@example.org"]);
        yard.git(&["add", "."]);
        yard.git(&["commit", "-q", "-m", "one"]);
        yard.world.write_config(&config);
        yard.world.trust();
        yard
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.world.path("project")
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        plots::git(&self.project(), arguments)
    }

    /// Returns the workspaces as the command lists them.
    pub(crate) fn list(&self) -> Vec<Value> {
        self.world.json(&["workspace", "list"]).as_array().unwrap().clone()
    }

    pub(crate) fn workspace(&self, agent: &str) -> Option<Value> {
        self.list().into_iter().find(|one| one["agent"] == agent)
    }

    pub(crate) fn root(&self, agent: &str) -> PathBuf {
        self.world.paths().state_dir.join("workspaces").join(agent)
    }

    /// Starts the team, and waits until everyone is ready.
    pub(crate) fn up(&self, agents: &[&str]) {
        self.world.ok(&["up", "crew"]);
        for agent in agents {
            self.world.ok(&["wait", "--agent", agent, "--for", "idle", "--timeout", "35"]);
        }
    }

    /// Hands an agent a prompt, and waits until it rests again.
    pub(crate) fn say(&self, agent: &str, prompt: &str) {
        self.world.ok(&["dispatch", agent, prompt, "--wait"]);
        let states = ["wait", "--agent", agent, "--for", "idle,done", "--timeout", "35"];
        self.world.ok(&states);
    }
}
