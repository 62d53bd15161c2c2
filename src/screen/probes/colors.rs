//! Probes of colours and attributes.

use super::support::*;
use crate::model::{Color, Style, Underline};

fn foreground(text: &str) -> Color {
    style(&show(text).row(0), 0).foreground
}

#[test]
fn sgr_attributes() {
    let cases = [
        ("1", Style::BOLD),
        ("2", Style::DIM),
        ("3", Style::ITALIC),
        ("4", Style::UNDERLINE),
        ("5", Style::BLINK),
        ("7", Style::INVERSE),
        ("8", Style::HIDDEN),
        ("9", Style::STRIKETHROUGH),
        ("1;2", Style::BOLD | Style::DIM),
        ("21", Style::UNDERLINE),
        ("4:3", Style::UNDERLINE),
        ("4:3;4:0", 0),
        ("1;2;22", 0),
        ("3;4;5;7;8;9;23;24;25;27;28;29", 0),
        ("1;;3", Style::ITALIC),
        ("58;5;1", 0),
        ("58;2;1;3;4", 0),
        ("58:5:1", 0),
        ("58:2::1:3:4", 0),
        ("38:9:1;1", Style::BOLD),
    ];
    for (codes, expected) in cases {
        assert_eq!(attributes(&format!("\x1b[{codes}mx")), expected, "{codes}");
    }
}

#[test]
fn sgr_colours() {
    let cases = [
        ("31", Color::Indexed(1)),
        ("97", Color::Indexed(15)),
        ("38;5;123", Color::Indexed(123)),
        ("38:5:123", Color::Indexed(123)),
        ("38;2;1;2;3", Color::Rgb(1, 2, 3)),
        ("38:2:1:2:3", Color::Rgb(1, 2, 3)),
        ("38:2::1:2:3", Color::Rgb(1, 2, 3)),
        ("31;39", Color::Default),
        ("38;2;1;2;999", Color::Default),
    ];
    for (codes, expected) in cases {
        assert_eq!(foreground(&format!("\x1b[{codes}mx")), expected, "{codes}");
    }
    let background = style(&show("\x1b[48:2::9:8:7mx").row(0), 0).background;
    assert_eq!(background, Color::Rgb(9, 8, 7));
    assert_eq!(style(&show("\x1b[103mx").row(0), 0).background, Color::Indexed(11));
}

#[test]
fn sgr_4_3_is_distinct_from_4() {
    assert_eq!(show("\x1b[4:3mx").underline_at(0, 0).0, Some(Underline::Curly));
    assert_eq!(show("\x1b[4mx").underline_at(0, 0).0, Some(Underline::Single));
    assert_eq!(show("\x1b[21mx").underline_at(0, 0).0, Some(Underline::Double));
}

#[test]
fn sgr_58_5_1_underline_colour_stored() {
    assert_eq!(show("\x1b[4;58:5:1mx").underline_at(0, 0).1, Color::Indexed(1));
    assert_eq!(show("\x1b[4;58;2;1;2;3mx").underline_at(0, 0).1, Color::Rgb(1, 2, 3));
    assert_eq!(show("\x1b[4;58;5;1;59mx").underline_at(0, 0).1, Color::Default);
}

#[test]
fn looks_survive_the_way_into_the_history() {
    let screen = show(
        "\x1b[1;9;38;2;1;2;3mab\x1b[m c\x1b[4G\x1b[7md\x1b[m\x1b[6Ge\x1b[44m\x1b[K\x1b[m\r\n\n\n\n\n\n",
    );
    let row = screen.history_row(0).unwrap();
    assert_eq!(row.text().trim_end(), "ab d e");
    assert_eq!(style(&row, 0).foreground, Color::Rgb(1, 2, 3));
    assert_eq!(style(&row, 0).attributes, Style::BOLD | Style::STRIKETHROUGH);
    assert_eq!(style(&row, 3).attributes, Style::INVERSE);
    assert_eq!(style(&row, 4), Style::default());
    assert_eq!(style(&row, 19).background, Color::Indexed(4));
}

#[test]
fn more_styles_than_the_table_holds_still_show_right() {
    let mut screen = empty();
    for n in 0..140_000_u32 {
        let [r, g, b, _] = n.to_le_bytes();
        feed(&mut screen, &format!("\x1b[H\x1b[38;2;{r};{g};{b}mx"));
    }
    assert_eq!(style(&screen.row(0), 0).foreground, Color::Rgb(0xdf, 0x22, 0x02));
    assert!(screen.memory_bytes() < 8 << 20);
}

/// Returns the backgrounds of the first cells of all rows.
fn backgrounds(screen: &crate::screen::Screen) -> Vec<Color> {
    screen.rows().iter().map(|row| style(row, 0).background).collect()
}

#[test]
fn rows_that_scroll_in_or_are_inserted_have_the_background() {
    let (blue, none) = (Color::Indexed(4), Color::Default);
    for (text, filled) in [
        ("\x1b[5H\x1b[44m\n", vec![4]),
        ("\x1b[5H\x1b[44m\x1bD", vec![4]),
        ("\x1b[5H\x1b[44m\x1bE", vec![4]),
        ("\x1b[H\x1b[44m\x1bM", vec![0]),
        ("\x1b[44m\x1b[2S", vec![3, 4]),
        ("\x1b[44m\x1b[2T", vec![0, 1]),
        ("\x1b[2H\x1b[44m\x1b[2L", vec![1, 2]),
        ("\x1b[2H\x1b[44m\x1b[2M", vec![3, 4]),
        ("\x1b[2;4r\x1b[44m\x1b[S", vec![3]),
        ("\x1b[2;4r\x1b[4H\x1b[44m\n", vec![3]),
        ("\x1b[?1049h\x1b[5H\x1b[44m\n", vec![4]),
        ("\x1b[3H\x1b[44m\n", vec![]),
    ] {
        let screen = show(&format!("a\r\nb\r\nc\r\nd\r\ne{text}"));
        let wanted: Vec<Color> =
            (0..5).map(|row| if filled.contains(&row) { blue } else { none }).collect();
        assert_eq!(backgrounds(&screen), wanted, "{text:?}");
    }
    let screen = show(&format!("\x1b[5H\x1b[44m{}", "x".repeat(22)));
    assert_eq!((line(&screen, 4).trim_end(), style(&screen.row(4), 19).background), ("xx", blue));
}
