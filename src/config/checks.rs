//! What a text or a number of a table must be beyond its type, for the structs that describe
//! tables. Each serves a field that must be there as well as one that may be.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::path::{Component, Path};

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

use super::deserialize::KEY;
use super::environment::unfit_variable;
use super::pattern::is_variable_name;
use crate::model::{Environment, Gate};

/// What is asked of a text.
pub(super) trait TextCheck {
    /// Says what is wrong with the text, with a hint after `\nhint: `.
    fn fault(text: &str) -> Option<String>;
}

/// A text that was checked.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Checked<C>(pub(super) String, PhantomData<C>);

impl<'de, C: TextCheck> Deserialize<'de> for Checked<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match C::fault(&text) {
            Some(fault) => Err(D::Error::custom(fault)),
            None => Ok(Self(text, PhantomData)),
        }
    }
}

/// Reads a text.
pub(super) fn text<'de, D: Deserializer<'de>, C: TextCheck, T: From<String>>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Checked::<C>::deserialize(deserializer)?.0.into())
}

/// Reads a list of texts.
pub(super) fn texts<'de, D: Deserializer<'de>, C: TextCheck>(
    deserializer: D,
) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<Checked<C>>::deserialize(deserializer)?;
    Ok(texts.into_iter().map(|text| text.0).collect())
}

/// Reads a whole number from the range.
pub(super) fn between<'de, D, T, const MIN: u32, const MAX: u32>(
    deserializer: D,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u32>,
{
    let number = u32::try_from(i64::deserialize(deserializer)?).ok();
    let fitting = number.filter(|number| (MIN..=MAX).contains(number));
    let fitting = fitting.and_then(|number| T::try_from(number).ok());
    let wanted = format!("a number from {MIN} to {MAX}");
    fitting.ok_or_else(|| D::Error::invalid_value(Unexpected::Other("number"), &wanted.as_str()))
}

/// Reads a text that stands for nothing where it is blank.
pub(super) fn unless_blank<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}

/// Reads the words of a command: the program, and its arguments.
pub(super) fn command<'de, D: Deserializer<'de>, T: From<Vec<String>>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let words = texts::<D, NoZero>(deserializer)?;
    if words.first().is_none_or(String::is_empty) {
        let hint = "Name the program and its arguments: `command = [\"program\", \"argument\"]`";
        return Err(D::Error::custom(format!("The command is empty\nhint: {hint}")));
    }
    Ok(words.into())
}

/// Reads the variables that are set for a program.
pub(super) fn environment<'de, D: Deserializer<'de>, T: From<Environment>>(
    deserializer: D,
) -> Result<T, D::Error> {
    let variables = by_name::<D, OwnVariable, NoZero, BTreeMap<_, _>>(deserializer)?;
    Ok(Environment(variables).into())
}

/// Reads texts by their names.
pub(super) fn by_name<'de, D, N: TextCheck + Ord, C: TextCheck, T>(
    deserializer: D,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: From<BTreeMap<String, String>>,
{
    let texts = BTreeMap::<Checked<N>, Checked<C>>::deserialize(deserializer)?;
    let texts: BTreeMap<_, _> = texts.into_iter().map(|(name, text)| (name.0, text.0)).collect();
    Ok(texts.into())
}

/// Makes checks of texts.
macro_rules! checks {
    ($($(#[$doc:meta])* $name:ident => |$text:ident| $fault:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
            pub(super) struct $name;

            impl $crate::config::checks::TextCheck for $name {
                fn fault($text: &str) -> Option<String> {
                    $fault
                }
            }
        )*
    };
}

pub(super) use checks;

checks! {
    /// No system call takes a zero.
    NoZero => |text| text
        .contains('\0')
        .then(|| "A zero character cannot be passed to a program".to_owned());

    /// A path or pattern that lies in the project.
    Inside => |text| {
        let path = Path::new(text);
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let hint = "Write a path or pattern relative to the project, such as `src/api/**`";
        (text.is_empty() || path.is_absolute() || climbs)
            .then(|| format!("`{text}` is not in the project\nhint: {hint}"))
    };

    Absolute => |text| (!text.starts_with('/'))
        .then(|| format!("`{text}` is no absolute path\nhint: Write it from `/` on"));

    Gated => |text| Gate::parse(text).err().map(|error| error.to_string());

    /// A text that says something.
    Filled => |text| match text {
        "" => Some(format!("{KEY} is empty")),
        text => NoZero::fault(text),
    };

    /// The name of a variable.
    Variable => |text| (!is_variable_name(text))
        .then(|| format!("`{text}` cannot name a variable"));

    /// The name of a variable that is not ours to set.
    OwnVariable => |text| unfit_variable(text).map(|(message, hint)| match hint {
        Some(hint) => format!("{message}\nhint: {hint}"),
        None => message,
    });
}
