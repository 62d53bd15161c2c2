//! Does for the person what lies outside of the dashboard's own data: alerts, copies, editors, links.

use std::io;

use super::app::LocalEffect;
use super::options::{Hub, TuiError};
use super::reading::LinkTarget;
use super::run::Dashboard;
use super::style::Tone;
use super::terminal::{TerminalModes, window_size};
use super::update::AppInput;
use super::user_files::UserFiles;
use crate::notify::{BELL, through_tmux};

impl<H: Hub> Dashboard<H> {
    /// Does what the dashboard wants done outside of its own data.
    pub(super) fn grant_wishes(&mut self) -> Result<(), TuiError> {
        for wish in std::mem::take(&mut self.app.wishes) {
            match wish {
                LocalEffect::Alert { title, body } => {
                    let told = self.alert(&title, &body);
                    self.heed_terminal(&told);
                }
                LocalEffect::Keep(prompt) => self.outside.keep(&prompt),
                LocalEffect::Edit(text) => {
                    let edited = self.lend_terminal(|outside| outside.edit(&text))?;
                    self.give([AppInput::Edited(edited)]);
                }
                LocalEffect::View { agent, text } => {
                    let viewed = self.lend_terminal(|outside| outside.view(&agent, &text))?;
                    self.say_fault(viewed);
                }
                LocalEffect::Copy(text) => {
                    let output = &mut self.output;
                    let report = self.clipboard.copy(&text, |bytes| output.send(bytes));
                    let (is_copied, words) = report.words(&text);
                    let tone = if is_copied { Tone::Accent } else { Tone::Danger };
                    self.give([AppInput::Said(tone, words)]);
                }
                LocalEffect::Open { target: LinkTarget::File { path, line }, directory } => {
                    let opened = self.outside.find(&path, directory.as_deref());
                    let opened = match opened {
                        Ok(path) => self.lend_terminal(|outside| outside.open_path(&path, line))?,
                        Err(fault) => Err(fault),
                    };
                    self.say_fault(opened);
                }
                LocalEffect::Open {
                    target: LinkTarget::Address(address) | LinkTarget::Unsafe(address),
                    ..
                } => {
                    let opened = self.outside.open_address(&address);
                    self.say_fault(opened);
                }
            }
        }
        Ok(())
    }

    /// Gives the terminal to another program until that has ended.
    fn lend_terminal<T>(&mut self, run: impl FnOnce(&UserFiles) -> T) -> Result<T, TuiError> {
        TerminalModes::leave();
        let outcome = run(&self.outside);
        self.modes.resume(&mut self.output)?;
        self.app.needs_whole_frame = true;
        // What the person interrupted was the other program.
        self.signals.forget_interrupt();
        self.give([AppInput::Resized(window_size())]);
        Ok(outcome)
    }

    fn say_fault(&mut self, outcome: Result<String, String>) {
        let (tone, words) = match outcome {
            Ok(words) => (Tone::Dim, words),
            Err(fault) => (Tone::Danger, fault),
        };
        if !words.is_empty() {
            self.give([AppInput::Said(tone, words)]);
        }
    }

    /// Lets the terminal tell the person something, between two frames.
    fn alert(&mut self, title: &str, body: &str) -> io::Result<()> {
        let mut shown = self.alerts.form.map(|form| form.bytes(title, body)).unwrap_or_default();
        if self.alerts.is_in_tmux && !shown.is_empty() {
            shown = through_tmux(&shown);
        }
        let rung = if self.alerts.rings { BELL } else { "" };
        self.output.send(format!("{shown}{rung}").as_bytes())
    }
}
