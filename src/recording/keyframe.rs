//! What a recording tells where it begins, or goes on after a gap.

use std::fmt::Write as _;

use crate::screen::{Progress, Screen, Signal};

/// Rows above the screen that a keyframe brings along: the last messages, not the whole history.
const HISTORY_ROWS: usize = 200;

/// Clears a screen that has been in use: a keyframe may stand in the middle of a recording.
pub(super) const RESET: &str = "\x1bc";

/// Makes keyframes; remembers what a program said beside its screen, and says only once.
#[derive(Debug, Default)]
pub struct Keyframes {
    status: Option<String>,
    progress: Option<Progress>,
}

impl Keyframes {
    /// Notes what the program said.
    pub fn note(&mut self, signals: &[Signal]) {
        for signal in signals {
            match signal {
                Signal::ProgramStatus(status) => self.status = Some(status.clone()),
                Signal::Progress(progress) => self.progress = Some(*progress),
                Signal::Title(_)
                | Signal::IconName(_)
                | Signal::Bell
                | Signal::Directory(_)
                | Signal::Notification { .. }
                | Signal::ShellMark(_)
                | Signal::Clipboard(_) => {}
            }
        }
    }

    /// Returns output that brings another screen of the same size to where this one is.
    pub fn keyframe(&self, screen: &Screen) -> String {
        let stream = screen.restore_stream_with(HISTORY_ROWS);
        let mut output = format!("{RESET}{}", String::from_utf8_lossy(&stream));
        if let Some(status) = &self.status {
            let _ = write!(output, "\x1b]7501;{status}\x1b\\");
        }
        let progress = self.progress.map(|progress| match progress {
            Progress::None => (0, 0),
            Progress::Percent(percent) => (1, percent),
            Progress::Error(percent) => (2, percent),
            Progress::Indeterminate => (3, 0),
            Progress::Paused(percent) => (4, percent),
        });
        if let Some((state, percent)) = progress {
            let _ = write!(output, "\x1b]9;4;{state};{percent}\x1b\\");
        }
        output
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Moment, Size};
    use crate::screen::HistoryLimit;

    #[test]
    fn a_keyframe_brings_any_screen_to_the_same_place() {
        let size = Size { rows: 6, cols: 30 };
        let mut screen = Screen::new(size, HistoryLimit::default());
        let mut keyframes = Keyframes::default();
        let lines = "\x1b[31mred\x1b[32mgreen\r\n".repeat(500);
        let output =
            format!("{lines}\x1b]2;busy\x07\x1b]7501;state=working\x1b\\\x1b]9;4;1;40\x07$ ");
        keyframes.note(&screen.feed(output.as_bytes(), Moment(1)).signals);
        let keyframe = keyframes.keyframe(&screen);
        let mut other = Screen::new(size, HistoryLimit::default());
        other.feed(b"\x1b[?1049hsomething else\x1b[2;3r\x1b[?25l", Moment(1));
        let fed = other.feed(keyframe.as_bytes(), Moment(2));
        assert_eq!((other.rows(), other.cursor()), (screen.rows(), screen.cursor()));
        assert_eq!(other.history_text(200), screen.history_text(200));
        assert!(fed.answers.is_empty());
        for signal in [
            Signal::Title("busy".into()),
            Signal::ProgramStatus("state=working".into()),
            Signal::Progress(Progress::Percent(40)),
        ] {
            assert!(fed.signals.contains(&signal), "{signal:?}");
        }
    }
}
