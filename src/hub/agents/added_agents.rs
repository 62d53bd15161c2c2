//! Agents that no file names: added to a team while it runs, and known by the record alone.

use std::path::{Path, PathBuf};

use super::plan::{Launches, fault};
use super::planner::Planner;
use crate::api::{CliOffer, Fault, NewAgent, Response, WantedPosting};
use crate::config::{Agent, Layout, Loaded, Settings, Team, suggest, unfit_variable};
use crate::engine::Seat;
use crate::model::{
    Added, AgentName, Confinement, Environment, InvalidName, Kit, Launch, Member, Posting, Sandbox,
};
use crate::workspace::inside;

/// Each agent is a terminal and a process tree; more than this is a mistake.
const AGENTS_MAX: usize = 64;

impl Planner {
    /// Returns how to start an agent that joins a team; that of the agent that asked, if one did.
    pub(in crate::hub) fn plan_new(
        &self,
        loaded: &Loaded,
        mut new: NewAgent,
        by: Option<AgentName>,
        caller: &Environment,
    ) -> Result<Launches, Fault> {
        if let Some(own) = by.as_ref().and_then(|by| self.known.seat(by)) {
            new.team = Some(own.member.team.clone());
            self.refuse_outside(new.cwd.as_deref())?;
        }
        let name: AgentName =
            new.name.parse().map_err(|error: InvalidName| Fault::new(error.to_string()))?;
        let team = self.team_to_join(loaded, new.team)?;
        self.refuse_known(loaded, &team, &name)?;
        if let Some((message, hint)) = new.env.0.keys().find_map(|name| unfit_variable(name)) {
            let refused = Fault::new(message);
            return Err(hint.map_or(refused.clone(), |hint| refused.with_hint(hint)));
        }
        let variables = new.env.0.keys().cloned().collect();
        let posting = match &by {
            Some(by) => self.inherited(loaded, by),
            None => posting(loaded, new.posting)?,
        };
        let added = Added { command: new.command, variables, by, posting: posting.clone() };
        let seats = || self.known.seats().filter(|seat| seat.member.team == team);
        let named = loaded.settings.team(&team).map_or(0, |team| team.agents.len());
        let place = seats().map(|seat| seat.member.place + 1).fold(named, usize::max);
        let agent = agent(name, new.cli, new.role, new.cwd.unwrap_or_default(), new.env);
        let agent = Agent { posting, ..agent };
        Ok(vec![self.plan_own(loaded, &agent, (&team, place), &added, caller)?])
    }

    /// Returns where and within what bounds one works that another starts: its own, so that nobody gets
    /// out of a sandbox or a container by having another agent started.
    fn inherited(&self, loaded: &Loaded, by: &AgentName) -> Posting {
        let Some(member) = self.known.seat(by).map(|seat| &seat.member) else {
            return Posting::default();
        };
        let of_team = || {
            let team = loaded.settings.team(&member.team)?;
            team.agents.iter().find(|agent| agent.name == *by).map(|agent| &agent.posting)
        };
        let own = member.added.as_ref().map(|added| &added.posting).or_else(of_team);
        let own = own.cloned().unwrap_or_default();
        let Posting { runner, confinement, .. } = own;
        let workspace = self.unsaid_in_play_of(by, &loaded.settings);
        Posting { workspace, runner, confinement, ..Posting::default() }
    }

    /// Returns who an agent is, if it was added.
    pub(in crate::hub) fn added(&self, name: &str) -> Option<&Member> {
        let seat = self.known.seat(&name.parse().ok()?)?;
        Some(&seat.member).filter(|member| member.added.is_some())
    }

    /// Returns how to start everyone who was added to a team.
    pub(in crate::hub) fn plan_added_to<'a>(
        &'a self,
        loaded: &'a Loaded,
        team: &'a str,
        caller: &'a Environment,
    ) -> impl Iterator<Item = Result<(Member, Launch), Fault>> + 'a {
        let members = self.known.seats().map(|seat| &seat.member);
        let joined = members.filter(move |member| member.team == team && member.added.is_some());
        joined.map(move |member| self.plan_added(loaded, member, caller))
    }

    /// Returns how to start an agent again that was added.
    pub(in crate::hub) fn plan_added(
        &self,
        loaded: &Loaded,
        member: &Member,
        caller: &Environment,
    ) -> Result<(Member, Launch), Fault> {
        let added = member.added.clone().unwrap_or_default();
        let env = self.values(member, &added, caller)?;
        let (name, cli) = (member.name.clone(), member.cli.clone());
        let agent = agent(name, cli, member.role, own_cwd(member), env);
        let (owns, capabilities) = (member.owns.clone(), member.capabilities.clone());
        let (kit, posting) = (member.kit.clone(), added.posting.clone());
        let agent = Agent { owns, capabilities, kit, posting, ..agent };
        self.plan_own(loaded, &agent, (&member.team, member.place), &added, caller)
    }

    /// Returns the values of its own variables: those that it was added with, or, once the hub that
    /// knew them is gone, those of whoever starts it. It never starts without one in silence.
    fn values(
        &self,
        member: &Member,
        added: &Added,
        caller: &Environment,
    ) -> Result<Environment, Fault> {
        let kept = self.added_env.get(&member.name).unwrap_or(caller);
        let value = |name: &String| {
            let value = kept.0.get(name).or_else(|| caller.0.get(name));
            value.map(|value| (name.clone(), value.clone())).ok_or_else(|| {
                let agent = &member.name;
                Fault::new(format!("The value of `{name}` for agent `{agent}` is lost"))
                    .with_hint(format!(
                        "Values are never saved. Set it again: `{name}=… wheelhouse agent start {agent}`, or remove the agent"
                    ))
            })
        };
        added.variables.iter().map(value).collect::<Result<_, _>>().map(Environment)
    }

    pub(in crate::hub) fn plan_own(
        &self,
        loaded: &Loaded,
        agent: &Agent,
        (team, place): (&str, usize),
        added: &Added,
        caller: &Environment,
    ) -> Result<(Member, Launch), Fault> {
        refuse_untrusted(loaded, &agent.cli)?;
        let speaks = loaded.settings.team(team).map(|team| team.speaks).unwrap_or_default();
        let (name, layout) = (team.to_owned(), Layout::default());
        let team = Team { name, layout, speaks, spawn: None, agents: Vec::new() };
        if !added.command.is_empty() && !loaded.settings.kit_of(agent).is_empty() {
            let message = format!(
                "The command of agent `{}` cannot be told which tools it may use",
                agent.name
            );
            let hint = format!(
                "Take `[role.{}]` out of the settings, or use a cli by its name",
                agent.role
            );
            return Err(Fault::new(message).with_hint(hint));
        }
        let (mut member, mut launch) = self.plan_agent(loaded, &team, agent, caller)?;
        // It is this path that is entered, with no link on the way: one that has come since the
        // directory was looked at has been followed.
        if added.by.is_some() && member.runner.is_none() && !member.cwd.starts_with(member.root()) {
            return Err(outside(&agent.cwd));
        }
        if !added.command.is_empty() {
            member.argv.clone_from(&added.command);
            launch.argv.clone_from(&added.command);
        }
        member.place = place;
        member.added = Some(added.clone());
        Ok((member, launch))
    }

    /// Returns the team that a new agent joins.
    fn team_to_join(&self, loaded: &Loaded, wanted: Option<String>) -> Result<String, Fault> {
        if let Some(team) = wanted {
            let runs = self.known.seats().any(|seat| seat.member.team == team);
            let known = if runs { Ok(()) } else { loaded.team(&team).map(drop) };
            return known.map(|()| team).map_err(|error| fault(&error.to_string()));
        }
        let mut teams: Vec<&str> = Vec::new();
        let mut seats: Vec<&Seat> = self.known.seats().collect();
        // Where none lives, the last team that did is meant.
        seats.sort_by_key(|seat| !seat.is_live());
        let lives = seats.first().is_some_and(|seat| seat.is_live());
        for seat in seats.into_iter().filter(|seat| seat.is_live() == lives) {
            if !teams.contains(&seat.member.team.as_str()) {
                teams.push(&seat.member.team);
            }
        }
        match teams.as_slice() {
            [only] => Ok((*only).to_owned()),
            [] => {
                Err(Fault::new("No team is running")
                    .with_hint("Start one with `wheelhouse up TEAM`"))
            }
            several => {
                Err(Fault::new(format!("Several teams are running: {}", several.join(", ")))
                    .with_hint("Name one with `--team TEAM`"))
            }
        }
    }

    /// Refuses a directory that leads out of the project, by its name or by a link.
    fn refuse_outside(&self, cwd: Option<&Path>) -> Result<(), Fault> {
        let Some(cwd) = cwd else { return Ok(()) };
        let real = |path: &Path| path.canonicalize().ok();
        let (inner, outer) = (real(&self.paths.project.join(cwd)), real(&self.paths.project));
        let is_inside = inner.zip(outer).is_some_and(|(inner, outer)| inner.starts_with(outer));
        if is_inside { Ok(()) } else { Err(outside(cwd)) }
    }

    fn refuse_known(&self, loaded: &Loaded, team: &str, name: &AgentName) -> Result<(), Fault> {
        let is_seated = self.known.seat(name).is_some();
        let of_team = loaded.settings.team(team).map(|team| &team.agents);
        if is_seated || of_team.is_some_and(|agents| agents.iter().any(|own| own.name == *name)) {
            let message = format!("There is already an agent `{name}`");
            return Err(Fault::new(message).with_hint(format!(
                "Choose another name, or start that one with `wheelhouse agent start {name}`"
            )));
        }
        if self.known.seats().count() >= AGENTS_MAX {
            return Err(Fault::new(format!("There are already {AGENTS_MAX} agents"))
                .with_hint("Remove one that has ended with `wheelhouse agent remove NAME`"));
        }
        Ok(())
    }
}

/// Returns every cli that an agent could be added with, the project's own ones too while they are not
/// trusted, so that a person sees what is missing; and where it could run.
pub(in crate::hub) fn cli_offers(loaded: &Loaded, caller: &Environment) -> Response {
    let all = loaded.project.as_ref().map_or(&loaded.settings, |project| &project.settings);
    let offer = |name: &str| offer(loaded, all, name, caller);
    let mut clis: Vec<CliOffer> = all.clis().filter_map(|(name, _)| offer(name)).collect();
    // What can be started at once comes first.
    clis.sort_by_key(|offer| offer.obstacle.is_some());
    let runners = loaded.settings.runners().map(|runner| runner.name.clone()).collect();
    Response::Clis { clis, runners }
}

/// Returns the directory that an agent was added for: on record is where its workspace, which may be
/// gone, or its runner had it.
fn own_cwd(member: &Member) -> PathBuf {
    let there = member.runner.as_ref().map(|runner| runner.directory.as_deref().unwrap_or("~"));
    let roots = std::iter::once(member.workspace.as_path()).chain(there.map(Path::new));
    let mut below = roots.filter_map(|root| member.cwd.strip_prefix(root).ok());
    below.find(|cwd| cwd.is_relative()).unwrap_or(&member.cwd).to_owned()
}

fn outside(cwd: &Path) -> Fault {
    let name = inside::shown(&cwd.to_string_lossy());
    Fault::new(format!("`{name}` is not a directory of the project"))
        .with_hint("Name an existing directory, relative to the project")
}

/// Returns what a cli would run; nothing for a name that only stands for another cli.
fn offer(loaded: &Loaded, all: &Settings, name: &str, caller: &Environment) -> Option<CliOffer> {
    // What is shown is what would run: a file that nobody has trusted changes no known cli.
    let known = loaded.settings.cli(name).map_or(all, |_| &loaded.settings);
    let (own_name, cli) = known.resolve(name, caller).ok().filter(|(own, _)| *own == name)?;
    let command = cli.argv(caller);
    let distrust = refuse_untrusted(loaded, name).err().map(|fault| fault.message);
    let missing = || {
        let program = command.first().filter(|_| !cli.is_installed(caller));
        program.map(|program| format!("`{program}` is not on the PATH"))
    };
    let obstacle = distrust.or_else(missing);
    Some(CliOffer { name: own_name.to_owned(), command, obstacle })
}

/// Refuses a cli that only a file names which nobody has trusted.
fn refuse_untrusted(loaded: &Loaded, cli: &str) -> Result<(), Fault> {
    let knows = |settings: &Settings| settings.cli(cli).is_some();
    let project = loaded.project.as_ref().filter(|project| knows(&project.settings));
    match project.filter(|_| !knows(&loaded.settings)) {
        None => Ok(()),
        Some(project) => {
            let file = project.path.display();
            Err(Fault::new(format!(
                "The cli `{cli}` is in `{file}`, which is not trusted as it is now"
            ))
            .with_hint("Read what it would run and trust it with `wheelhouse config trust`"))
        }
    }
}

fn agent(
    name: AgentName,
    cli: String,
    role: crate::model::Role,
    cwd: PathBuf,
    env: Environment,
) -> Agent {
    Agent {
        name,
        cli,
        role,
        prompt: None,
        cwd,
        env,
        owns: Vec::new(),
        capabilities: Vec::new(),
        speaks: Vec::new(),
        skill: false,
        kit: Kit::default(),
        posting: Posting::default(),
    }
}

/// Returns where a new agent works, and within which bounds, as a person wants it.
fn posting(loaded: &Loaded, wanted: WantedPosting) -> Result<Posting, Fault> {
    let WantedPosting { workspace, runner, sandbox, limits } = wanted;
    let found = |name: &String| {
        let known = || loaded.settings.runners().map(|runner| runner.name.as_str());
        let runner = loaded.settings.runners().find(|runner| runner.name == *name).cloned();
        let unknown = || {
            let message = format!("Unknown runner `{}`", inside::shown(name));
            Fault::new(message).with_hint(suggest(name, known()))
        };
        runner.map(Box::new).ok_or_else(unknown)
    };
    let runner = runner.as_ref().filter(|name| *name != "local").map(found).transpose()?;
    let sandbox = sandbox.then(|| Sandbox { has_network: true, ..Sandbox::default() });
    let confinement = Confinement { limits, sandbox };
    Ok(Posting { workspace, runner, confinement, ..Posting::default() })
}
