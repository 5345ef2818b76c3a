//! Times, as commits have them and as people read them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use journeyman::domain::Timestamp;

/// A time of the system as commits have it; before 1970 it is 0.
pub(crate) fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

/// A time as RFC 3339 writes it, to the second.
pub(crate) fn written(at: Timestamp) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(at.0));
    // Later than the year 9999.
    let known = time.filter(|_| at.0 < 253_402_300_800_000);
    known.map_or_else(String::new, |time| {
        humantime::format_rfc3339_seconds(time).to_string()
    })
}
