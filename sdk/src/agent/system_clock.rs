//! A clock that reads the system's time.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;

use crate::{contract::Clock, id::Timestamp};

/// A [`Clock`] that reads the system's time once and then counts by the monotonic clock, so that it never jumps. It sleeps
/// by a timer thread of its own, so that it needs no runtime.
///
/// ```
/// use journeyman::{agent::SystemClock, contract::Clock};
///
/// let clock = SystemClock::new();
/// let now = clock.now();
/// futures::executor::block_on(clock.sleep_until(now));
/// assert!(clock.now() >= now);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    started: Timestamp,
    since: Instant,
}

impl SystemClock {
    /// A clock that starts at the system's time.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one part of the SDK that reads the time, for hosts that bring no clock"
    )]
    pub fn new() -> Self {
        // A system time before 1970 counts as 0.
        let started = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Self {
            started: Timestamp(milliseconds(started)),
            since: Instant::now(),
        }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(
            self.started
                .0
                .saturating_add(milliseconds(self.since.elapsed())),
        )
    }

    async fn sleep_until(&self, until: Timestamp) {
        loop {
            let left = until.0.saturating_sub(self.now().0);
            if left == 0 {
                return;
            }
            futures_timer::Delay::new(Duration::from_millis(left)).await;
        }
    }
}
