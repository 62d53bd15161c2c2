//! What an agent asks permission for.

/// What a dialog is about, read whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A shell command, as it would run.
    Command(String),
    /// A file that would be written.
    Path(String),
}

/// A dialog that yes would answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Tells it from any other.
    pub fingerprint: String,
    pub subject: Subject,
    /// All that it says.
    pub text: String,
    /// The option that says yes to this, once; counted from zero.
    pub yes: usize,
}
