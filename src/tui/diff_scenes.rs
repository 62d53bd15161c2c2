//! What diffs look like in the dashboard.

use ratatui::style::Color;

use super::diff_stage::review;
use super::look::{Depth, Theme, ThemeChoice};
use super::update::Input;

#[test]
fn a_diff() {
    for (name, cols, rows) in [("small", 80, 24), ("middling", 120, 40), ("large", 200, 50)] {
        let mut stage = review(cols, rows);
        stage.press("down down down c");
        stage.give(Input::Paste("Why another name?\nSay so in the comment.".to_owned()));
        insta::assert_snapshot!(format!("diff_{name}_writing"), stage.text());
        stage.press("enter");
        insta::assert_snapshot!(format!("diff_{name}"), stage.text());
    }
}

/// Returns the colours that are under some text: of its letters, and below them.
fn colours(theme: &str, depth: Depth, text: &str) -> (Color, Color) {
    let mut stage = review(120, 40);
    stage.app.theme = Theme::load(&ThemeChoice::Named(theme.to_owned()), depth).unwrap();
    let screen = stage.text();
    let found = screen.lines().zip(0_u16..).find_map(|(line, row)| {
        let at = line.find(text)?;
        Some((u16::try_from(line[..at].chars().count()).unwrap(), row))
    });
    let cell = &stage.picture.buffer()[found.unwrap()];
    (cell.fg, cell.bg)
}

#[test]
fn what_changed_stands_out_in_every_theme() {
    for theme in ["dark", "light"] {
        let plain = colours(theme, Depth::True, "self.all.get");
        let added = colours(theme, Depth::True, "(&self, id: SessionId");
        let word = colours(theme, Depth::True, "find(");
        let removed = colours(theme, Depth::True, "(&self, id: u32");
        let keyword = colours(theme, Depth::True, "pub fn find");
        assert_eq!(plain.1, Color::Reset, "{theme}");
        assert!(added.1 != removed.1 && added.1 != plain.1 && word.1 != added.1, "{theme}");
        assert_ne!(keyword.0, added.0, "{theme}");
    }
    let added = colours("contrast", Depth::Sixteen, "find(");
    let removed = colours("contrast", Depth::Sixteen, "get(&self");
    assert_eq!((added.1, removed.1), (Color::Reset, Color::Reset));
    assert_ne!(added.0, removed.0);
    assert_eq!(colours("dark", Depth::None, "find("), (Color::Reset, Color::Reset));
}
