//! Points in time as a person types them.

use std::time::{Duration, UNIX_EPOCH};

use super::clock::now;
use crate::model::Moment;

/// A point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    At(Moment),
    /// So long before now.
    Ago(Duration),
}

/// A place in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    At(Moment),
    /// The entry with this number.
    Entry(u64),
    /// So long after its beginning.
    In(Duration),
    /// So long before its end.
    BeforeEnd(Duration),
}

impl When {
    pub(super) fn moment(self) -> Moment {
        match self {
            Self::At(moment) => moment,
            Self::Ago(time) => Moment(0) + now().since(Moment(0) + time),
        }
    }
}

/// Reads a time, or how long ago it was.
pub(super) fn when(text: &str) -> Result<When, String> {
    if let Some(moment) = moment(text) {
        return Ok(When::At(moment));
    }
    humantime::parse_duration(text).map(When::Ago).map_err(|_| {
        "write a time in UTC, such as `2026-01-31T14:05:00Z`, or how long ago, such as `10m`"
            .to_owned()
    })
}

/// Reads a place in a run.
pub(super) fn spot(text: &str) -> Result<Spot, String> {
    if let Ok(number) = text.parse() {
        return Ok(Spot::Entry(number));
    }
    let span = |rest: &str| humantime::parse_duration(rest).ok();
    let from_start = text.strip_prefix('+').and_then(span).map(Spot::In);
    let before_end = text.strip_prefix('-').and_then(span).map(Spot::BeforeEnd);
    let found = moment(text).map(Spot::At).or(from_start).or(before_end);
    found.ok_or_else(|| {
        "write the number of an entry, a time in UTC such as `2026-01-31T14:05:00Z`, `+5m` after \
         the beginning or `-5m` before the end"
            .to_owned()
    })
}

fn moment(text: &str) -> Option<Moment> {
    let time = humantime::parse_rfc3339_weak(text).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok().map(Moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_a_run_is_a_number_a_time_or_a_distance() {
        assert_eq!(spot("42"), Ok(Spot::Entry(42)));
        assert_eq!(spot("+90s"), Ok(Spot::In(Duration::from_secs(90))));
        assert_eq!(spot("-5m"), Ok(Spot::BeforeEnd(Duration::from_mins(5))));
        let moment = Moment(1_700_000_000_000);
        assert_eq!(spot("2023-11-14T22:13:20Z"), Ok(Spot::At(moment)));
        assert_eq!(spot("2023-11-14 22:13:20"), Ok(Spot::At(moment)));
        for bad in ["", "later", "-", "+", "5 parsecs"] {
            assert!(spot(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_time_is_a_date_or_how_long_ago() {
        assert_eq!(when("10m"), Ok(When::Ago(Duration::from_mins(10))));
        assert_eq!(when("2023-11-14T22:13:20Z"), Ok(When::At(Moment(1_700_000_000_000))));
        assert!(when("soon").is_err());
        assert!(When::Ago(Duration::from_secs(u64::MAX / 1000)).moment() < now());
    }
}
