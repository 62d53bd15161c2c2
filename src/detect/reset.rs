//! When a limit ends, from the words in which a screen tells it.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use regex::{Captures, Regex};

use crate::model::Moment;

/// A limit that ends later than this was misread.
const DAYS_MAX: u64 = 40;

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?ix)^
        (?: (?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\ +
            (?P<day>\d{1,2})(?:st|nd|rd|th)? ,?\ * (?:(?P<year>\d{4}) ,?\ *)? (?:at\ +)? )?
        (?P<hour>\d{1,2}) (?: :(?P<minute>\d\d) (?: :\d\d )? )? \ ? (?P<half>am|pm)?
        (?: \ *\(? (?P<zone>[a-z_]+(?:/[a-z_/]+)?) \)? )? $";
    Regex::new(pattern).expect("it is a regular expression")
});

/// Returns when that is, as seen now by someone in this time zone: `3 hours 12 minutes`,
/// `5:32 PM`, `3pm (Europe/Berlin)`, `Nov 20th, 2026 9:12 AM`.
pub fn reset_moment(text: &str, now: Moment, local: &TimeZone) -> Option<Moment> {
    let text = text.trim().trim_end_matches(['.', ',', ';', '!']).trim_end();
    let text = ["in ", "at ", "after ", "on "]
        .iter()
        .fold(text, |text, word| text.strip_prefix(word).unwrap_or(text).trim_start());
    let at = span(text, now).or_else(|| instant(text)).or_else(|| clock(text, now, local))?;
    let is_near = at > now && at.since(now).as_secs() < DAYS_MAX * 24 * 3600;
    is_near.then_some(at)
}

fn span(text: &str, now: Moment) -> Option<Moment> {
    let plain = text.replace(',', " ").replace(" and ", " ");
    humantime::parse_duration(plain.trim()).ok().map(|span| now + span)
}

fn instant(text: &str) -> Option<Moment> {
    moment(text.parse().ok()?)
}

fn clock(text: &str, now: Moment, local: &TimeZone) -> Option<Moment> {
    let found = CLOCK.captures(text)?;
    let number = |name| found.name(name).and_then(|found| found.as_str().parse::<i8>().ok());
    let half = found.name("half").map(|half| half.as_str().to_ascii_lowercase());
    // A number alone may mean anything.
    if half.is_none() && found.name("minute").is_none() {
        return None;
    }
    let hour = match (number("hour")?, half.as_deref()) {
        (hour @ 1..=12, Some("pm")) => hour % 12 + 12,
        (hour @ 1..=12, Some(_)) => hour % 12,
        (hour, None) => hour,
        _ => return None,
    };
    let time = Time::new(hour, number("minute").unwrap_or_default(), 0, 0).ok()?;
    let zone = zone(&found, local);
    let today =
        Timestamp::from_millisecond(i64::try_from(now.0).ok()?).ok()?.to_zoned(zone.clone());
    let on = |date: Date| moment(date.to_datetime(time).to_zoned(zone.clone()).ok()?.timestamp());
    let Some(day) = number("day") else {
        let next = on(today.date()).filter(|at| *at > now);
        return next.or_else(|| on(today.date().tomorrow().ok()?));
    };
    let name = found.name("month")?.as_str().to_ascii_lowercase();
    let month = MONTHS.iter().position(|month| *month == name)? + 1;
    let month = i8::try_from(month).ok()?;
    let year = found.name("year").and_then(|year| year.as_str().parse().ok());
    let date = |year: i16| Date::new(year, month, day).ok();
    match year {
        Some(year) => on(date(year)?),
        // In December, one in January is of the next year.
        None => [today.year(), today.year() + 1]
            .into_iter()
            .filter_map(date)
            .filter_map(on)
            .find(|at| *at > now),
    }
}

/// Returns the zone that is named, if it is known here, else the local one.
fn zone(found: &Captures, local: &TimeZone) -> TimeZone {
    let name = found.name("zone").map_or("", |zone| zone.as_str());
    match name.to_ascii_uppercase().as_str() {
        "UTC" | "GMT" | "Z" => TimeZone::UTC,
        _ if name.contains('/') => TimeZone::get(name).unwrap_or_else(|_| local.clone()),
        _ => local.clone(),
    }
}

fn moment(at: Timestamp) -> Option<Moment> {
    u64::try_from(at.as_millisecond()).ok().map(Moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 16 November 2026, 14:30 in a zone two hours east of Greenwich.
    const NOW: &str = "2026-11-16T12:30:00Z";

    fn read(text: &str) -> Option<String> {
        let now = moment(NOW.parse().unwrap()).unwrap();
        let local = TimeZone::fixed(jiff::tz::offset(2));
        let at = reset_moment(text, now, &local)?;
        Some(at.to_rfc3339().trim_end_matches(":00.000Z").to_owned())
    }

    #[test]
    fn spans_and_times_are_read_as_the_clis_write_them() {
        for (text, at) in [
            ("3 hours 12 minutes", "2026-11-16T15:42"),
            ("in 2 days, 1 hour", "2026-11-18T13:30"),
            ("12h33m", "2026-11-17T01:03"),
            ("5:00 PM", "2026-11-16T15:00"),
            ("at 3pm (UTC)", "2026-11-16T15:00"),
            ("2pm", "2026-11-17T12:00"),
            ("12am", "2026-11-16T22:00"),
            ("17:32", "2026-11-16T15:32"),
            ("Nov 20th, 2026 9:12 AM.", "2026-11-20T07:12"),
            ("Nov 20 at 3pm", "2026-11-20T13:00"),
            ("2026-11-16T18:00:00Z", "2026-11-16T18:00"),
        ] {
            assert_eq!(read(text).as_deref(), Some(at), "{text}");
        }
    }

    #[test]
    fn what_tells_no_time_is_none() {
        for text in [
            "",
            "5",
            "soon",
            "13pm",
            "0am",
            "25:00",
            "Nov 31 at 3pm",
            "Jul 1 at 3pm",
            "99 weeks",
            "2020-01-01T00:00:00Z",
            "99999999999999999999 hours",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
