//! How much an agent uses, as its screen shows it: figures that come, grow and go, in; a sum out.

use serde::{Deserialize, Serialize};

use super::detector::Detector;
use super::rules::Rules;
use super::view::View;

/// No run uses more; a figure beyond it was misread.
const FIGURE_MAX: f64 = 1e12;

/// What was seen to be used so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Meter {
    total: u64,
    /// The figure in sight, as far as it has been counted.
    last: u64,
    /// A figure of the turn before that may still be in sight.
    stale: Option<u64>,
}

impl Detector {
    /// Returns how many tokens the run was seen to use; nothing, if its cli shows none.
    pub fn tokens(&self) -> Option<u64> {
        self.rules.usage.as_ref().map(|_| self.meter.total())
    }
}

impl Meter {
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Takes the figure in sight, the lowest if there are several.
    pub(super) fn look(&mut self, rules: &Rules, view: &View) {
        let Some(usage) = &rules.usage else { return };
        let Some(text) = view.region(usage.region) else { return };
        let found = usage.pattern.captures_iter(text).last();
        let named = |found: &regex::Captures, name| found.name(name).map(|m| figure(m.as_str()));
        let Some(tokens) = found.as_ref().and_then(|found| named(found, "tokens")).flatten() else {
            return;
        };
        let more = found.and_then(|found| named(&found, "more")).flatten().unwrap_or_default();
        self.count(tokens.saturating_add(more), usage.is_per_turn);
    }

    /// Notes that what is shown from now on is of another turn.
    pub(super) fn turn_began(&mut self, rules: &Rules) {
        if rules.usage.as_ref().is_some_and(|usage| usage.is_per_turn) {
            (self.stale, self.last) = (Some(self.last).filter(|last| *last > 0), 0);
        }
    }

    fn count(&mut self, figure: u64, is_per_turn: bool) {
        if self.stale == Some(figure) {
            return;
        }
        self.stale = None;
        // A figure of a turn that falls is that of the next one; a conversation's may be compacted.
        let before = if is_per_turn && figure < self.last { 0 } else { self.last };
        self.total = self.total.saturating_add(figure.saturating_sub(before));
        self.last = figure;
    }
}

/// Reads `38`, `1,234`, `1.2k` or `3M`.
fn figure(text: &str) -> Option<u64> {
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | ' ' | '_')).collect();
    let (digits, factor) = match plain.chars().last()? {
        'k' | 'K' => (&plain[..plain.len() - 1], 1e3),
        'm' | 'M' => (&plain[..plain.len() - 1], 1e6),
        _ => (plain.as_str(), 1.0),
    };
    let number = digits.parse::<f64>().ok().filter(|number| number.is_finite())? * factor;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    (0.0..=FIGURE_MAX).contains(&number).then(|| number.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(figures: &[u64], is_per_turn: bool) -> u64 {
        let mut meter = Meter::default();
        for figure in figures {
            meter.count(*figure, is_per_turn);
        }
        meter.total()
    }

    #[test]
    fn a_figure_that_grows_is_counted_once_and_one_that_falls_is_the_next_turns() {
        assert_eq!(counted(&[10, 10, 38, 38, 5, 7], true), 45);
        assert_eq!(counted(&[1000, 4000, 500, 700], false), 4200);
    }

    #[test]
    fn what_stands_there_from_the_turn_before_is_not_counted_again() {
        let mut meter = Meter::default();
        meter.count(636, true);
        (meter.stale, meter.last) = (Some(636), 0);
        meter.count(636, true);
        assert_eq!(meter.total(), 636);
        meter.count(700, true);
        assert_eq!(meter.total(), 1336);
    }

    #[test]
    fn figures_are_read_as_they_are_written() {
        for (text, number) in [("38", 38), ("1,234", 1234), ("1.2k", 1200), ("3M", 3_000_000)] {
            assert_eq!(figure(text), Some(number), "{text}");
        }
        for text in ["", "k", "1e300", "-1", "1.2.3", "9".repeat(40).as_str()] {
            assert_eq!(figure(text), None, "{text}");
        }
    }
}
