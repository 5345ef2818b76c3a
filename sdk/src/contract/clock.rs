//! Time, which the SDK's algorithms never read.

use std::fmt;

use async_trait::async_trait;

use crate::id::Timestamp;

/// Tells the time and waits.
///
/// # Behaviour
/// - *past*: `sleep_until` a moment that has passed returns at once.
/// - *waits*: after `sleep_until(t)`, `now()` is at least `t`.
#[async_trait]
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Waits.
    async fn sleep_until(&self, until: Timestamp);
}
