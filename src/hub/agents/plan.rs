//! From the settings to what is started: which agents, with which command and environment.

use super::placement::stead;
use super::planner::Planner;
use crate::api::{AgentOffer, Fault, TeamOffer};
use crate::config::{Agent, Loaded, Settings, Speaks, Team};
use crate::model::{
    AgentName, Environment, Launch, Member, Opening, Plot, Posting, WorkspaceChoice,
};

/// What is started: who, and how.
pub(in crate::hub) type Launches = Vec<(Member, Launch)>;

impl Planner {
    /// Returns everyone in a team; without a name, in the only team of the project.
    pub(in crate::hub) fn plan_team(
        &self,
        loaded: &Loaded,
        team: Option<&str>,
        caller: &Environment,
    ) -> Result<Launches, Fault> {
        let team = match team {
            Some(name) => loaded.team(name).map_err(|error| fault(&error.to_string()))?,
            None => only_team(loaded)?,
        };
        let named = team.agents.iter().map(|agent| self.plan_agent(loaded, team, agent, caller));
        named.chain(self.plan_added_to(loaded, &team.name, caller)).collect()
    }

    /// Returns the agents of these names, each from the team that it belongs to.
    pub(in crate::hub) fn plan_named(
        &self,
        loaded: &Loaded,
        names: &[String],
        caller: &Environment,
    ) -> Result<Launches, Fault> {
        let plan = |name: &String| self.plan_one(loaded, name, caller, None);
        names.iter().map(plan).collect()
    }

    /// Returns how to start the agent of a name, in this workspace, if one is given and nothing else
    /// is said.
    pub(in crate::hub) fn plan_one(
        &self,
        loaded: &Loaded,
        name: &str,
        caller: &Environment,
        workspace: Option<WorkspaceChoice>,
    ) -> Result<(Member, Launch), Fault> {
        let settle = |posting: &mut Posting| {
            let said = posting.workspace.unwrap_or(loaded.settings.workspace.default);
            if said == WorkspaceChoice::Auto {
                posting.workspace = workspace.or(posting.workspace);
            }
        };
        if let Some(mut member) = self.added(name).cloned() {
            member.added.iter_mut().for_each(|added| settle(&mut added.posting));
            return self.plan_added(loaded, &member, caller);
        }
        let (team, agent) = self.find_agent(loaded, name)?;
        let mut agent = agent.clone();
        settle(&mut agent.posting);
        self.plan_agent(loaded, team, &agent, caller)
    }

    /// Finds an agent in the team it last ran with, else in the only team that has one of its name.
    fn find_agent<'a>(
        &self,
        loaded: &'a Loaded,
        name: &str,
    ) -> Result<(&'a Team, &'a Agent), Fault> {
        let name: AgentName = name
            .parse()
            .map_err(|error: crate::model::InvalidName| Fault::new(error.to_string()))?;
        if let Some(seat) = self.known.seat(&name) {
            let team = loaded.team(&seat.member.team);
            let team = team.map_err(|error| fault(&error.to_string()))?;
            if let Some(agent) = team.agents.iter().find(|agent| agent.name == name) {
                return Ok((team, agent));
            }
        }
        let in_team = |team: &'a Team| Some((team, team.agents.iter().find(|a| a.name == name)?));
        let found: Vec<_> = loaded.settings.teams().filter_map(in_team).collect();
        match found.as_slice() {
            [only] => Ok(*only),
            [] => Err(Fault::new(format!("No team has an agent `{name}`"))
                .with_hint("List the teams with `wheelhouse config show`")),
            several => {
                let teams: Vec<_> = several.iter().map(|(team, _)| team.name.as_str()).collect();
                Err(Fault::new(format!(
                    "Several teams have an agent `{name}`: {}",
                    teams.join(", ")
                ))
                .with_hint("Start one with `wheelhouse up TEAM`"))
            }
        }
    }

    pub(in crate::hub) fn plan_agent(
        &self,
        loaded: &Loaded,
        team: &Team,
        agent: &Agent,
        caller: &Environment,
    ) -> Result<(Member, Launch), Fault> {
        let settings = &loaded.settings;
        let resolved = settings.resolve(&agent.cli, caller);
        let (cli_name, cli) = resolved.map_err(|error| fault(&error.to_string()))?;
        let mut equipment = self.equip(agent, cli)?;
        let kit = settings.kit_of(agent);
        self.fit(loaded, (cli_name, cli), (agent, &kit), caller, &mut equipment)?;
        let own = &equipment.environment;
        let plot = self.plot(agent, settings)?;
        let caller = (caller, settings.env.pass.as_slice());
        let stead = stead(&self.paths, (agent, plot.as_ref()), cli, own, caller);
        let (mut argv, cwd) = (stead.argv, stead.cwd);
        let workspace = plot.as_ref().map(Plot::project_root);
        let member = Member {
            name: agent.name.clone(),
            team: team.name.clone(),
            place: team
                .agents
                .iter()
                .position(|other| other.name == agent.name)
                .unwrap_or_default(),
            cli: cli_name.to_owned(),
            role: agent.role,
            argv: argv.clone(),
            cwd: cwd.clone(),
            workspace: workspace.unwrap_or_else(|| self.paths.project.clone()),
            owns: agent.owns.clone(),
            capabilities: agent.capabilities.clone(),
            speaks_freely: team.speaks == Speaks::Team,
            speaks_to: agent.speaks.clone(),
            conversation: None,
            opening: Opening::default(),
            contact: equipment.contact,
            kit,
            runner: agent.posting.runner.clone(),
            added: None,
            plot: plot.map(Box::new),
        };
        argv.extend(equipment.arguments);
        let (environment, confinement) = (stead.environment, stead.confinement);
        Ok((member, Launch { argv, cwd, environment, size: self.default_size, confinement }))
    }
}

/// Returns every team that could be started, the project's own ones too while they are not trusted, so
/// that a person sees what is missing.
pub(in crate::hub) fn offers(loaded: &Loaded, caller: &Environment) -> Vec<TeamOffer> {
    let all = loaded.project.as_ref().map_or(&loaded.settings, |project| &project.settings);
    let offer = |team: &Team| {
        let distrust = loaded.team(&team.name).err().map(|error| error.to_string());
        let obstacle = distrust.or_else(|| missing(all, team, caller));
        TeamOffer {
            name: team.name.clone(),
            layout: team.layout.to_string(),
            origin: all.origin(&format!("team.{}", team.name)).to_string(),
            agents: team.agents.iter().map(|agent| agent_offer(all, agent, caller)).collect(),
            obstacle: obstacle.and_then(|text| text.lines().next().map(str::to_owned)),
        }
    };
    let mut offers: Vec<TeamOffer> = all.teams().map(offer).collect();
    // What can be started at once comes first.
    offers.sort_by_key(|offer| offer.obstacle.is_some());
    offers
}

fn agent_offer(settings: &Settings, agent: &Agent, caller: &Environment) -> AgentOffer {
    let (name, role) = (agent.name.to_string(), agent.role);
    match settings.resolve(&agent.cli, caller) {
        Ok((cli, found)) => {
            AgentOffer { name, cli: cli.to_owned(), role, command: found.argv(caller) }
        }
        Err(_) => AgentOffer { name, cli: agent.cli.clone(), role, command: Vec::new() },
    }
}

/// Returns what a team lacks on this machine.
fn missing(settings: &Settings, team: &Team, caller: &Environment) -> Option<String> {
    team.agents.iter().find_map(|agent| match settings.resolve(&agent.cli, caller) {
        Ok((_, cli)) if cli.is_installed(caller) => None,
        Ok((_, cli)) => Some(format!("`{}` is not on the PATH", cli.argv(caller)[0])),
        Err(error) => Some(error.to_string()),
    })
}

/// Returns the team that is meant when none is named.
fn only_team(loaded: &Loaded) -> Result<&Team, Fault> {
    let own = |team: &&Team| {
        loaded.settings.origin(&format!("team.{}", team.name)) == crate::config::Origin::Project
    };
    let names = |teams: &[&Team]| {
        teams.iter().map(|team| team.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let teams: Vec<_> = loaded.settings.teams().collect();
    let owned: Vec<_> = teams.iter().copied().filter(own).collect();
    if let [only] = owned.as_slice() {
        return Ok(only);
    }
    if let Some(project) = loaded.project.as_ref().filter(|project| !project.is_trusted) {
        let message = format!("{} is not trusted as it is now", project.path.display());
        return Err(Fault::new(message)
            .with_hint("Read what it would run and trust it with `wheelhouse config trust`"));
    }
    let all = names(if owned.is_empty() { &teams } else { &owned });
    Err(Fault::new("Which team?").with_hint(format!("Name one: `wheelhouse up TEAM` with {all}")))
}

/// Returns a text whose last line may be a hint as a fault.
pub(in crate::hub) fn fault(text: &str) -> Fault {
    match text.split_once("\nhint: ") {
        Some((message, hint)) => Fault::new(message).with_hint(hint),
        None => Fault::new(text),
    }
}
