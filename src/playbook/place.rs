//! Where in a playbook something is wrong, and what would be right.

/// One step on the way from the top of a file to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    Key(&'static str),
    Name(String),
    Index(usize),
}

/// The way from the top of a file to a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place(pub Vec<Part>);

impl Place {
    /// Returns an entry of the list under a key of the file.
    pub fn entry(key: &'static str, index: usize) -> Self {
        Self::default().key(key).index(index)
    }

    #[must_use]
    pub fn key(self, key: &'static str) -> Self {
        self.then(Part::Key(key))
    }

    #[must_use]
    pub fn index(self, index: usize) -> Self {
        self.then(Part::Index(index))
    }

    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.then(Part::Name(name.to_owned()))
    }

    fn then(mut self, part: Part) -> Self {
        self.0.push(part);
        self
    }
}

/// One thing that is wrong with a playbook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub place: Place,
    pub message: String,
    pub hint: Option<Hint>,
}

/// What would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    Say(String),
    /// The known word that is nearest to this one.
    Nearest {
        word: String,
        known: Vec<String>,
    },
}

/// Gathers what is found.
#[derive(Debug, Default)]
pub(super) struct Findings(pub(super) Vec<Finding>);

impl Findings {
    pub(super) fn say(&mut self, place: Place, message: String, hint: &str) {
        let hint = Some(Hint::Say(hint.to_owned()));
        self.0.push(Finding { place, message, hint });
    }

    /// Notes a word that names nothing.
    pub(super) fn unknown<'k>(
        &mut self,
        place: Place,
        message: String,
        word: &str,
        known: impl IntoIterator<Item = &'k str>,
    ) {
        let known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        let hint = (!known.is_empty()).then(|| Hint::Nearest { word: word.to_owned(), known });
        self.0.push(Finding { place, message, hint });
    }
}
