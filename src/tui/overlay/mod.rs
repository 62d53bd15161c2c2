//! What lies over the panes: each overlay is one file with its state, its keys and its looks.

mod attention;
mod confirm;
mod crew;
mod dialog;
mod diff;
mod diff_comments;
mod diff_lines;
mod diff_looks;
mod help;
mod launcher;
mod list;
mod newcomer;
mod newcomer_settings;
mod playbooks;
mod prompt;
mod prompt_looks;
mod question;
mod stack;
mod task_form;
mod task_view;
mod tasks;
mod wrapped;

pub(super) use attention::Attention;
pub(super) use confirm::{Confirm, Deed};
pub(super) use diff::DiffView;
pub(super) use help::Help;
pub(super) use launcher::Launcher;
pub(super) use newcomer::Newcomer;
pub(super) use playbooks::Playbooks;
pub(super) use prompt::Prompt;
pub(super) use question::Question;
pub(super) use stack::{Handled, Overlay, paste, point, press};
pub(super) use task_form::TaskForm;
pub(super) use task_view::TaskView;
pub(super) use tasks::Tasks;
