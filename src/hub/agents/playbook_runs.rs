//! Plans the agents of playbook runs.

use std::fs;
use std::path::PathBuf;

use super::planner::Planner;
use super::workspace_plan::unsaid_in_plays;
use crate::api::Fault;
use crate::config::{Agent, Loaded, secure_dir};
use crate::model::{
    Added, Cast, Environment, Launch, Member, PlayOrder, Player, Posting, WorkspaceChoice,
};

impl Planner {
    /// Returns how to start one who takes part: as its team says, if it has one.
    pub(in crate::hub) fn plan_player(
        &self,
        loaded: &Loaded,
        cast: &Cast,
        player: &Player,
        caller: &Environment,
    ) -> Result<(Member, Launch), Fault> {
        let team = loaded.team(&cast.team).ok();
        let of_team =
            team.and_then(|team| Some((team, team.agents.iter().find(|a| a.name == player.name)?)));
        if let Some((team, agent)) = of_team.filter(|_| player.command.is_empty()) {
            let mut agent = agent.clone();
            let workspace = &mut agent.posting.workspace;
            *workspace = workspace.or_else(|| unsaid_in_plays(&loaded.settings));
            return self.plan_agent(loaded, team, &agent, caller);
        }
        // Stages hand their files on where they lie, unless the playbook says otherwise.
        let workspace = player.posting.workspace.unwrap_or(WorkspaceChoice::Shared);
        let posting = Posting { workspace: Some(workspace), ..player.posting.clone() };
        let agent = Agent {
            name: player.name.clone(),
            cli: player.cli.clone(),
            role: player.role,
            prompt: None,
            cwd: PathBuf::new(),
            env: Environment::default(),
            owns: player.owns.clone(),
            capabilities: player.capabilities.clone(),
            speaks: Vec::new(),
            skill: false,
            kit: player.kit.clone(),
            posting: posting.clone(),
        };
        let place = cast.agents.iter().position(|one| one.name == player.name).unwrap_or_default();
        let added = Added { command: player.command.clone(), posting, ..Added::default() };
        self.plan_own(loaded, &agent, (&cast.team, place), &added, caller)
    }

    /// Writes what scripted agents play where they will find it, also after a crash.
    pub(in crate::hub) fn write_scripts(&self, order: &mut PlayOrder) -> Result<(), Fault> {
        if order.scripts.is_empty() {
            return Ok(());
        }
        let cannot = |error: &dyn std::fmt::Display| {
            Fault::new(format!("The scripts of the run cannot be written: {error}"))
        };
        let directory = self.paths.scripts().join(&order.call);
        for place in [self.paths.scripts(), directory.clone()] {
            secure_dir(&place).map_err(|error| cannot(&error))?;
        }
        for player in &mut order.cast.agents {
            let Some(script) = order.scripts.get(&player.name) else { continue };
            let path = directory.join(format!("{}.sim", player.name));
            fs::write(&path, script).map_err(|error| cannot(&error))?;
            let words = [self.program.as_path(), "sim".as_ref(), &path];
            player.command = words.map(|word| word.to_string_lossy().into_owned()).to_vec();
        }
        Ok(())
    }
}
