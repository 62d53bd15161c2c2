//! Time as a value, so that decisions can be replayed.

use std::time::{Duration, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since the Unix epoch.
///
/// A hub's clock never runs backwards while it lives, whatever happens to the machine's.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moment(pub u64);

impl Moment {
    /// Returns the time from `earlier` to this moment, or zero if it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// Returns the moment in the form of RFC 3339, in UTC.
    pub fn to_rfc3339(self) -> String {
        humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(self.0)).to_string()
    }
}

impl std::ops::Add<Duration> for Moment {
    type Output = Self;

    fn add(self, rest: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(rest.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Writes a moment as scripts read it, in the form of RFC 3339.
pub(super) mod rfc3339 {
    use std::time::UNIX_EPOCH;

    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Moment;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference over")]
    pub(crate) fn serialize<S: Serializer>(
        moment: &Moment,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&moment.to_rfc3339())
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(
        deserializer: D,
    ) -> Result<Moment, D::Error> {
        let text = String::deserialize(deserializer)?;
        let time = humantime::parse_rfc3339(&text).map_err(Error::custom)?;
        let since = time.duration_since(UNIX_EPOCH).map_err(Error::custom)?;
        Ok(Moment(u64::try_from(since.as_millis()).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_as_utc() {
        assert_eq!(Moment(1_700_000_000_123).to_rfc3339(), "2023-11-14T22:13:20.123Z");
    }

    #[test]
    fn time_since_a_later_moment_is_zero() {
        assert_eq!(Moment(5).since(Moment(9)), Duration::ZERO);
    }
}
