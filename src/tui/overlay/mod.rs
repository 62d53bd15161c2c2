//! What lies over the panes: each overlay is one file (the diff a folder) with its state, its keys and
//! its drawing. They share a box (`dialog_box`), a list, a form, and the stack that they lie on.

mod agent_dialog;
mod agent_form;
mod attention;
mod confirm;
mod dialog_box;
mod diff;
mod form;
mod help;
mod launcher;
mod links;
mod list;
mod playbooks;
mod prompt;
mod recipients;
mod search;
mod stack;
mod task_form;
mod task_view;
mod tasks;

pub(super) use agent_dialog::AgentDialog;
pub(super) use agent_form::AgentForm;
pub(super) use attention::AttentionList;
pub(super) use confirm::{AgentAction, Confirm};
pub(super) use diff::DiffView;
pub(super) use help::Help;
pub(super) use launcher::Launcher;
pub(super) use links::LinkList;
pub(super) use playbooks::PlaybookList;
pub(super) use prompt::PromptBox;
pub(super) use search::SearchBox;
pub(super) use stack::{
    Handled, Overlay, OverlayStack, each_of, edited, follow, paste, point, press, tick,
};
pub(super) use task_form::TaskForm;
pub(super) use task_view::TaskView;
pub(super) use tasks::TaskList;
