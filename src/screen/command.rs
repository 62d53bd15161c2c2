//! Understands the operating system commands: titles, links, colours, notifications, reports.

use super::signal::{Progress, Signal, clean};
use super::terminal::Terminal;

/// What we tell a program that asks whether it may report its status by OSC 7501.
const STATUS_ANSWER: &[u8] =
    b"\x1b]7501;?:states=idle,working,done,blocked,error:kinds=permission,question,auth\x1b\\";

impl Terminal {
    pub(super) fn command(&mut self, payload: &[u8], by_bell: bool) {
        let (number, rest) = split(payload);
        match number {
            b"0" => {
                self.signal(Signal::IconName(clean(rest)));
                self.set_title(rest);
            }
            b"1" => self.signal(Signal::IconName(clean(rest))),
            b"2" => self.set_title(rest),
            b"4" => self.report_indexed_colors(rest, by_bell),
            b"7" => self.signal(Signal::Directory(clean(rest))),
            b"8" => self.set_link(rest),
            b"9" => self.notify_plainly(rest),
            b"10" | b"11" | b"12" => self.report_colors(number[1] - b'0', rest, by_bell),
            b"52" => self.set_clipboard(rest),
            b"99" => self.notify_with_keys(rest),
            b"133" => self.signal(Signal::ShellMark(clean(rest))),
            b"777" => self.notify_with_title(rest),
            b"7501" if rest == b"?" => self.answer(STATUS_ANSWER),
            b"7501" => self.signal(Signal::ProgramStatus(clean(rest))),
            _ => {}
        }
    }

    fn set_title(&mut self, title: &[u8]) {
        self.title = clean(title);
        self.signal(Signal::Title(self.title.clone()));
    }

    fn set_link(&mut self, rest: &[u8]) {
        let (_, target) = split(rest);
        let target = clean(target);
        let number = self.canvas.links.intern(&target).or_else(|| {
            self.canvas.sweep();
            self.canvas.links.intern(&target)
        });
        self.pen.link = number.unwrap_or(0);
        self.canvas.set_pen(self.pen);
    }

    fn report_indexed_colors(&mut self, rest: &[u8], by_bell: bool) {
        let mut fields = rest.split(|byte| *byte == b';');
        while let (Some(index), Some(color)) = (fields.next(), fields.next()) {
            let index = str::from_utf8(index).ok().and_then(|index| index.parse::<u8>().ok());
            if let (Some(index), b"?") = (index, color) {
                self.report_color(&format!("4;{index}"), self.palette.indexed(index), by_bell);
            }
        }
    }

    /// Each further field is about the next colour.
    fn report_colors(&mut self, first: u8, rest: &[u8], by_bell: bool) {
        for (which, field) in (first..=2).zip(rest.split(|byte| *byte == b';')) {
            if field == b"?" {
                let color = match which {
                    0 => self.palette.foreground,
                    1 => self.palette.background,
                    _ => self.palette.cursor,
                };
                self.report_color(&format!("1{which}"), color, by_bell);
            }
        }
    }

    fn notify_plainly(&mut self, rest: &[u8]) {
        match split(rest) {
            (b"4", progress) => {
                let (state, percent) = split(progress);
                let percent = str::from_utf8(percent).ok().and_then(|text| text.parse::<u8>().ok());
                let percent = percent.unwrap_or(0).min(100);
                self.signal(Signal::Progress(match state {
                    b"1" => Progress::Percent(percent),
                    b"2" => Progress::Error(percent),
                    b"3" => Progress::Indeterminate,
                    b"4" => Progress::Paused(percent),
                    _ => Progress::None,
                }));
            }
            _ => self.signal(Signal::Notification { title: None, body: clean(rest) }),
        }
    }

    fn notify_with_title(&mut self, rest: &[u8]) {
        if let (b"notify", rest) = split(rest) {
            let (title, body) = split(rest);
            let (title, body) = (Some(clean(title)), clean(body));
            self.signal(Signal::Notification { title, body });
        }
    }

    /// Takes the text of a notification whose keys say that it is one, and in plain letters.
    fn notify_with_keys(&mut self, rest: &[u8]) {
        let (keys, text) = split(rest);
        let has = |key: &[u8]| keys.split(|byte| *byte == b':').any(|entry| entry == key);
        let is_other = |key: &[u8]| key.starts_with(b"p=") && key != b"p=title" && key != b"p=body";
        if keys.split(|byte| *byte == b':').any(is_other) || has(b"e=1") || text.is_empty() {
            return;
        }
        let body = clean(text);
        self.signal(Signal::Notification { title: None, body });
    }

    fn set_clipboard(&mut self, rest: &[u8]) {
        let (_, data) = split(rest);
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
        if !data.is_empty() && data.iter().all(is_base64) {
            let data = String::from_utf8_lossy(data).into_owned();
            self.signal(Signal::Clipboard(data));
        }
    }
}

/// Splits at the first semicolon.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b';') {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => (bytes, &[]),
    }
}
