//! Every request: its fields, who may make it, what it changes and what answers it, declared once.
//!
//! `docs/security.md` shows who may ask what, `docs/api.md` the fields and answers; tests hold them to
//! these rows. Whom an agent reaches is the engine's to say.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Response;
use super::declare::{Change, Omit, Repeat, Right, requests};
use super::input::{DialogChoice, KeyInput};
use super::new_agent::NewAgent;
use crate::model::Reach::{All, Led, Never, Own, Started, Team};
use crate::model::{
    Against, AgentName, AgentState, Environment, MergeForm, Named, PlayOrder, ReceiptId, Size,
    TaskSpec, TaskState, Token,
};
use crate::protocol::ReportKind;

/// A request with the number under which its response comes back.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ask {
    pub id: u64,
    /// A word of the client's own, of up to 128 letters, digits and `-_.:`. What changes something is
    /// done once under one key: made again, with the answer lost or not, it is answered as it was, also
    /// by a hub that came after a crash. Another request under the same key is refused. Each speaker
    /// has keys of its own; the last 256 are known. It is ignored where nothing is changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(flatten)]
    pub request: Request,
}

// A row is: kind, name on the wire, what completes "… may not", how far the say of a person, a worker,
// a lead, an orchestrator and a verifier goes, what it changes, what making it once more does, its answer.
requests! {
/// One request. The first of every connection is `Hello`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Request {
    Hello {
        protocol: u32,
        version: String,
        /// Who has one speaks for the agent that it was given to, and for nobody else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        token: Option<Token>,
    } = Hello "hello" "greet" [All Own Own Own Own] Watches Harmless -> Welcome;
    /// Who speaks, as the hub sees it, and what it may ask.
    Me
    = Me "me" "ask who it is" [All Own Own Own Own] Reads Harmless -> Me;
    Status
    = Status "status" "see the status" [All Own Led Team Team] Reads Harmless -> Status;
    /// What an agent has to say in the protocol. The call is a random word: the same one again is
    /// the same report, made again because the answer was lost.
    Report {
        call: String,
        kind: ReportKind,
        text: String,
        /// The file that says what the artifact must be like.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<String>,
        /// The tag of the attempt that it is about; one of another attempt counts for nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<String>,
    } = Report "report" "report without a token" [Never Own Own Own Own] Records Harmless -> Report;
    /// What a hook of an agent's cli said, as it said it.
    Hook {
        call: String,
        said: serde_json::Value,
    } = Hook "hook" "speak for a hook without a token" [Never Own Own Own Own] Acts Harmless -> Ok;
    /// Starts those agents of a team that do not run. Without a team: the only one there is.
    Up {
        team: Option<String>,
        environment: Environment,
    } = Up "up" "start a team" [All Never Never Never Never] Records Harmless -> Done, without environment;
    Start {
        agents: Vec<String>,
        environment: Environment,
    } = Start "start" "start agents" [All Never Led Team Never] Records Harmless -> Done,
        names agents(agents), without environment;
    Stop {
        agents: Vec<String>,
        grace_ms: Option<u64>,
    } = Stop "stop" "stop agents" [All Never Led Team Never] Acts Harmless -> Done, names agents(agents);
    Restart {
        agents: Vec<String>,
        environment: Environment,
        grace_ms: Option<u64>,
    } = Restart "restart" "restart agents" [All Never Led Team Never] Records Twice -> Done,
        names agents(agents), without environment;
    /// Restarts agents, running or not, with the conversation that each had last.
    Resume {
        agents: Vec<String>,
        environment: Environment,
        grace_ms: Option<u64>,
        /// Who cannot take one up begins a new one, and is told what the record knows.
        #[serde(default)]
        brief: bool,
    } = Resume "resume" "resume agents" [All Never Led Team Never] Records Twice -> Done,
        names agents(agents), without environment;
    /// Adds an agent to a team that runs, and starts it.
    Add {
        agent: NewAgent,
        environment: Environment,
    } = Add "add" "add agents" [All Never Started Started Never] Records Twice -> Done,
        without agent, without environment;
    Forget {
        agents: Vec<String>,
        /// Also those that are out of reach, and may still run where they are.
        #[serde(default)]
        abandon: bool,
    } = Forget "forget" "remove agents" [All Never Started Started Never] Records Harmless -> Done,
        names agents(agents);
    Down {
        force: bool,
    } = Down "down" "stop everything" [All Never Never Never Never] Acts Harmless -> Done;
    /// Reads a pane as plain text: the last `lines`, and what has scrolled away if asked for.
    Read {
        agent: String,
        lines: Option<usize>,
        scrollback: bool,
    } = Read "read" "read a pane" [All Own Led Team Team] Reads Harmless -> Text, names agents(agent);
    /// Rows that have scrolled off a pane: `count` of them before the line number `before`, or the
    /// newest ones.
    History {
        agent: String,
        before: Option<u64>,
        count: u16,
    } = History "history" "read what has scrolled away" [All Own Led Team Team] Reads Harmless -> History,
        names agents(agent);
    /// What a pane shows now, with its colours, and the targets of its hyperlinks.
    Screen {
        agent: String,
    } = Screen "screen" "read a pane" [All Own Led Team Team] Reads Harmless -> Screen,
        names agents(agent);
    /// Why an agent is shown in its state.
    Explain {
        agent: String,
    } = Explain "explain" "ask why an agent is shown as it is" [All Own Led Team Team] Reads Harmless -> Explanation,
        names agents(agent);
    /// Is answered when the agent is in one of these states.
    AwaitAgent {
        agent: String,
        states: Vec<AgentState>,
    } = AwaitAgent "await_agent" "wait for agents" [All Own Led Team Team] Watches Harmless -> Done,
        names agents(agent);
    /// Hands a prompt to agents, each at its next safe moment; to all that run, if none is named.
    Dispatch {
        agents: Vec<String>,
        prompt: String,
        #[serde(default)]
        idempotency_key: Option<String>,
        /// Types it even where no rule says that the agent waits for a prompt, or a limit holds it up.
        #[serde(default)]
        anyway: bool,
        /// It is a command of the program, such as `/compact`, and not words for the model.
        #[serde(default)]
        command: bool,
        /// Refuses it unless it can be typed now.
        #[serde(default)]
        no_queue: bool,
    } = Dispatch "dispatch" "hand prompts to agents" [All Never Led Team Never] Records Twice -> Done,
        names audience(agents), without idempotency_key;
    /// Hands out what a template says, with a tag for each agent.
    DispatchTemplate {
        agents: Vec<String>,
        template: String,
        vars: BTreeMap<String, String>,
        #[serde(default)]
        idempotency_key: Option<String>,
        #[serde(default)]
        anyway: bool,
        /// Refuses it unless it can be typed now.
        #[serde(default)]
        no_queue: bool,
    } = DispatchTemplate "dispatch_template" "hand prompts to agents" [All Never Led Team Never] Records Twice -> Done,
        names audience(agents), without idempotency_key;
    /// Takes back a prompt that has not been typed yet.
    Withdraw {
        receipt: ReceiptId,
    } = Withdraw "withdraw" "take prompts back" [All Never Led Team Never] Records Harmless -> Done,
        names receipts(receipt);
    /// Is answered when these prompts go no further.
    AwaitReceipts {
        receipts: Vec<ReceiptId>,
    } = AwaitReceipts "await_receipts" "wait for prompts" [All Never Led Team Never] Watches Harmless -> Done,
        names receipts(receipts);
    /// Ends what an agent is doing, the way its cli wants it.
    Interrupt {
        agent: String,
    } = Interrupt "interrupt" "interrupt agents" [All Never Led Team Never] Acts Twice -> Deed,
        names agents(agent);
    /// Answers the dialog with this fingerprint, and no other.
    Answer {
        agent: String,
        dialog: String,
        choice: DialogChoice,
    } = Answer "answer" "answer dialogs" [All Never Never Never Never] Acts Twice -> Deed,
        names agents(agent);
    /// Presses keys and types text, one after the other.
    Keys {
        agent: String,
        keys: Vec<KeyInput>,
    } = Keys "keys" "press keys" [All Never Never Never Never] Acts Twice -> Ok, names agents(agent);
    Resize {
        agent: String,
        size: Size,
    } = Resize "resize" "resize a pane" [All Never Never Never Never] Acts Harmless -> Ok,
        names agents(agent);
    /// The process tree of an agent, with what it uses.
    Tree {
        agent: String,
    } = Tree "tree" "list processes" [All Never Never Never Never] Reads Harmless -> Tree,
        names agents(agent);
    /// Writes all that was recorded of an agent to its files.
    FlushCast {
        agent: String,
    } = FlushCast "flush_cast" "ask for recordings" [All Never Never Never Never] Reads Harmless -> Ok,
        names agents(agent);
    /// Says which panes this client shows from now on; their rows come as notices. The focused one
    /// comes first and is never held up by the rest.
    Watch {
        agents: Vec<AgentName>,
        focused: Option<AgentName>,
        /// The person has the focused one before their eyes: nobody need tell them of it.
        #[serde(default)]
        is_attended: bool,
    } = Watch "watch" "watch panes" [All Never Never Never Never] Watches Harmless -> Ok,
        names agents(agents);
    /// Asks to be told of every change of the status from now on.
    Subscribe
    = Subscribe "subscribe" "subscribe to news" [All Never Never Never Never] Watches Harmless -> Ok;
    /// Reads the settings anew and takes them over.
    Reload
    = Reload "reload" "reload the settings" [All Never Never Never Never] Acts Harmless -> Reloaded;
    /// The teams that could be started, and what each of them would run for this caller.
    Teams {
        environment: Environment,
    } = Teams "teams" "list the teams" [All Never Never Never Never] Watches Harmless -> Teams;
    /// The clis that an agent could be added with, and what each of them would run for this caller.
    Clis {
        environment: Environment,
    } = Clis "clis" "list the clis" [All Never Never Never Never] Watches Harmless -> Clis;
    /// How the files of an agent's workspace differ from a commit: which do, or the hunks of some.
    Diff {
        agent: String,
        #[serde(default)]
        against: Against,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        paths: Vec<String>,
    } = Diff "diff" "see what agents changed" [All Own Led Team Team] Reads Harmless -> Diff | Hunks,
        names agents(agent);
    /// Interfaces that agents have published: all at a glance, or the whole of those with a title.
    Contracts {
        #[serde(default)]
        publisher: Option<String>,
        #[serde(default)]
        title: Option<String>,
        /// The newest one, if none is named.
        #[serde(default)]
        version: Option<u32>,
    } = Contracts "contracts" "read contracts" [All Team Team Team Team] Reads Harmless -> Contracts;
    /// What happened after the entry with this number, oldest first.
    Events {
        #[serde(default)]
        after: u64,
        limit: usize,
        #[serde(default)]
        agent: Option<String>,
        #[serde(default)]
        task: Option<String>,
        /// Only kinds that begin like this.
        #[serde(default)]
        kind: Option<String>,
    } = Events "events" "read what happened" [All Own Led Team Team] Reads Harmless -> Events,
        names agents(agent), names tasks(task);
}
within {
    /// About tasks, and what waits for a person.
    Task { ask: TaskRequest } = "task" {
        Add {
            specs: Vec<TaskSpec>,
        } = AddTasks "add" "add tasks" [All Own Led Team Never] Records Twice -> Done, names specs(specs);
        /// Those in memory: all that have not ended, and the newest that have.
        List
        = ListTasks "list" "list tasks" [All Own Led Team Team] Reads Harmless -> Tasks;
        /// Those that have ended and left memory, newest first: the ones before this one.
        Ended {
            #[serde(default)]
            before: Option<String>,
        } = EndedTasks "ended" "list tasks" [All Own Led Team Team] Reads Harmless -> EndedTasks;
        Show {
            task: String,
        } = ShowTask "show" "look at tasks" [All Own Led Team Team] Reads Harmless -> Task, names tasks(task);
        /// Is answered once the task is in one of these states, or can no longer come there.
        Wait {
            task: String,
            states: Vec<TaskState>,
        } = WaitTask "wait" "wait for tasks" [All Own Led Team Team] Watches Harmless -> Done,
            names tasks(task);
        Claim {
            task: String,
            agent: String,
        } = ClaimTask "claim" "take tasks" [All Own Led Team Never] Records Twice -> Done,
            names offers(task), names agents(agent);
        Retry {
            task: String,
            advice: Option<String>,
            agent: Option<String>,
        } = RetryTask "retry" "have tasks tried again" [All Never Led Team Never] Records Twice -> Done,
            names tasks(task), names agents(agent);
        Cancel {
            task: String,
        } = CancelTask "cancel" "cancel tasks" [All Never Led Team Never] Records Harmless -> Done,
            names tasks(task);
        /// What waits for a person.
        Attention
        = Attention "attention" "see what waits for a person" [All Never Led Team Never] Reads Harmless -> Attention;
        MarkRead {
            items: Vec<String>,
        } = MarkRead "mark_read" "mark what a person has not read" [All Never Never Never Never] Records Harmless -> Done;
        Resolve {
            items: Vec<String>,
        } = Resolve "resolve" "deal with what waits for a person" [All Never Never Never Never] Records Harmless -> Done;
        Consent {
            from: String,
            to: String,
        } = Consent "consent" "let agents speak to each other" [All Never Never Never Never] Records Harmless -> Done,
            names agents(from), names agents(to);
        /// Lets files stay as an agent made them, though another owns them.
        Allow {
            agent: String,
        } = Allow "allow" "let files stay that others own" [All Never Never Never Never] Records Harmless -> Done,
            names agents(agent);
        Meet {
            need: String,
        } = Meet "meet" "say that a need is met" [All Never Led Team Never] Records Harmless -> Done,
            names needs(need);
    }
    /// About runs of playbooks.
    Run { ask: RunRequest } = "run" {
        /// Starts the agents and hands out the tasks. The same order again is the same run.
        Begin {
            order: Box<PlayOrder>,
            environment: Environment,
        } = BeginRun "begin" "run playbooks" [All Never Never Never Never] Records Harmless -> Done,
            without environment;
        /// Starts those of a run's agents that are gone.
        Resume {
            run: String,
            environment: Environment,
        } = ResumeRun "resume" "resume runs" [All Never Never Never Never] Records Harmless -> Done,
            names runs(run), without environment;
        Cancel {
            run: String,
        } = CancelRun "cancel" "cancel runs" [All Never Never Never Never] Records Harmless -> Done,
            names runs(run);
        List
        = ListRuns "list" "list the runs" [All Own Led Team Team] Reads Harmless -> Runs;
    }
    /// About locks. An agent asks for itself, a person for themselves.
    Lock { ask: LockRequest } = "lock" {
        Take {
            name: String,
            limit_ms: Option<u64>,
        } = TakeLock "take" "take locks" [All Own Own Own Never] Records Harmless -> Done;
        Release {
            name: String,
        } = ReleaseLock "release" "release locks" [All Own Own Own Never] Acts Harmless -> Done;
        /// Is answered once the one who asks holds it.
        Await {
            name: String,
        } = AwaitLock "await" "wait for locks" [All Own Own Own Never] Watches Harmless -> Done;
        List
        = ListLocks "list" "list locks" [All Own Own Own Own] Reads Harmless -> Locks;
    }
    /// About workspaces.
    Workspace { ask: WorkspaceRequest } = "workspace" {
        List
        = ListWorkspaces "list" "list workspaces" [All Never Never Never Never] Reads Harmless -> Workspaces;
        /// Removes workspaces; without names, all whose agents do not run.
        Clean {
            agents: Vec<String>,
            /// Puts what is in them into rescue refs first.
            #[serde(default)]
            rescue: bool,
            /// Files that git ignores are not worth keeping.
            #[serde(default)]
            drop_ignored: bool,
            /// Those that are named and whose directories are missing are given up: what git still has of
            /// them is put into rescue refs first.
            #[serde(default)]
            gone: bool,
        } = CleanWorkspaces "clean" "remove workspaces" [All Never Never Never Never] Records Harmless -> Done,
            names agents(agents);
        /// Puts what is in them into rescue refs, and leaves them as they are.
        Rescue {
            agents: Vec<String>,
        } = Rescue "rescue" "rescue workspaces" [All Never Never Never Never] Acts Harmless -> Done,
            names agents(agents);
        /// The rescue refs of the repository.
        Rescues
        = ListRescues "rescues" "list what was rescued" [All Never Never Never Never] Reads Harmless -> Rescues;
        /// Makes a workspace again as it was when it was rescued: a rescue ref, the last parts of its
        /// name, or an agent, whose newest is meant.
        Restore {
            name: String,
        } = Restore "restore" "bring a rescue back" [All Never Never Never Never] Records Harmless -> Done;
        /// Brings work back; what is not said is as the settings say.
        Merge {
            agent: String,
            #[serde(default)]
            form: Option<MergeForm>,
            #[serde(default)]
            into: Option<String>,
            /// These beside those of the settings.
            #[serde(default)]
            gates: Vec<String>,
            #[serde(default)]
            message: Option<String>,
            /// Leaves behind what is not committed.
            #[serde(default)]
            committed: bool,
            /// Only says what would come of it.
            #[serde(default)]
            trial: bool,
            /// Tells the agent if it cannot be done.
            #[serde(default)]
            send_back: bool,
        } = Merge "merge" "bring work back" [All Never Never Never Never] Records Harmless -> Done,
            names agents(agent);
    }
}
}
