//! What agents want of each other: who can give it, and when they have got it.

use globset::Glob;

use crate::engine::journal::Place;
use crate::engine::prompts::prompt::Origin;
use crate::engine::prompts::prompt_texts;
use crate::engine::tasks::requests::line;
use crate::engine::{Effect, Engine, Seat};
use crate::model::{
    AgentName, Entry, Hold, Letter, Moment, Need, NeedId, NeedState, ReceiptId, Refusal, TaskId,
};

impl Engine {
    /// Returns what agents want of each other, oldest first.
    pub fn needs(&self) -> impl Iterator<Item = &Need> {
        self.needs.values()
    }

    /// Takes up what an agent says that it needs, and tells whoever can give it.
    pub(in crate::engine) fn want(
        &mut self,
        from: &AgentName,
        task: Option<TaskId>,
        text: &str,
        now: Moment,
        effects: &mut Vec<Effect>,
    ) {
        let is_same =
            |need: &&Need| need.from == *from && need.text == text && need.state != NeedState::Met;
        if self.needs.values().any(|need| is_same(&need)) {
            return;
        }
        let (thing, named) = parse(text);
        // Past the leads of a chain nothing goes: what is another team's business goes up.
        let is_let = |to: &AgentName| self.chain_lets(from, to) != Some(false);
        let to = self.provider(from, &thing, named, text).filter(is_let);
        let to = to.or_else(|| self.lead_of(from));
        self.need_count += 1;
        self.touch(Place::Hub);
        let id = NeedId(self.need_count);
        let (from, text) = (from.clone(), text.to_owned());
        let (state, is_stubbed) = (NeedState::Held, false);
        let need = Need { id, from, to, task, thing, text, state, since: now, is_stubbed };
        self.needs.insert(id, need);
        if self.note_volley(id, now, effects) {
            self.needs.remove(&id);
            return;
        }
        self.send_need(id, now);
        self.break_deadlocks(now);
    }

    /// Returns who is named, or who owns the path.
    fn provider(
        &self,
        from: &AgentName,
        thing: &str,
        named: Option<&str>,
        text: &str,
    ) -> Option<AgentName> {
        let team = self.seats.get(from).map(|seat| &seat.member.team);
        let others = || {
            let near = self.seats.values().filter(|seat| Some(&seat.member.team) == team);
            near.filter(|seat| seat.member.name != *from)
        };
        let is_named = |seat: &&Seat| Some(seat.member.name.as_str()) == named;
        let owns =
            |seat: &&Seat| thing.split_whitespace().any(|path| is_owned(&seat.member.owns, path));
        let is_mentioned = |seat: &&Seat| {
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
            text.split(|c: char| !inside(c)).any(|word| word == seat.member.name.as_str())
        };
        let found = others().find(is_named).or_else(|| others().find(owns));
        found.or_else(|| others().find(is_mentioned)).map(|seat| seat.member.name.clone())
    }

    /// Tells whoever can give it, if that is allowed.
    pub(in crate::engine) fn send_need(&mut self, id: NeedId, now: Moment) {
        let Need { from, to, text, .. } = self.needs[&id].clone();
        let state = match &to {
            Some(to) => self.pass_on(&from, to, "A need", &text, now),
            None => NeedState::Held,
        };
        let need = self.needs.get_mut(&id).expect("it was just found");
        (need.state, need.since) = (state, now);
        let whom = to.map_or_else(|| "nobody known".to_owned(), |to| to.to_string());
        let words = format!("{id} to {whom}: {}", line(&text));
        self.tell(Entry::new("need", words).of(&from));
        self.touch(Place::Need(id));
    }

    /// Notes that an agent has given something: a file, or all of its task.
    pub(in crate::engine) fn meet_needs(
        &mut self,
        by: &AgentName,
        artifact: Option<&str>,
        now: Moment,
    ) {
        let fits = |need: &&Need| {
            let is_it = artifact.is_none_or(|path| is_about(&need.thing, path));
            need.state == NeedState::Sent && need.to.as_ref() == Some(by) && is_it
        };
        let met: Vec<NeedId> = self.needs.values().filter(fits).map(|need| need.id).collect();
        for id in met {
            self.meet(id, by, now);
        }
    }

    pub(in crate::engine) fn meet_by_hand(
        &mut self,
        id: NeedId,
        now: Moment,
    ) -> Result<Vec<TaskId>, Refusal> {
        let need = self.needs.get(&id).filter(|need| need.state != NeedState::Met);
        let need = need.ok_or_else(|| Refusal::UnknownItem { item: id.to_string() })?;
        let (by, task) = (need.to.clone().unwrap_or_else(|| need.from.clone()), need.task);
        self.meet(id, &by, now);
        Ok(task.into_iter().collect())
    }

    fn meet(&mut self, id: NeedId, by: &AgentName, now: Moment) {
        self.note_met(id, by.as_str());
        let need = &self.needs[&id];
        let (agent, text) = (need.from.clone(), prompt_texts::need_met(need, by));
        if self.seats.contains_key(&agent) {
            self.post_as(Letter { agent, text, tag: None }, Origin::Met(id), now);
        }
    }

    fn note_met(&mut self, id: NeedId, by: &str) {
        let need = self.needs.get_mut(&id).expect("only known needs are met");
        need.state = NeedState::Met;
        let entry = Entry::new("need.met", format!("{id} by {by}")).of(&need.from);
        self.tell(entry);
        self.touch(Place::Need(id));
    }

    /// Lets a task go on that waited for something, if a prompt that its agent has taken is what it
    /// waited for.
    ///
    /// Words that the hub passes on for others are not. What a person or a lead sends is, where the
    /// need was theirs to answer; a need that another agent was told of stays until that one has met it.
    pub(in crate::engine) fn hear_answer(&mut self, id: TaskId, receipt: ReceiptId, now: Moment) {
        let (task, origin) = (&self.tasks[&id], self.dispatches[&receipt].origin);
        let Some(open) = task.open().filter(|open| open.hold == Some(Hold::Need)) else { return };
        let is_it = |need: &&Need| Some(&need.text) == task.note.as_ref();
        match origin {
            Origin::Hub => return,
            // What was met long ago is no longer on record.
            Origin::Met(need) if self.needs.get(&need).is_some_and(|need| !is_it(&need)) => return,
            Origin::Met(_) => {}
            Origin::Asked => {
                let is_open = |need: &&Need| need.task == Some(id) && need.state != NeedState::Met;
                let mut open_needs = self.needs.values().filter(is_open);
                let need = open_needs.find(is_it).map(|need| (need.id, need.to.clone()));
                let lead = self.lead_of(&open.agent);
                match need {
                    Some((_, to)) if to.is_some() && to != lead => return,
                    Some((need, _)) => self.note_met(need, &format!("what {receipt} says")),
                    None => {}
                }
            }
        }
        self.unhold(id, Hold::Need, now);
    }

    /// Forgets what a task needed whose attempt is over.
    pub(in crate::engine) fn drop_needs(&mut self, task: TaskId) {
        let is_its = |need: &&Need| need.task == Some(task) && need.state != NeedState::Met;
        let moot: Vec<NeedId> = self.needs.values().filter(is_its).map(|need| need.id).collect();
        for id in moot {
            self.needs.remove(&id);
            self.touch(Place::Need(id));
        }
    }
}

/// Splits `thing [from agent] — why`.
fn parse(text: &str) -> (String, Option<&str>) {
    let dashes = [" — ", " – ", " -- ", " - "];
    let end = dashes.iter().filter_map(|dash| text.find(dash)).min().unwrap_or(text.len());
    let subject = &text[..end];
    match subject.rsplit_once(" from ") {
        Some((thing, agent)) if !agent.trim().contains(' ') => {
            (thing.trim().to_owned(), Some(agent.trim().trim_matches(['`', '@'])))
        }
        Some(_) | None => (subject.trim().to_owned(), None),
    }
}

/// Says whether one of the patterns means the path.
fn is_owned(patterns: &[String], path: &str) -> bool {
    let path = path.trim_matches(['`', '"', '\'', ',', '.', ';']).trim_start_matches("./");
    !path.is_empty()
        && patterns.iter().any(|pattern| {
            let glob = Glob::new(pattern.trim_start_matches("./"));
            glob.is_ok_and(|glob| glob.compile_matcher().is_match(path))
        })
}

/// Says whether a file that was handed on is the thing that was needed.
fn is_about(thing: &str, path: &str) -> bool {
    !path.is_empty()
        && thing.split_whitespace().any(|word| {
            let word = word.trim_matches(['`', ',']);
            word == path
                || is_owned(&[word.to_owned()], path)
                || path.ends_with(&format!("/{word}"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fixture::{Bench, Work, name};
    use crate::model::{AgentState, Command, TaskCommand, TaskState};

    fn pair() -> Bench {
        let mut bench = Bench::with_idle(&["api", "web"]);
        bench.seat_mut("api").member.owns = vec!["src/api/**".to_owned()];
        let owned = |agent: &str| Some(name(agent));
        let _ = bench.add(vec![
            Work::new("a").with(|terms| terms.agent = owned("api")),
            Work::new("b").with(|terms| terms.agent = owned("web")),
        ]);
        bench.begin("api");
        bench.begin("web");
        bench
    }

    fn consent(bench: &mut Bench, from: &str, to: &str) {
        let (from, to) = (name(from), name(to));
        let _ = bench.ask(Command::Task(TaskCommand::Consent { from, to }));
    }

    #[test]
    fn a_need_reaches_the_owner_of_the_path_only_with_consent() {
        let mut bench = pair();
        bench.report("web", 2, "NEED: src/api/users.rs — the list of users");
        bench.did("api", AgentState::Idle);
        assert_eq!(bench.prompts("api").len(), 1, "not without consent");
        assert!(bench.waits_for("consent", 0));
        consent(&mut bench, "web", "api");
        assert!(bench.prompts("api")[1].contains("| src/api/users.rs — the list of users"));
        assert!(!bench.waits_for("consent", 0));
    }

    #[test]
    fn a_team_may_let_its_members_speak_freely() {
        let mut bench = pair();
        bench.seat_mut("web").member.speaks_freely = true;
        bench.report("web", 2, "NEED: a token from api — to log in");
        bench.did("api", AgentState::Idle);
        assert_eq!(bench.prompts("api").len(), 2);
    }

    #[test]
    fn whoever_needed_something_hears_when_it_is_there() {
        let mut bench = pair();
        consent(&mut bench, "web", "api");
        bench.report("web", 2, "NEED: src/api/users.rs — why");
        bench.report("api", 1, "ARTIFACT: src/api/other.rs — code");
        assert_eq!(bench.engine.needs().next().unwrap().state, NeedState::Sent);
        bench.report("api", 1, "ARTIFACT: src/api/users.rs — code");
        assert_eq!(bench.engine.needs().next().unwrap().state, NeedState::Met);
        bench.did("web", AgentState::Idle);
        assert!(bench.prompts("web")[1].contains("| src/api/users.rs — why"));
    }

    #[test]
    fn a_need_outlives_every_prompt_that_does_not_meet_it() {
        let mut bench = pair();
        consent(&mut bench, "web", "api");
        consent(&mut bench, "api", "web");
        let blocked = |bench: &Bench| {
            let need = bench.engine.needs().next().map(|need| need.state);
            (bench.states()[1], need)
        };
        bench.report("web", 2, "STATUS: BLOCKED — src/api/users.rs, for the list");
        bench.did("web", AgentState::Blocked);
        assert_eq!(blocked(&bench), (TaskState::Blocked, Some(NeedState::Sent)));
        // Another agent's words, and a person's about something else.
        bench.report("api", 1, "NEED: the form from web — for its fields");
        bench.send("web", "keep the tests short");
        for _ in 0..4 {
            bench.begin("web");
            bench.did("web", AgentState::Blocked);
            assert_eq!(blocked(&bench), (TaskState::Blocked, Some(NeedState::Sent)));
        }
        assert!(bench.prompts("web").iter().any(|text| text == "keep the tests short"));
        bench.crash();
        let _ = bench.tell("web", crate::engine::fixture::seen());
        let _ = bench.tell("api", crate::engine::fixture::seen());
        bench.did("web", AgentState::Blocked);
        assert_eq!(blocked(&bench), (TaskState::Blocked, Some(NeedState::Sent)));
        // It goes on with something else meanwhile, and still hears of it.
        bench.report("web", 2, "PROGRESS: [1/2] — the rest of the page");
        assert_eq!(blocked(&bench), (TaskState::Running, Some(NeedState::Sent)));
        bench.report("api", 1, "ARTIFACT: src/api/users.rs — code");
        assert_eq!(blocked(&bench), (TaskState::Running, Some(NeedState::Met)));
        bench.did("web", AgentState::Idle);
        let last = bench.prompts("web").pop().unwrap();
        assert!(last.contains("what you needed is there"), "{last}");
    }

    #[test]
    fn only_the_prompt_that_tells_of_it_lets_a_blocked_task_go_on() {
        let mut bench = pair();
        consent(&mut bench, "web", "api");
        bench.report("web", 2, "NEED: src/api/a.rs — for later");
        bench.report("web", 2, "STATUS: BLOCKED — src/api/b.rs, for now");
        bench.did("web", AgentState::Blocked);
        bench.report("api", 1, "ARTIFACT: src/api/a.rs — code");
        bench.begin("web");
        bench.did("web", AgentState::Blocked);
        assert_eq!(bench.states()[1], TaskState::Blocked, "it was told of the other file");
        bench.report("api", 1, "ARTIFACT: src/api/b.rs — code");
        assert_eq!(bench.states()[1], TaskState::Blocked, "it does not know of it yet");
        bench.begin("web");
        assert_eq!(bench.states()[1], TaskState::Running);
    }

    #[test]
    fn no_more_than_twenty_texts_a_minute_are_passed_on() {
        let mut bench = pair();
        consent(&mut bench, "web", "api");
        for number in 0..30 {
            bench.report("web", 2, &format!("NEED: src/api/{number}.rs — why"));
        }
        let states: Vec<_> = bench.engine.needs().map(|need| need.state).collect();
        assert_eq!(states.iter().filter(|state| **state == NeedState::Sent).count(), 20);
        assert_eq!(states[29], NeedState::Dropped);
    }

    #[test]
    fn two_who_wait_for_each_other_are_untied_by_a_stand_in() {
        let mut bench = pair();
        consent(&mut bench, "web", "api");
        consent(&mut bench, "api", "web");
        bench.report("web", 2, "NEED: src/api/users.rs — why");
        bench.report("api", 1, "NEED: the form from web — why");
        assert!(bench.engine.needs().all(|need| need.is_stubbed));
        bench.did("api", AgentState::Idle);
        bench.did("web", AgentState::Idle);
        let all = |bench: &mut Bench, agent: &str| {
            for _ in 0..3 {
                bench.begin(agent);
                bench.did(agent, AgentState::Idle);
            }
            bench.prompts(agent).join("\n")
        };
        let (api, web) = (all(&mut bench, "api"), all(&mut bench, "web"));
        assert!(api.contains("temporary stand-in for what it needs"), "{api}");
        assert!(web.contains("has been asked for a temporary stand-in"), "{web}");
    }

    #[test]
    fn a_need_is_read_as_thing_agent_and_reason() {
        assert_eq!(parse("src/a.rs from api — why"), ("src/a.rs".to_owned(), Some("api")));
        assert_eq!(parse("a token"), ("a token".to_owned(), None));
        assert_eq!(parse("data from the old days"), ("data from the old days".to_owned(), None));
    }
}
