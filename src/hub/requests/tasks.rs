//! What clients ask about tasks, and about what waits for a person.

use std::borrow::Cow;
use std::str::FromStr;

use crate::api::{
    AttentionStatus, Fault, LockRequest, LockStatus, RequestKind, Response, TaskRequest, TaskStatus,
};
use crate::hub::Hub;
use crate::hub::clients::askers::{Asker, Reply};
use crate::hub::clients::permissions::shows_task;
use crate::hub::tasks::gate_check;
use crate::model::{
    AgentName, Attention, AttentionId, AttentionKind, Command, Condition, LockCommand, Named,
    NeedId, Reach, Refusal, Task, TaskCommand, TaskId, TaskSpec, TaskState,
};

impl Hub {
    /// Returns the answer, unless it comes later.
    pub(in crate::hub) fn obey_about_tasks(
        &mut self,
        asker: Asker,
        request: TaskRequest,
    ) -> Option<Reply> {
        let command = match request {
            TaskRequest::List => {
                let mut tasks = self.task_list();
                let say = self.clients.say_of(&self.engine, asker.client, RequestKind::ListTasks);
                if let Some((agent, reach)) = say {
                    tasks.retain(|task| shows_task(&self.engine, &agent, reach, &task.id));
                }
                return Some(Ok(Response::Tasks { tasks }));
            }
            TaskRequest::Ended { before } => {
                match before.as_deref().map(task_id).transpose() {
                    Ok(before) => self.list_ended(asker, before),
                    Err(fault) => return Some(Err(fault)),
                }
                return None;
            }
            TaskRequest::Show { task } => return Some(self.show_task(&task)),
            TaskRequest::Attention => {
                let mut items = self.attention_list();
                let say = self.clients.say_of(&self.engine, asker.client, RequestKind::Attention);
                if let Some((agent, reach)) = say {
                    items.retain(|item| {
                        let named = item.agent.clone().map(Named::Agent);
                        let named = named.or_else(|| item.task.clone().map(Named::Task));
                        named.is_some_and(|named| self.engine.reaches(&agent, reach, &named))
                    });
                }
                return Some(Ok(Response::Attention { items }));
            }
            TaskRequest::Wait { task, states } => task_id(&task).map(|task| {
                let condition = Condition::Task { task, states };
                Command::Wait { condition }
            }),
            TaskRequest::Add { .. }
            | TaskRequest::Retry { .. }
            | TaskRequest::Cancel { .. }
            | TaskRequest::Claim { .. }
            | TaskRequest::MarkRead { .. }
            | TaskRequest::Resolve { .. }
            | TaskRequest::Consent { .. }
            | TaskRequest::Allow { .. }
            | TaskRequest::Meet { .. } => {
                let adder = self.clients.say_of(&self.engine, asker.client, RequestKind::AddTasks);
                let request = match adder {
                    Some((agent, reach)) => self.added_by(&agent, reach, request),
                    None => Ok(by_person(request)),
                };
                request.and_then(|request| self.task_command(request)).map(Command::Task)
            }
        };
        self.command(asker, command)
    }

    /// Lets an agent add to the board of its own run; outside of one, what those may take whom it
    /// gives work to.
    fn added_by(
        &self,
        agent: &AgentName,
        reach: Reach,
        mut request: TaskRequest,
    ) -> Result<TaskRequest, Fault> {
        let TaskRequest::Add { specs } = &mut request else { return Ok(request) };
        let play = self.engine.play_of(agent).map(|play| play.id);
        if play.is_none() && reach <= Reach::Own {
            return Err(Fault::new(format!("Agent `{agent}` is in no playbook run"))
                .with_hint("Workers may add tasks only to the board of their playbook run"));
        }
        for spec in specs {
            spec.play = play;
            spec.terms.by = Some(agent.clone());
        }
        Ok(request)
    }

    fn task_command(&self, request: TaskRequest) -> Result<TaskCommand, Fault> {
        Ok(match request {
            TaskRequest::Add { specs } => {
                specs.iter().try_for_each(refuse_gates)?;
                TaskCommand::Add { specs: specs.into_iter().map(plain).collect() }
            }
            TaskRequest::Retry { task, advice, agent } => {
                let agent = agent.map(|agent| self.known(&agent)).transpose()?;
                TaskCommand::Retry { task: task_id(&task)?, advice, agent }
            }
            TaskRequest::Cancel { task } => TaskCommand::Cancel { task: task_id(&task)? },
            TaskRequest::Claim { task, agent } => {
                TaskCommand::Claim { task: task_id(&task)?, agent: self.known(&agent)? }
            }
            TaskRequest::MarkRead { items } => TaskCommand::MarkRead { items: all(&items)? },
            TaskRequest::Resolve { items } => TaskCommand::Resolve { items: all(&items)? },
            TaskRequest::Consent { from, to } => {
                TaskCommand::Consent { from: self.known(&from)?, to: self.known(&to)? }
            }
            TaskRequest::Allow { agent } => TaskCommand::Allow { agent: self.known(&agent)? },
            TaskRequest::Meet { need } => TaskCommand::Meet { need: item::<NeedId>(&need)? },
            TaskRequest::List
            | TaskRequest::Ended { .. }
            | TaskRequest::Show { .. }
            | TaskRequest::Wait { .. }
            | TaskRequest::Attention => return Err(Fault::new("That is no command")),
        })
    }

    pub(in crate::hub) fn task_list(&self) -> Vec<TaskStatus> {
        self.engine.tasks().map(|task| TaskStatus::from(&*self.shown_task(task))).collect()
    }

    pub(in crate::hub) fn attention_list(&self) -> Vec<AttentionStatus> {
        let is_early = |item: &&Attention| {
            item.kind == AttentionKind::Finished
                && item.task.is_some_and(|task| !self.record.may_show(&task.to_string()))
        };
        let items = self.engine.attention().into_iter().filter(|item| !is_early(item));
        items.map(|item| self.attention_status(item)).collect()
    }

    /// Returns an item as it is shown; a dialog speaks for itself.
    fn attention_status(&self, item: &Attention) -> AttentionStatus {
        let status = AttentionStatus::from(item);
        let agent = item.agent.as_ref().filter(|_| item.kind == AttentionKind::Dialog);
        let Some(dialog) = agent.and_then(|agent| self.dialog_of(agent)) else { return status };
        AttentionStatus { text: dialog.summary(), dialog: Some(dialog), ..status }
    }

    /// Returns a task as it may be shown: it is not done before the record says so.
    fn shown_task<'a>(&self, task: &'a Task) -> Cow<'a, Task> {
        if task.state != TaskState::Done || self.record.may_show(&task.id.to_string()) {
            return Cow::Borrowed(task);
        }
        let note = Some("its end is not recorded yet".to_owned());
        Cow::Owned(Task { state: TaskState::Claimed, note, ..task.clone() })
    }

    fn show_task(&self, name: &str) -> Reply {
        let task = self.engine.task(task_id(name)?).ok_or_else(|| unknown_task(name))?;
        Ok(Response::Task(Box::new(self.shown_task(task).into_owned())))
    }

    /// Returns the task that an agent has in hand.
    pub(in crate::hub) fn task_in_hand(&self, agent: &AgentName) -> Option<String> {
        self.engine.task_of(agent).map(|task| task.id.to_string())
    }
}

/// Takes out what only the hub says of a task.
fn by_person(mut request: TaskRequest) -> TaskRequest {
    if let TaskRequest::Add { specs } = &mut request {
        for spec in specs {
            spec.terms.by = None;
        }
    }
    request
}

/// Takes out of a task's words what a terminal would obey.
fn plain(mut spec: TaskSpec) -> TaskSpec {
    spec.prompt.retain(|c| !c.is_control() || c == '\n' || c == '\t');
    spec
}

/// Refuses a task with a gate that can never be checked.
fn refuse_gates(spec: &TaskSpec) -> Result<(), Fault> {
    let told = |reason: String| Fault::from(Refusal::BadTask { reason: shown_line(&reason) });
    spec.terms.gates.iter().try_for_each(|gate| gate_check::refuse(gate).map_err(told))
}

fn task_id(name: &str) -> Result<TaskId, Fault> {
    name.parse().map_err(|_| unknown_task(name))
}

fn unknown_task(name: &str) -> Fault {
    Refusal::UnknownTask { task: shown(name) }.into()
}

fn item<T: FromStr>(name: &str) -> Result<T, Fault> {
    name.parse().map_err(|_| Refusal::UnknownItem { item: shown(name) }.into())
}

fn all(names: &[String]) -> Result<Vec<AttentionId>, Fault> {
    names.iter().map(|name| item(name)).collect()
}

fn shown_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect()
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(64).collect()
}

impl Hub {
    /// Returns the answer, unless it comes later. Whoever speaks for an agent asks for that one.
    pub(in crate::hub) fn obey_about_locks(
        &mut self,
        asker: Asker,
        request: LockRequest,
    ) -> Option<Reply> {
        let agent = self.clients.agent_of(asker.client).cloned();
        let command = match request {
            LockRequest::List => {
                let locks = self.engine.locks().map(LockStatus::from).collect();
                return Some(Ok(Response::Locks { locks }));
            }
            LockRequest::Take { name, limit_ms } => {
                Command::Lock(LockCommand::Take { name, agent, limit_ms })
            }
            LockRequest::Release { name } => Command::Lock(LockCommand::Release { name, agent }),
            LockRequest::Await { name } => {
                Command::Wait { condition: Condition::Lock { name, agent } }
            }
        };
        self.command(asker, Ok(command))
    }
}
