//! The clock: the only source of time. The SDK's algorithms never read it.

use std::fmt;

use async_trait::async_trait;

use crate::id::Timestamp;

/// Tells the time and waits.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
/// use journeyman::{domain::Timestamp, async_trait, contract::Clock};
///
/// /// The time of a simulation: waiting moves it forward.
/// #[derive(Debug, Default)]
/// struct SimulatedClock(AtomicU64);
///
/// #[async_trait]
/// impl Clock for SimulatedClock {
///     fn now(&self) -> Timestamp {
///         Timestamp(self.0.load(SeqCst))
///     }
///
///     async fn sleep_until(&self, until: Timestamp) {
///         self.0.fetch_max(until.0, SeqCst);
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let clock = SimulatedClock::default();
/// clock.sleep_until(Timestamp(250)).await;
/// assert_eq!(clock.now(), Timestamp(250));
/// # });
/// ```
///
/// # Behavior
/// - *past*: `sleep_until` a moment that has passed returns at once.
/// - *waits*: after `sleep_until(t)`, `now()` is at least `t`.
#[async_trait]
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;

    /// Waits until this moment.
    async fn sleep_until(&self, until: Timestamp);
}
