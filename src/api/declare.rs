//! The macro by which a request is declared once, and what follows from such a declaration.
//!
//! A row says what a request is called, who may make it about whom, what it changes, whether it may be
//! repeated, what answers it, what it names and what is no part of it when it is made again.

use std::fmt;

use serde::Serialize;

use crate::model::Reach::{self, Never};
use crate::model::{AgentName, Environment, ReceiptId, Role};

/// Who speaks on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Someone with no token: a person, or what a person started.
    Person,
    /// An agent, by its token.
    Agent(Role),
}

impl Speaker {
    pub const ALL: [Self; 5] = [
        Self::Person,
        Self::Agent(Role::Worker),
        Self::Agent(Role::Lead),
        Self::Agent(Role::Orchestrator),
        Self::Agent(Role::Verifier),
    ];
}

impl fmt::Display for Speaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Person => f.pad("person"),
            Self::Agent(role) => role.fmt(f),
        }
    }
}

/// What a request changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Change {
    /// Nothing. It tells what there is, and nobody starts a hub for it.
    Reads,
    /// Nothing, and it is about a hub that runs.
    Watches,
    /// Something that is done whatever the record says: looking, typing, stopping.
    Acts,
    /// Something that counts only if it is on record.
    Records,
}

/// Whether a request may be made once more when nobody knows if it arrived the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Repeat {
    Harmless,
    /// It would be done twice.
    Twice,
}

/// What a request is called, and who may make it about whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    pub request: &'static str,
    /// Completes "… may not".
    pub action: &'static str,
    pub change: Change,
    pub repeat: Repeat,
    /// The forms of `Response` that answer it.
    pub replies: &'static [&'static str],
    /// In the order of `Speaker::ALL`.
    pub(super) reach: [Reach; 5],
}

impl Right {
    /// Returns how far a speaker's say goes with this request.
    pub fn of(&self, speaker: Speaker) -> Reach {
        let column = Speaker::ALL.iter().position(|one| *one == speaker);
        column.map_or(Never, |column| self.reach[column])
    }
}

/// Declares all requests: the enums that cross the socket and `RequestKind`, one row each.
///
/// A row without its permissions does not compile. The requests of the other enums are asked inside of
/// the first one, as `within` says.
macro_rules! requests {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($own:tt)* }
        within { $($(#[$group_meta:meta])* $group:ident { ask: $group_type:ident } = $group_name:literal { $($rows:tt)* })* }
    ) => {
        requests! { @enum [$(#[$meta])*] $name ["request"] [$(
            $(#[$group_meta])*
            #[serde(rename = $group_name)]
            $group { ask: $group_type },
        )*] [$($group)*] $($own)* }
        $(requests! { @enum [
            $(#[$group_meta])*
            #[derive(Clone, Debug, Serialize, Deserialize)]
            #[cfg_attr(test, derive(schemars::JsonSchema))]
        ] $group_type ["about"] [] [] $($rows)* })*
        requests! { @kinds ["" ""] { $($own)* } $([$group_name "."] { $($rows)* })* }
    };
    (
        @enum [$($enum_meta:tt)*] $name:ident [$tag:literal] [$($groups:tt)*] [$($group:ident)*]
        $(
            $(#[$meta:meta])*
            $variant:ident $({ $($fields:tt)* })?
            = $kind:ident $wire:literal $action:literal
              [$($reach:ident)*] $change:ident $repeat:ident -> $($reply:ident)|+
              $(, names $how:ident($named:ident))*
              $(, without $omitted:ident)*;
        )*
    ) => {
        $($enum_meta)*
        #[serde(tag = $tag)]
        pub enum $name {
            $($(#[$meta])* #[serde(rename = $wire)] $variant $({ $($fields)* })?,)*
            $($groups)*
        }

        impl $name {
            /// Returns which row of the table it is.
            pub fn kind(&self) -> RequestKind {
                match self {
                    $(Self::$variant { .. } => RequestKind::$kind,)*
                    $(Self::$group { ask } => ask.kind(),)*
                }
            }

            /// Returns all that it names, so that each of them can be looked at.
            pub fn named(&self) -> Vec<Named> {
                match self {
                    $(Self::$variant { $($named,)* .. } => {
                        let named: &[Vec<Named>] = &[$(super::named::$how($named)),*];
                        named.concat()
                    })*
                    $(Self::$group { ask } => ask.named(),)*
                }
            }

            /// Takes out what may differ when it is made again.
            pub(super) fn omit(&mut self) {
                match self {
                    $(Self::$variant { $($omitted,)* .. } => { $($omitted.omit();)* })*
                    $(Self::$group { ask } => ask.omit(),)*
                }
            }
        }
    };
    (
        @kinds
        $([$group:literal $dot:literal] { $(
            $(#[$meta:meta])*
            $variant:ident $({ $($fields:tt)* })?
            = $kind:ident $wire:literal $action:literal
              [$person:ident $worker:ident $lead:ident $orchestrator:ident $verifier:ident]
              $change:ident $repeat:ident -> $($reply:ident)|+
              $(, names $how:ident($named:ident))*
              $(, without $omitted:ident)*;
        )* })*
    ) => {
        /// What kind of request one is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum RequestKind { $($($kind),*),* }

        impl RequestKind {
            pub const ALL: &[Self] = &[$($(Self::$kind),*),*];

            /// Returns who may make such a request, and what it does.
            pub fn right(self) -> Right {
                match self {
                    $($(Self::$kind => Right {
                        request: concat!($group, $dot, $wire),
                        action: $action,
                        change: Change::$change,
                        repeat: Repeat::$repeat,
                        replies: &[$(stringify!($reply)),+],
                        reach: [$person, $worker, $lead, $orchestrator, $verifier],
                    },)*)*
                }
            }

            /// Says whether such a request is answered like this.
            pub fn is_answered_by(self, response: &Response) -> bool {
                match self {
                    $($(Self::$kind => matches!(response, $(Response::$reply { .. })|+),)*)*
                }
            }
        }
    };
}
pub(super) use requests;

/// Something that is no part of a request when it is made again.
pub(super) trait Omit {
    fn omit(&mut self);
}

/// The variables of whoever asks, which may also be secrets.
impl Omit for Environment {
    fn omit(&mut self) {
        *self = Self::default();
    }
}

/// The key of a prompt itself.
impl Omit for Option<String> {
    fn omit(&mut self) {
        *self = None;
    }
}

/// One or more names in a field.
pub(super) trait Names<T> {
    fn names(&self) -> Vec<T>;
}

impl Names<Self> for String {
    fn names(&self) -> Vec<Self> {
        vec![self.clone()]
    }
}

impl Names<String> for Vec<AgentName> {
    fn names(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

impl Names<Self> for ReceiptId {
    fn names(&self) -> Vec<Self> {
        vec![*self]
    }
}

impl<T: Clone> Names<T> for Vec<T> {
    fn names(&self) -> Self {
        self.clone()
    }
}

impl<T: Clone> Names<T> for Option<T> {
    fn names(&self) -> Vec<T> {
        self.iter().cloned().collect()
    }
}

#[cfg(test)]
/// Returns a type's name as it is written on the wire.
pub(super) fn on_the_wire(name: &str) -> String {
    let mut text = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}
