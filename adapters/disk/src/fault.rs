//! Named fault points at which the fault harness ends the process. They cost nothing without the feature
//! `fault-points`.

#[cfg(feature = "fault-points")]
pub use armed::{POINTS, arm};

/// Passes a fault point; ends the process where it is armed.
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

    /// All fault points, in the order in which a process reaches them. Passing a point that is not listed is a bug of
    /// this crate.
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

    /// The armed point, and how many more times it is passed first.
    static ARMED: Mutex<Option<(String, u64)>> = Mutex::new(None);

    /// Arms a point: the process aborts, without cleanup, when it reaches the point after passing it `passes` times.
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
