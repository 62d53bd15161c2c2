//! Interfaces that agents publish for others, in versions.

use crate::engine::Engine;
use crate::engine::forget::all_but_newest;
use crate::engine::journal::Place;
use crate::engine::prompts::prompt_texts;
use crate::engine::tasks::requests::line;
use crate::model::{AgentName, Contract, Entry, Letter, Moment, PlayId, Task, TaskId};

/// Versions of one contract that are kept.
const VERSIONS_MAX: usize = 16;

/// Contracts of one agent that are kept: the one that was changed longest ago goes first.
const CONTRACTS_MAX: usize = 64;

impl Engine {
    /// Returns the newest version of every contract.
    pub fn contracts(&self) -> impl Iterator<Item = &Contract> {
        self.contracts.values().filter_map(|versions| versions.last())
    }

    /// Returns every version that is kept of the contracts with this title.
    pub fn contract_versions(&self, title: &str) -> impl Iterator<Item = &Contract> {
        self.contracts.values().flatten().filter(move |contract| contract.title == title)
    }

    /// Returns the files that a contract names, if it was published for the task, or exists in this
    /// version or a later one; otherwise why it does not hold.
    pub fn promised(
        &self,
        task: TaskId,
        title: &str,
        version: Option<u32>,
    ) -> Result<Vec<String>, String> {
        let task = self.tasks.get(&task);
        let began = task.and_then(|task| task.attempts.first()).map(|first| first.started);
        let is_own = |one: &Contract| {
            task.is_some_and(|task| did(task, &one.publisher)) && Some(one.at) >= began
        };
        self.promise(title, version, is_own, "this task")
    }

    /// The same for a stage of a run: a contract that somebody published who had a task of the run.
    pub fn promised_in(
        &self,
        play: PlayId,
        title: &str,
        version: Option<u32>,
    ) -> Result<Vec<String>, String> {
        let began = self.plays.get(&play).map(|play| play.started);
        let tasks = || self.tasks.values().filter(|task| task.play == Some(play));
        let is_own =
            |one: &Contract| tasks().any(|task| did(task, &one.publisher)) && Some(one.at) >= began;
        self.promise(title, version, is_own, "this run")
    }

    fn promise(
        &self,
        title: &str,
        version: Option<u32>,
        is_own: impl Fn(&Contract) -> bool,
        whom: &str,
    ) -> Result<Vec<String>, String> {
        let named = || self.contracts().filter(|one| one.title == title);
        let fits =
            |one: &&Contract| version.map_or_else(|| is_own(one), |least| one.version >= least);
        match (named().find(fits), version) {
            (Some(contract), _) => Ok(files_of(&contract.body)),
            (None, Some(version)) => {
                let newest = named().map(|one| one.version).max().unwrap_or(0);
                Err(format!("version {version} of `{title}` is wanted, and {newest} is there"))
            }
            (None, None) => Err(format!("no contract `{title}` was published for {whom}")),
        }
    }

    /// Stores a contract, and tells everyone whose task depends on the publisher's.
    pub(in crate::engine) fn publish(&mut self, publisher: &AgentName, text: &str, now: Moment) {
        let (title, body) = text.split_once('\n').unwrap_or((text, ""));
        let key = (publisher.clone(), line(title));
        let versions = self.contracts.entry(key.clone()).or_default();
        if versions.last().is_some_and(|last| last.body == body) {
            return;
        }
        let removed = versions.last().map(|last| missing(&last.body, body)).unwrap_or_default();
        let contract = Contract {
            publisher: publisher.clone(),
            title: key.1.clone(),
            version: versions.last().map_or(1, |last| last.version + 1),
            body: body.to_owned(),
            at: now,
            removed,
        };
        versions.push(contract.clone());
        let excess = versions.len().saturating_sub(VERSIONS_MAX);
        versions.drain(..excess);
        let lost = contract.removed.len();
        let words = format!("{} version {}, {lost} lines gone", contract.title, contract.version);
        self.tell(Entry::new("contract", words).of(publisher));
        self.touch(Place::Contract(key.0, key.1));
        self.forget_contracts(publisher);
        for agent in self.readers(publisher) {
            let text = prompt_texts::contract(&contract);
            self.post(Letter { agent, text, tag: None }, now);
        }
    }

    fn forget_contracts(&mut self, publisher: &AgentName) {
        let own = self.contracts.iter().filter(|((agent, _), _)| agent == publisher);
        let own = own.map(|(key, versions)| (versions.last().map(|last| last.at), key.clone()));
        for (publisher, title) in all_but_newest(own, CONTRACTS_MAX) {
            self.contracts.remove(&(publisher.clone(), title.clone()));
            self.touch(Place::Contract(publisher, title));
        }
    }

    /// Returns who is at work on something that depends on this agent's.
    fn readers(&self, publisher: &AgentName) -> Vec<AgentName> {
        let reads = |task: &&Task| task.needs.iter().any(|id| did(&self.tasks[id], publisher));
        let open = self.open_tasks.iter().map(|id| &self.tasks[id]);
        let open = open.filter(reads).filter_map(Task::open);
        let needy = self.needs.values().filter(|need| need.to.as_ref() == Some(publisher));
        let needy = needy.map(|need| &need.from).filter(|from| self.may_reach(publisher, from));
        let mut readers: Vec<AgentName> =
            open.map(|open| &open.agent).chain(needy).cloned().collect();
        readers.extend(self.sharers(publisher));
        readers.retain(|agent| {
            let is_let = self.chain_lets(publisher, agent) != Some(false);
            agent != publisher && is_let && self.seats[agent].is_live()
        });
        readers.sort();
        readers.dedup();
        readers
    }

    /// Returns the contracts that a task builds on: those of the agents whose tasks it needs.
    pub(in crate::engine) fn contracts_for<'a>(
        &'a self,
        task: &'a Task,
    ) -> impl Iterator<Item = &'a Contract> {
        self.contracts()
            .filter(|one| task.needs.iter().any(|id| did(&self.tasks[id], &one.publisher)))
    }
}

fn did(task: &Task, agent: &AgentName) -> bool {
    task.attempts.iter().any(|attempt| attempt.agent == *agent)
}

/// Returns the files that a contract names, each in a line `file: PATH`.
fn files_of(body: &str) -> Vec<String> {
    let named = body.lines().filter_map(|line| line.trim().strip_prefix("file:"));
    named.map(|path| path.trim().to_owned()).filter(|path| !path.is_empty()).collect()
}

/// Returns the lines that the one text has and the other lacks.
fn missing(old: &str, new: &str) -> Vec<String> {
    let kept: Vec<&str> = new.lines().map(str::trim).collect();
    let gone = |line: &&str| !line.trim().is_empty() && !kept.contains(&line.trim());
    old.lines().filter(gone).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use crate::engine::fixture::{Bench, Work, name};
    use crate::model::{AgentState, TaskId};

    #[test]
    fn a_contract_is_kept_by_publishing_it_for_the_task_or_in_the_version_that_is_wanted() {
        let mut bench = Bench::with_idle(&["api", "web"]);
        let _ = bench.add(vec![Work::new("a").with(|terms| terms.agent = Some(name("api")))]);
        let _ = bench.add(vec![Work::new("b").with(|terms| terms.agent = Some(name("web")))]);
        let promised = |bench: &Bench, task, version| {
            bench.engine.promised(TaskId(task), "users", version).ok()
        };
        bench.begin("api");
        assert_eq!(promised(&bench, 1, None), None);
        bench.report("api", 1, "CONTRACT: users\nfile: src/api.rs\nGET /users");
        let files = Some(vec!["src/api.rs".to_owned()]);
        assert_eq!(promised(&bench, 1, None), files);
        assert_eq!(promised(&bench, 2, None), None, "another's task");
        assert_eq!((promised(&bench, 2, Some(1)), promised(&bench, 2, Some(2))), (files, None));
    }

    #[test]
    fn an_agent_that_has_published_many_contracts_can_publish_another() {
        let mut bench = Bench::with_idle(&["api"]);
        for number in 0..70_u64 {
            bench.now = crate::model::Moment(number);
            bench.say("api", &format!("CONTRACT: c{number}\nGET /{number}"));
        }
        assert_eq!(bench.engine.contracts().count(), super::CONTRACTS_MAX);
        let has = |title: &str| bench.engine.contracts().any(|one| one.title == title);
        assert!(has("c69") && !has("c0"), "the oldest goes");
        assert_eq!(bench.engine.record().work.contracts.len(), super::CONTRACTS_MAX);
    }

    #[test]
    fn a_contract_has_versions_and_reaches_those_who_build_on_it() {
        let mut bench = Bench::with_idle(&["api", "web"]);
        let _ = bench.add(vec![
            Work::new("a").with(|terms| terms.agent = Some(name("api"))),
            Work::new("b").needing(&["a"]).with(|terms| terms.agent = Some(name("web"))),
        ]);
        bench.begin("api");
        bench.report("api", 1, "CONTRACT: users\nGET /users\nGET /users/ID");
        bench.report("api", 1, "STATUS: DONE — 2 endpoints");
        let prompt = bench.prompts("web")[0].clone();
        assert!(prompt.contains("| GET /users/ID"), "the one who starts is told: {prompt}");
        bench.begin("web");
        bench.say("api", "CONTRACT: users\nGET /users\nGET /people/ID");
        let newest = bench.engine.contracts().next().unwrap();
        assert_eq!((newest.version, newest.removed.clone()), (2, vec!["GET /users/ID".to_owned()]));
        bench.did("web", AgentState::Idle);
        let prompt = bench.prompts("web")[1].clone();
        assert!(prompt.contains("Version 2"), "{prompt}");
        assert!(prompt.contains("No longer in it:\n| GET /users/ID"), "{prompt}");
    }
}
