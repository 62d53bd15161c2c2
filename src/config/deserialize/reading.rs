//! What is told of a table so far, and what of it is left out when it is read again.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;
use std::ptr;

use serde_json::{Map, Value as Json};
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use super::fault::ValueFault;
use super::key_path::KeyPath;
use super::table::unknown_key;
use crate::config::problem::Problems;

pub(super) type Node<'de> = Spanned<DeValue<'de>>;

/// What is known of a table while it is read again and again.
pub(super) struct Reading<'r, 'p, 'de> {
    pub(super) problems: RefCell<&'r mut Problems<'p>>,
    /// The values that were told and are left out, by where they are in memory.
    left_out: RefCell<BTreeSet<*const Node<'de>>>,
    /// The keys that a table must have and has not, or has wrong: something stands in for each, so
    /// that the rest of the table is looked at.
    missing: RefCell<BTreeSet<(*const DeTable<'de>, &'static str)>>,
    /// The keys that the table may have.
    pub(super) keys: Cell<&'static [&'static str]>,
}

impl<'r, 'p, 'de> Reading<'r, 'p, 'de> {
    pub(super) fn new(problems: &'r mut Problems<'p>) -> Self {
        Self {
            problems: RefCell::new(problems),
            left_out: RefCell::default(),
            missing: RefCell::default(),
            keys: Cell::new(&[]),
        }
    }

    /// Returns a number that grows with all that was told; none does once there is no room for more.
    pub(super) fn marks(&self) -> usize {
        let marks = self.left_out.borrow().len() + self.missing.borrow().len();
        if self.problems.borrow().is_full() { 0 } else { marks }
    }

    pub(super) fn is_left_out(&self, node: &Node<'de>) -> bool {
        self.left_out.borrow().contains(&ptr::from_ref(node))
    }

    /// Says whether something stands in for a key of the table.
    pub(super) fn lacks(&self, table: &DeTable<'de>) -> bool {
        self.missing.borrow().iter().any(|(of, _)| ptr::eq(*of, table))
    }

    /// Tells what is wrong with the value, unless that was done, and leaves it out.
    pub(super) fn leave_out(
        &self,
        fault: ValueFault,
        node: &Node<'de>,
        (place, at): (&KeyPath, &Range<usize>),
    ) -> ValueFault {
        if matches!(fault, ValueFault::Again | ValueFault::Asked(_)) {
            return fault;
        }
        if !matches!(fault, ValueFault::Broken) {
            self.tell(&fault, place, at);
        }
        self.left_out.borrow_mut().insert(ptr::from_ref(node));
        ValueFault::Again
    }

    pub(super) fn tell(&self, fault: &ValueFault, place: &KeyPath, at: &Range<usize>) {
        let mut problems = self.problems.borrow_mut();
        if !problems.is_full() {
            let (message, hint) = fault.in_words(place);
            problems.error(at, &message, hint.as_deref());
        }
    }

    /// Returns what came of a table's fields. Where one is missing, the table is read once more with
    /// something in its place; in the end it is left out, unless it is the one that was asked for.
    pub(super) fn complete<T>(
        &self,
        found: Result<T, ValueFault>,
        table: &'de DeTable<'de>,
        (place, span, is_root): (&KeyPath, &Range<usize>, bool),
    ) -> Result<T, ValueFault> {
        match found {
            Err(ValueFault::Missing(key)) => {
                // One that is there is left out, since it is wrong; that was told.
                if !table.contains_key(key) {
                    self.tell(&ValueFault::Missing(key), place, span);
                }
                self.missing.borrow_mut().insert((ptr::from_ref(table), key));
                Err(ValueFault::Again)
            }
            Ok(_) if !is_root && self.lacks(table) => Err(ValueFault::Broken),
            Ok(_) | Err(_) => found,
        }
    }

    /// Tells which keys of a table its struct does not know, and leaves them out.
    pub(super) fn tell_unknown(&self, table: &'de DeTable<'de>, known: &[&str], place: &KeyPath) {
        for (key, node) in table {
            if !known.contains(&key.get_ref().as_ref()) && !self.is_left_out(node) {
                let within = place.within_itself();
                unknown_key(key, &within, known, &mut self.problems.borrow_mut());
                self.left_out.borrow_mut().insert(ptr::from_ref(node));
            }
        }
    }

    /// Returns the keys to be read: those that are right, what stands in for missing ones, and what
    /// holds below.
    pub(super) fn steps(
        &self,
        table: &'de DeTable<'de>,
        mut below: Map<String, Json>,
    ) -> Vec<Step<'de>> {
        let kept = table.iter().filter(|(_, node)| !self.is_left_out(node));
        let own =
            kept.map(|(key, node)| Step::Own(key, node, below.remove(key.get_ref().as_ref())));
        let mut steps: Vec<Step> = own.collect();
        let missing = self.missing.borrow();
        let missing = missing.iter().filter(|(of, _)| ptr::eq(*of, table));
        steps.extend(missing.map(|(_, key)| Step::StandIn(key)));
        steps.extend(below.into_iter().map(|(key, value)| Step::Below(key, value)));
        steps
    }
}

/// One key to be read, and where its value comes from.
pub(super) enum Step<'de> {
    /// The table itself, perhaps over what holds below it.
    Own(&'de Spanned<DeString<'de>>, &'de Node<'de>, Option<Json>),
    Below(String, Json),
    StandIn(&'static str),
    Ask,
}
