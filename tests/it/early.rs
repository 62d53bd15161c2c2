//! Prompts for programs that have drawn themselves and are not quite up yet.

use super::delivery::{WHOLE, deliver, ends};
use super::played::{BOXES, Played, Shape};

#[test]
fn a_prompt_waits_until_the_program_has_asked_for_pastes() {
    for shape in BOXES {
        let mut played = Played::new(shape);
        played.write("\x1b[?2004l");
        played.pass(1000);
        played.later(3000, |played| {
            assert!(played.writes.is_empty(), "nothing is typed into what is not up yet");
            played.write("\x1b[?2004h");
        });
        let stages = deliver(&mut played, "One line,\nand another.");
        ends(&stages, &WHOLE, "");
        assert_eq!(played.taken, ["One line,\nand another."], "{shape:?}");
    }
    let mut never = Played::new(Shape::Gemini);
    never.write("\x1b[?2004l");
    never.pass(1000);
    let stages = deliver(&mut never, "One line,\nand another.");
    ends(&stages, &["refused"], "several lines");
}
