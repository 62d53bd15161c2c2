//! Where in a file a value stands, as messages name it.

/// A table, or the way from one to a value in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyPath<'p> {
    /// A table as it is written, such as `[pane]`; empty for the file itself.
    Table(&'p str),
    /// The value under a key that is known.
    Key(&'p Self, &'p str),
    /// The value under a name that is the file's own.
    Entry(&'p Self, &'p str),
    /// One of a list.
    Item(&'p Self),
}

impl KeyPath<'_> {
    /// Returns the key under which the value stands, be it alone, one of a list or one by its name.
    pub(super) fn key(&self) -> &str {
        match self {
            Self::Table(_) => "",
            Self::Key(_, key) => key,
            Self::Entry(of, _) | Self::Item(of) => of.key(),
        }
    }

    /// Returns ` in [pane]`: the table in which that key stands.
    pub(super) fn within(&self) -> String {
        match self {
            Self::Table(_) => String::new(),
            Self::Key(table, _) => table.within_itself(),
            Self::Entry(of, _) | Self::Item(of) => of.within(),
        }
    }

    /// Returns ` in [pane]` for the table `[pane]` itself.
    pub(super) fn within_itself(&self) -> String {
        let table = self.written();
        if table.is_empty() { table } else { format!(" in `{table}`") }
    }

    /// Returns the keys that lead to it, with dots between them.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Table(table) => table.trim_matches(['[', ']']).to_owned(),
            Self::Key(of, key) | Self::Entry(of, key) => {
                let path = of.path();
                if path.is_empty() { (*key).to_owned() } else { format!("{path}.{key}") }
            }
            Self::Item(of) => of.path(),
        }
    }

    /// Returns the table as it is written.
    fn written(&self) -> String {
        match self {
            Self::Table(table) => (*table).to_owned(),
            Self::Key(..) | Self::Entry(..) => format!("[{}]", self.path()),
            Self::Item(_) => format!("[[{}]]", self.path()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_written_as_in_the_file() {
        let file = KeyPath::Table("");
        let (teams, team) = (KeyPath::Key(&file, "team"), KeyPath::Table("[team.t]"));
        let named = KeyPath::Entry(&teams, "t");
        assert_eq!(
            (named.path().as_str(), named.within_itself()),
            ("team.t", " in `[team.t]`".into())
        );
        let agents = KeyPath::Key(&team, "agents");
        let agent = KeyPath::Item(&agents);
        assert_eq!((agent.key(), agent.within()), ("agents", " in `[team.t]`".into()));
        let limits = KeyPath::Key(&agent, "limits");
        assert_eq!(limits.within(), " in `[[team.t.agents]]`");
        assert_eq!(KeyPath::Key(&limits, "cpu").within(), " in `[team.t.agents.limits]`");
        assert_eq!(KeyPath::Key(&file, "pane").within(), "");
    }
}
