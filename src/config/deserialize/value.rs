//! One value of a table, as serde asks for it.

use std::{slice, vec};

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};
use serde_spanned::de::{SpannedDeserializer, is_spanned};
use toml::de::{DeInteger, DeValue};

use super::fault::{ValueFault, Wanted};
use super::key_path::KeyPath;
use super::reading::{Node, Reading, Step};
use super::table::RawTable;
use crate::config::manifest::try_pattern;
use crate::model::REGULAR_EXPRESSION;

/// What stands in for a text that is missing: it fits most of what is written in words.
const STAND_IN: &str = "x";

/// The fields of a struct, or the entries of a map.
struct Fields<'a, 'r, 'p, 'de> {
    reading: &'a Reading<'r, 'p, 'de>,
    place: &'a KeyPath<'a>,
    is_struct: bool,
    steps: vec::IntoIter<Step<'de>>,
    next: Option<Step<'de>>,
}

impl<'de> MapAccess<'de> for Fields<'_, '_, '_, 'de> {
    type Error = ValueFault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, ValueFault> {
        self.next = self.steps.next();
        let Some(step) = &self.next else { return Ok(None) };
        let key = match step {
            Step::Own(key, node, _) => {
                let text = BorrowedStrDeserializer::new(key.get_ref().as_ref());
                seed.deserialize(text).map_err(|fault: ValueFault| {
                    self.reading.leave_out(fault.of_a_key(), node, (self.place, &key.span()))
                })
            }
            Step::Below(key, _) => seed.deserialize(StrDeserializer::new(key)),
            Step::StandIn(key) => seed.deserialize(BorrowedStrDeserializer::new(key)),
            Step::Ask => seed.deserialize(BorrowedStrDeserializer::new(STAND_IN)),
        };
        key.map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, ValueFault> {
        let Self { reading, place, .. } = *self;
        match self.next.take().ok_or(ValueFault::Broken)? {
            Step::Own(key, node, below) => {
                let key = key.get_ref().as_ref();
                let place = if self.is_struct {
                    KeyPath::Key(place, key)
                } else {
                    KeyPath::Entry(place, key)
                };
                let value = Value { reading, place: &place, origin: Origin::File(node, below) };
                let told = |fault| reading.leave_out(fault, node, (&place, &node.span()));
                seed.deserialize(value).map_err(told)
            }
            Step::Below(_, value) => {
                seed.deserialize(value).map_err(|error| ValueFault::Wrong(error.to_string()))
            }
            Step::StandIn(_) => seed
                .deserialize(Value { reading, place, origin: Origin::StandIn })
                .map_err(|_| ValueFault::Broken),
            Step::Ask => seed.deserialize(Value { reading, place, origin: Origin::Ask }),
        }
    }
}

/// The items of a list.
struct Items<'a, 'r, 'p, 'de> {
    reading: &'a Reading<'r, 'p, 'de>,
    place: &'a KeyPath<'a>,
    rest: slice::Iter<'de, Node<'de>>,
    /// There are none, and the first is asked what it wants to be.
    asks: bool,
}

impl<'de> SeqAccess<'de> for Items<'_, '_, '_, 'de> {
    type Error = ValueFault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ValueFault> {
        let (reading, place) = (self.reading, &KeyPath::Item(self.place));
        let Some(node) = self.rest.find(|node| !reading.is_left_out(node)) else {
            let ask = Value { reading, place, origin: Origin::Ask };
            return if self.asks { seed.deserialize(ask).map(Some) } else { Ok(None) };
        };
        let value = Value { reading, place, origin: Origin::File(node, None) };
        let told = |fault| reading.leave_out(fault, node, (place, &node.span()));
        seed.deserialize(value).map(Some).map_err(told)
    }
}

/// What a value is made of.
pub(super) enum Origin<'a, 'de> {
    /// The table that is read.
    Root(RawTable<'a, 'de>),
    /// A value in it, perhaps over what holds below it.
    File(&'de Node<'de>, Option<Json>),
    /// Something that fits, for what is missing.
    StandIn,
    /// Nothing: what was wanted is the answer, as a fault.
    Ask,
}

/// One value.
pub(super) struct Value<'a, 'r, 'p, 'de> {
    pub(super) reading: &'a Reading<'r, 'p, 'de>,
    pub(super) place: &'a KeyPath<'a>,
    pub(super) origin: Origin<'a, 'de>,
}

impl<'de> Value<'_, '_, '_, 'de> {
    /// Returns the value in the form that is wanted.
    fn get<T>(
        &self,
        wanted: Wanted,
        get: impl FnOnce(&'de DeValue<'de>) -> Option<T>,
        stand_in: T,
    ) -> Result<T, ValueFault> {
        match &self.origin {
            Origin::File(node, _) => {
                let found = node.get_ref().type_str();
                get(node.get_ref()).ok_or(ValueFault::WrongType { wanted, found })
            }
            Origin::StandIn => Ok(stand_in),
            Origin::Ask => Err(ValueFault::Asked(wanted)),
            Origin::Root(_) => Err(ValueFault::Broken),
        }
    }
}

impl<'de> IntoDeserializer<'de, ValueFault> for Value<'_, '_, '_, 'de> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Makes the methods that look for a value of one type.
macro_rules! typed {
    ($($method:ident)* => |$self:ident, $visitor:ident| $body:expr) => {
        $(fn $method<V: Visitor<'de>>($self, $visitor: V) -> Result<V::Value, ValueFault> { $body })*
    };
}

impl<'de> Deserializer<'de> for Value<'_, '_, '_, 'de> {
    type Error = ValueFault;

    typed! { deserialize_any deserialize_str deserialize_string deserialize_char
        deserialize_identifier => |self, visitor| {
        visitor.visit_borrowed_str(self.get(Wanted::Text, DeValue::as_str, STAND_IN)?)
    } }

    typed! { deserialize_bool => |self, visitor| {
        visitor.visit_bool(self.get(Wanted::Flag, DeValue::as_bool, false)?)
    } }

    typed! { deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
        deserialize_u16 deserialize_u32 deserialize_u64 => |self, visitor| {
        let digits = |value: &'de DeValue| {
            let digits = value.as_integer()?;
            // What no number of ours can hold is out of any range.
            Some(i64::from_str_radix(digits.as_str(), digits.radix()).unwrap_or(i64::MAX))
        };
        visitor.visit_i64(self.get(Wanted::WholeNumber, digits, 1)?)
    } }

    typed! { deserialize_f32 deserialize_f64 => |self, visitor| {
        let digits = |value: &'de DeValue| {
            let whole = value.as_integer().map(DeInteger::as_str);
            let digits = whole.or_else(|| Some(value.as_float()?.as_str()))?;
            Some(digits.parse().unwrap_or(f64::INFINITY))
        };
        visitor.visit_f64(self.get(Wanted::Number, digits, 1.0)?)
    } }

    typed! { deserialize_option => |self, visitor| match self.origin {
        Origin::StandIn => visitor.visit_none(),
        Origin::Root(_) | Origin::File(..) | Origin::Ask => visitor.visit_some(self),
    } }

    typed! { deserialize_ignored_any => |self, visitor| visitor.visit_unit() }

    typed! { deserialize_seq => |self, visitor| {
        let Self { reading, place, .. } = self;
        let items = |rest, asks| Items { reading, place, rest, asks };
        match self.get(Wanted::List("lists"), |value| Some(value.as_array()?.iter()), [].iter()) {
            Ok(found) => visitor.visit_seq(items(found, false)),
            Err(ValueFault::WrongType { found, .. }) => {
                let wanted = match visitor.visit_seq(items([].iter(), true)) {
                    Err(ValueFault::Asked(item)) => Wanted::List(item.words().1),
                    Ok(_) | Err(_) => Wanted::List("values"),
                };
                Err(ValueFault::WrongType { wanted, found })
            }
            Err(fault) => Err(fault),
        }
    } }

    typed! { deserialize_map => |self, visitor| {
        let Self { reading, place, .. } = self;
        let steps = |table| reading.steps(table, Map::new());
        let found = self.get(Wanted::Table, |value| value.as_table().map(steps), Vec::new());
        let fields = |steps: Vec<Step<'de>>| {
            Fields { reading, place, is_struct: false, steps: steps.into_iter(), next: None }
        };
        match found {
            Ok(steps) => visitor.visit_map(fields(steps)),
            Err(ValueFault::WrongType { found, .. }) => {
                let wanted = match visitor.visit_map(fields(vec![Step::Ask])) {
                    Err(ValueFault::Asked(entry)) => Wanted::TableOf(entry.words().1),
                    Ok(_) | Err(_) => Wanted::Table,
                };
                Err(ValueFault::WrongType { wanted, found })
            }
            Err(fault) => Err(fault),
        }
    } }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        if let Origin::File(node, _) = &self.origin
            && let Some(text) = node.get_ref().as_str()
            && name == REGULAR_EXPRESSION
            && self.reading.problems.borrow().tries_patterns
        {
            try_pattern(text).map_err(ValueFault::Wrong)?;
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        if is_spanned(name) {
            let span = if let Origin::File(node, _) = &self.origin { node.span() } else { 0..0 };
            return visitor.visit_map(SpannedDeserializer::new(self, span));
        }
        let Self { reading, place, origin } = self;
        let is_root = matches!(origin, Origin::Root(_));
        let (table, span, below) = match origin {
            Origin::Root(raw) => {
                reading.keys.set(known);
                (raw.table, raw.span.clone(), raw.below.cloned())
            }
            Origin::File(node, below) => {
                let found = node.get_ref().type_str();
                let wrong = ValueFault::WrongType { wanted: Wanted::Table, found };
                let table = node.get_ref().as_table().ok_or(wrong)?;
                reading.tell_unknown(table, known, place);
                let below = below.and_then(|below| below.as_object().cloned());
                (table, node.span(), below)
            }
            Origin::StandIn => return Err(ValueFault::Broken),
            Origin::Ask => return Err(ValueFault::Asked(Wanted::Table)),
        };
        let steps = reading.steps(table, below.unwrap_or_default()).into_iter();
        let found =
            visitor.visit_map(Fields { reading, place, is_struct: true, steps, next: None });
        reading.complete(found, table, (place, &span, is_root))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ValueFault> {
        let first = variants.first().copied().unwrap_or_default();
        let word = self.get(Wanted::Text, DeValue::as_str, first)?;
        visitor.visit_enum(StrDeserializer::new(word))
    }

    serde::forward_to_deserialize_any! {
        i128 u128 bytes byte_buf unit unit_struct tuple tuple_struct
    }
}
