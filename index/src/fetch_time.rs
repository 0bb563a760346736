//! When a record was fetched, as inputs spell it.

use chrono::{DateTime, NaiveDateTime};

/// A zone behind a space, as tables print times.
const SPACED: &str = "%Y-%m-%d %H:%M:%S%.f %:z";
/// Spellings without a zone, which are taken for UTC.
const WITHOUT_ZONE: [&str; 3] = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%Y%m%d%H%M%S"];
/// A number from here on counts milliseconds: as seconds it would be the year 5138.
const MILLISECONDS: i64 = 100_000_000_000;

/// Seconds since 1970 of a time: ISO 8601 as WARC and JSON lines have it, the fourteen digits of CDX, the date of
/// an HTTP head, or seconds or milliseconds since 1970; none if it is none of them.
///
/// ```
/// use prospect_index::fetch_time::seconds;
///
/// for time in [
///     "2026-11-23T10:00:00Z",
///     "2026-11-23T11:00:00.25+01:00",
///     "2026-11-23 10:00:00",
///     "2026-11-23 10:00:00.000 +00:00",
///     "20261123100000",
///     "Mon, 23 Nov 2026 10:00:00 GMT",
///     "1795428000",
///     "1795428000250",
/// ] {
///     assert_eq!(seconds(time), Some(1_795_428_000), "{time}");
/// }
/// assert_eq!((seconds(""), seconds("yesterday")), (None, None));
/// ```
pub fn seconds(time: &str) -> Option<i64> {
    let time = time.trim();
    if time.is_empty() {
        return None;
    }
    let zoned = DateTime::parse_from_rfc3339(time)
        .or_else(|_| DateTime::parse_from_rfc2822(time))
        .or_else(|_| DateTime::parse_from_str(time, SPACED));
    if let Ok(found) = zoned {
        return Some(found.timestamp());
    }
    let is_number = time.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && time.len() != "20261123100000".len() {
        let count: i64 = time.parse().ok()?;
        return Some(if count < MILLISECONDS { count } else { count / 1_000 });
    }
    let read = |format| NaiveDateTime::parse_from_str(time, format).ok();
    WITHOUT_ZONE.into_iter().find_map(read).map(|found| found.and_utc().timestamp())
}
