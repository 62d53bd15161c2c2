//! The dialog in sight, once it is drawn: half of one asks something else.

use std::time::Duration;

use crate::model::Moment;

use super::dialog::Dialog;

/// What was read twice, so far apart, is drawn. Gemini first draws a question with the options that
/// fit, and makes room for the rest up to 400 ms later on a busy machine.
const DRAWN: Duration = Duration::from_millis(800);

/// What a person may be shown, and what has yet to be read a second time.
#[derive(Debug, Default)]
pub(super) struct Asked {
    shown: Option<Dialog>,
    next: Option<(Option<Dialog>, Moment)>,
}

impl Asked {
    /// Returns the dialog, unless something else was read last.
    pub(super) fn shown(&self) -> Option<&Dialog> {
        self.shown.as_ref().filter(|_| self.next.is_none())
    }

    /// Takes what a look has read.
    pub(super) fn note(&mut self, seen: Option<Dialog>, now: Moment) {
        if is_same(seen.as_ref(), self.shown.as_ref()) {
            // Its mark may have moved.
            (self.shown, self.next) = (seen, None);
            return;
        }
        let since = match &self.next {
            Some((next, since)) if is_same(next.as_ref(), seen.as_ref()) => *since,
            _ => now,
        };
        if now.since(since) >= DRAWN {
            (self.shown, self.next) = (seen, None);
        } else {
            self.next = Some((seen, since));
        }
    }

    /// Returns when to look a second time.
    pub(super) fn deadline(&self) -> Option<Moment> {
        self.next.as_ref().map(|(_, since)| *since + DRAWN)
    }
}

fn is_same(one: Option<&Dialog>, other: Option<&Dialog>) -> bool {
    one.map(Dialog::fingerprint) == other.map(Dialog::fingerprint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DialogKind;

    fn dialog(text: &str, selected: usize) -> Dialog {
        let (kind, options) = (DialogKind::Approval, vec!["Yes".into(), "No".into()]);
        let (text, selected) = (text.into(), Some(selected));
        Dialog { kind, text, options, selected, is_row: false, asks: None }
    }

    #[test]
    fn half_of_a_dialog_is_never_shown() {
        let mut asked = Asked::default();
        asked.note(Some(dialog("Run", 0)), Moment(0));
        asked.note(Some(dialog("Run `rm`?", 0)), Moment(60));
        assert_eq!(asked.shown(), None);
        assert_eq!(asked.deadline(), Some(Moment(860)));
        asked.note(Some(dialog("Run `rm`?", 0)), Moment(860));
        assert_eq!(asked.shown(), Some(&dialog("Run `rm`?", 0)));
        asked.note(Some(dialog("Run `rm`?", 1)), Moment(870));
        assert_eq!(asked.shown().unwrap().selected, Some(1), "a mark moves at once");
    }

    #[test]
    fn a_dialog_that_is_drawn_anew_is_shown_again_at_once() {
        let mut asked = Asked::default();
        asked.note(Some(dialog("Run?", 0)), Moment(0));
        asked.note(Some(dialog("Run?", 0)), Moment(800));
        for at in (900..2000).step_by(100) {
            asked.note(None, Moment(at));
            assert_eq!(asked.shown(), None, "what is not in sight is not answered");
            asked.note(Some(dialog("Run?", 0)), Moment(at + 50));
            assert!(asked.shown().is_some());
        }
        asked.note(None, Moment(2100));
        asked.note(None, Moment(2900));
        assert_eq!((asked.shown(), asked.deadline()), (None, None));
    }
}
