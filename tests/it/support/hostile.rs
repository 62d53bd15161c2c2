//! Strings that would act on a terminal, deceive a reader or break a parser.

/// Begin a control sequence or a string: with an escape, in one character, in one raw byte.
const BEGINNINGS: [&[u8]; 18] = [
    b"\x1b[",
    b"\x1b]",
    b"\x1bP",
    b"\x1b_",
    b"\x1b^",
    b"\x1bX",
    b"\xc2\x9b",
    b"\xc2\x9d",
    b"\xc2\x90",
    b"\xc2\x9f",
    b"\xc2\x9e",
    b"\xc2\x98",
    b"\x9b",
    b"\x9d",
    b"\x90",
    b"\x9f",
    b"\x9e",
    b"\x98",
];

const BODIES: [&[u8]; 16] = [
    b"2J",
    b"?1049h",
    b"?1003h",
    b"6n",
    b">c",
    b"31m",
    b"1;5r",
    b"99999999C",
    b"0;owned",
    b"8;;http://127.0.0.1/x",
    b"52;c;b3duZWQ=",
    b"9;owned",
    b"777;notify;a;owned",
    b"1337;File=inline=1:AAAA",
    b"q#0;2;0;0;0#0~~@@vv",
    b"Ga=T,f=24,s=1,v=1;AAAA",
];

const ENDINGS: [&[u8]; 5] = [b"", b"\x07", b"\x1b\\", b"\xc2\x9c", b"\x9c"];

/// Characters that a terminal or a reader may take for something else.
const CHARACTERS: &str = "\u{ad}\u{61c}\u{180e}\u{200b}\u{200c}\u{200e}\u{200f}\u{2028}\u{2029}\
    \u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2060}\u{2063}\u{2066}\u{2067}\u{2068}\u{2069}\u{206a}\
    \u{feff}\u{fff9}\u{fffa}\u{fffb}\u{e0001}\u{e0041}\u{e007f}\u{e000}\u{f8ff}\u{10ffff}\u{fffe}\u{3164}\u{fe0f}";

/// Picked by hand.
const OTHERS: [&[u8]; 26] = [
    b"\xff\xfe broken",
    b"\xc0\x9b2J",
    b"\xe0\x80\x9b2J",
    b"\xf0\x80\x80\x9b2J",
    b"\xed\xa0\x80 half of a pair",
    b"\xf4\x90\x80\x80 beyond the last",
    b"\xe2\x80 cut",
    b"\xc2",
    b"rm -rf /\rls       ",
    b"evil\x08\x08\x08\x08good",
    b"one\x0btwo\x0cthree",
    b"\x0e lqk \x0f",
    b"\x1b(0lqk\x1b(B",
    b"\x1b[8mhidden\x1b[m",
    b"\x1b[5mblink\x1b[m",
    b"\x1bc",
    b"\x1b7\x1b8\x1bD\x1bM\x1bE",
    b"\x1b[3;1H\x1b[1T\x1b[1S\x1b[1L\x1b[1M",
    b"x\x1b[999999999b",
    b"\x1b[?2026h",
    b"\x1b[\x1b[\x1b[",
    b"\x1b\x1b]0;t\x1b\x1b\\",
    b"\x18\x1a\x00\x7f\x05",
    b"\x1b[1337;999999999999999999999m",
    b"\x1b]11;?\x1b\\\x1b[c",
    b"\x1b[200~pasted\x1b[201~",
];

/// Returns all of them.
pub(crate) fn strings() -> Vec<Vec<u8>> {
    let mut strings: Vec<Vec<u8>> = OTHERS.iter().map(|text| text.to_vec()).collect();
    for (at, beginning) in BEGINNINGS.iter().enumerate() {
        for (body_at, body) in BODIES.iter().enumerate() {
            let ending = ENDINGS[(at + body_at) % ENDINGS.len()];
            strings.push([beginning, body, ending].concat());
        }
    }
    strings.extend((0..=0x1f).chain([0x7f]).map(|byte| vec![b'a', byte, b'b']));
    strings.extend(('\u{80}'..='\u{9f}').map(|c| format!("a{c}b").into_bytes()));
    strings.extend(CHARACTERS.chars().map(|c| format!("a{c}b").into_bytes()));
    strings.push(format!("a{}b", "\u{301}".repeat(600)).into_bytes());
    strings.push("\u{202e}\u{2066}\u{200b}".repeat(30).into_bytes());
    strings
}

/// Returns a line of some that leave the cursor where it is, so that the line around them stays one.
pub(crate) fn inline() -> Vec<u8> {
    let is_string = |at: usize| !matches!(at, 0 | 6 | 12);
    let begun = BEGINNINGS.iter().enumerate().filter(|(at, _)| is_string(*at)).map(|(_, b)| b);
    let mut line = Vec::new();
    for (beginning, body) in begun.zip(BODIES.iter().rev()) {
        line.extend([beginning, body, &b"\x18\x1b\\"[..]].concat());
    }
    line.extend(CHARACTERS.bytes().filter(|byte| *byte != b' '));
    line
}

/// Returns those that are text, and the text of the others.
pub(crate) fn texts() -> Vec<String> {
    strings().iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}
