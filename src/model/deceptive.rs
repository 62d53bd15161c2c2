//! Which characters must not be shown as they are.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Acts on a terminal, or hides, joins or reorders its neighbours, by the Unicode data. The signs that
/// go before a number are drawn although they are format characters. No property names the one Braille
/// pattern that has no dot.
const DECEPTIVE: &str = r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]--\p{Prepended_Concatenation_Mark}]";

/// Shows nothing, or nothing that is the same everywhere: a blank that is no space, or a character
/// that no standard gives a form.
const UNSEEN: &str = r"[\p{White_Space}\p{Cn}\p{Co}--\x{20}]";

/// Looks like a letter or like a picture, whichever the character behind it asks for.
const PICTURE: &str = r"[\p{Emoji}--\p{ASCII}]";

/// Asks for the picture rather than for the letter before it.
const AS_PICTURE: char = '\u{fe0f}';

/// Characters, as ranges in order.
struct Set(Vec<(char, char)>);

impl Set {
    fn of(class: &str) -> Self {
        let parsed = regex_syntax::parse(class).expect("the classes above are well formed");
        let HirKind::Class(Class::Unicode(class)) = parsed.kind() else {
            unreachable!("each of them is a class of several characters")
        };
        Self(class.ranges().iter().map(|range| (range.start(), range.end())).collect())
    }

    fn has(&self, c: char) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= c);
        after.checked_sub(1).is_some_and(|at| c <= self.0[at].1)
    }
}

/// Says whether a character acts on a terminal, or hides or reorders its neighbours.
///
/// A reader takes what is shown for what is there; with these it need not be: a name that is read
/// backwards, two names that look the same, a text that only a machine can see.
pub fn is_deceptive(c: char) -> bool {
    static SET: LazyLock<Set> = LazyLock::new(|| Set::of(DECEPTIVE));
    if c.is_ascii() { c.is_ascii_control() } else { SET.has(c) }
}

/// Says whether a reader could miss a character: a deceptive one, a blank other than a space, or one
/// that no font has to draw. What is decided by a text relies on none.
pub fn is_unseen(c: char) -> bool {
    static SET: LazyLock<Set> = LazyLock::new(|| Set::of(UNSEEN));
    is_deceptive(c) || (!c.is_ascii() && SET.has(c))
}

/// Says whether a character only makes a picture of the one before it, as in ❤️: it is deceptive by
/// itself, and there it is seen.
pub fn is_picture_mark(before: Option<char>, c: char) -> bool {
    static SET: LazyLock<Set> = LazyLock::new(|| Set::of(PICTURE));
    c == AS_PICTURE && before.is_some_and(|before| SET.has(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_reorders_is_deceptive_and_what_people_write_is_not() {
        let hidden = "\0\x1b\x7f\u{9b}\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180b}\u{180e}\
            \u{200b}\u{200f}\u{2028}\u{202e}\u{2060}\u{206f}\u{2800}\u{3164}\u{fe0f}\u{feff}\u{ffa0}\
            \u{fff9}\u{e0001}\u{e007f}\u{e0100}";
        assert_eq!(hidden.chars().find(|c| !is_deceptive(*c)), None);
        let shown = " aß\u{a0}e\u{301}テ한ا\u{600}\u{6dd}⠋🦀👍🏽\u{e0b0}";
        assert_eq!(shown.chars().find(|c| is_deceptive(*c)), None);
    }

    #[test]
    fn what_no_font_has_to_draw_is_unseen() {
        let unseen = "\t\n\u{85}\u{a0}\u{2003}\u{3000}\u{e000}\u{378}\u{10ffff}\u{200b}";
        assert_eq!(unseen.chars().find(|c| !is_unseen(*c)), None);
        assert_eq!(" aßテ한ا🦀".chars().find(|c| is_unseen(*c)), None);
    }

    #[test]
    fn a_mark_belongs_to_a_picture_and_to_nothing_else() {
        assert!(is_picture_mark(Some('❤'), '\u{fe0f}') && is_picture_mark(Some('⚠'), '\u{fe0f}'));
        assert!(!is_picture_mark(Some('n'), '\u{fe0f}') && !is_picture_mark(None, '\u{fe0f}'));
        assert!(!is_picture_mark(Some('1'), '\u{fe0f}') && !is_picture_mark(Some('❤'), '\u{200d}'));
    }
}
