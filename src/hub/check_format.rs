//! Whether a file is written in the format that it should have.

use super::check::Verdict;

/// A format that is looked into beside JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Toml,
    Yaml,
    Csv,
}

impl Kind {
    /// Says what keeps a text from having the format.
    pub(super) fn check(self, text: &[u8]) -> Verdict {
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        match self {
            Self::Toml => {
                let read = text.parse::<toml::Table>();
                read.map(|_| String::new()).map_err(|error| error.to_string())
            }
            Self::Yaml => yaml(text),
            Self::Csv => csv(text),
        }
    }
}

/// Finds what no YAML may have. All that it must have is for whoever reads it.
fn yaml(text: &str) -> Verdict {
    let is_indented = |line: &str| {
        let start = line.trim_start_matches(' ');
        start.starts_with('\t') && !start.trim().is_empty()
    };
    let is_content = |line: &str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if let Some(at) = text.lines().position(is_indented) {
        return Err(format!("line {} is indented with a tab", at + 1));
    }
    if text.lines().any(is_content) { Ok(String::new()) } else { Err("it says nothing".to_owned()) }
}

/// Every row has as many fields as the first, and every quote is closed (RFC 4180).
fn csv(text: &str) -> Verdict {
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
        for (kind, good, bad) in [
            (Kind::Toml, "a = 1\n", "a = \n"),
            (Kind::Yaml, "# c\na:\n  - b\n", "a:\n\t- b\n"),
            (Kind::Yaml, "a", "# only\n"),
            (Kind::Csv, "a,b\n1,\"2,\n3\"\r\n\n", "a,b\n1\n"),
            (Kind::Csv, "a", "a,\"b\n"),
        ] {
            assert!(kind.check(good.as_bytes()).is_ok(), "{good}");
            assert!(kind.check(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Kind::Csv.check(&[0xff]).is_err());
    }
}
