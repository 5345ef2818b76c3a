//! Named points at which the fault harness ends the process. Without the feature `fault-points` they cost nothing.

#[cfg(feature = "fault-points")]
pub use armed::{POINTS, arm};

/// Passes a point.
#[inline(always)]
pub(crate) fn point(name: &'static str) {
    #[cfg(feature = "fault-points")]
    armed::pass(name);
    #[cfg(not(feature = "fault-points"))]
    let _ = name;
}

#[cfg(feature = "fault-points")]
mod armed {
    use std::sync::Mutex;

    /// All points, in the order of the work. A point that is not listed is a fault of this crate.
    pub const POINTS: [&str; 20] = [
        "open: the folder is there",
        "open: before the tables",
        "open: the tables are written",
        "open: done",
        "commit: before the write",
        "commit: written",
        "commit: kept",
        "append: before the write",
        "append: written",
        "append: kept",
        "tidy: before the log is folded in",
        "folders: prepared",
        "folders: announced",
        "folders: way made",
        "folders: before an exchange",
        "folders: ready to exchange",
        "folders: exchanged",
        "folders: put",
        "folders: rows written",
        "folders: taken in",
    ];

    /// The point that ends the process, and how many times it is passed before.
    static ARMED: Mutex<Option<(String, u64)>> = Mutex::new(None);

    /// Has the process end, without any clearing up, at a point that was passed `passes` times from now on.
    pub fn arm(point: &str, passes: u64) {
        if let Ok(mut armed) = ARMED.lock() {
            *armed = Some((point.to_owned(), passes));
        }
    }

    pub(super) fn pass(name: &'static str) {
        debug_assert!(POINTS.contains(&name), "{name} is not listed");
        let Ok(mut armed) = ARMED.lock() else { return };
        if let Some((point, passes)) = armed.as_mut()
            && point == name
        {
            if *passes == 0 {
                std::process::abort();
            }
            *passes -= 1;
        }
    }
}
