//! Whether a file is written in the format that it should have.

use saphyr_parser::{Event, Parser};

use super::gate_check::CheckOutcome;
use crate::model::Format;

/// Says what keeps a text from having a format.
pub(in crate::hub) fn check(format: Format, text: &[u8]) -> CheckOutcome {
    let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
    match format {
        Format::Toml => {
            let read = text.parse::<toml::Table>();
            read.map(|_| String::new()).map_err(|error| error.to_string())
        }
        Format::Yaml => yaml(text),
        Format::Csv => csv(text),
    }
}

fn yaml(text: &str) -> CheckOutcome {
    let mut says_something = false;
    for event in Parser::new_from_str(text) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        says_something |=
            matches!(event, Event::Scalar(..) | Event::SequenceStart(..) | Event::MappingStart(..));
    }
    if says_something { Ok(String::new()) } else { Err("it says nothing".to_owned()) }
}

/// Every row has as many fields as the first, and every quote is closed (RFC 4180).
fn csv(text: &str) -> CheckOutcome {
    let mut columns = None;
    let (mut row, mut fields, mut is_quoted, mut is_empty) = (1, 1, false, true);
    let mut end_row = |row: usize, fields: usize| match *columns.get_or_insert(fields) {
        first if first == fields => Ok(()),
        first => Err(format!("row {row} has {fields} fields, and the first has {first}")),
    };
    for c in text.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields += 1,
            '\n' if !is_quoted => {
                if !is_empty {
                    end_row(row, fields)?;
                }
                (row, fields, is_empty) = (row + 1, 1, true);
                continue;
            }
            _ => {}
        }
        is_empty = is_empty && c == '\r';
    }
    if is_quoted {
        return Err("a quote is never closed".to_owned());
    }
    if !is_empty {
        end_row(row, fields)?;
    }
    Ok(String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_told_from_what_is_none() {
        for (format, good, bad) in [
            (Format::Toml, "a = 1\n", "a = \n"),
            (Format::Yaml, "# c\na:\n  - b\n", "a:\n\t- b\n"),
            (Format::Yaml, "a", "# only\n"),
            (Format::Yaml, "a: [1, {b: 2}]\n--- # more\n- 'c'\n", "a: [1, {b: 2}\n"),
            (Format::Yaml, "a: |\n  text: of: any kind\n", "a: b: c\n"),
            (Format::Yaml, "a: &x 1\nb: *x\n", "a: \"never closed\n"),
            (Format::Csv, "a,b\n1,\"2,\n3\"\r\n\n", "a,b\n1\n"),
            (Format::Csv, "a", "a,\"b\n"),
        ] {
            assert!(check(format, good.as_bytes()).is_ok(), "{good}");
            assert!(check(format, bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(check(Format::Csv, &[0xff]).is_err());
    }
}
