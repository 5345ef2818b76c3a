//! When a failed request is sent again.

use std::time::Duration;

use journeyman::Seed;
use tokio::time::{Instant, sleep};

use crate::{config::Retries, error::OpenAiError};

/// The end of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    pub(crate) at: Instant,
    /// Its length, for errors.
    pub(crate) limit: Duration,
}

impl Deadline {
    pub(crate) fn after(limit: Duration) -> Self {
        Self {
            at: Instant::now() + limit,
            limit,
        }
    }
}

/// The attempts of one call.
#[derive(Debug)]
pub(crate) struct Attempts {
    retries: Retries,
    seed: Seed,
    /// The number of attempts so far, the present one included.
    pub(crate) made: u32,
    deadline: Deadline,
}

impl Attempts {
    /// `call` makes the waits of one call differ from those of others.
    pub(crate) fn new(retries: Retries, call: u64, deadline: Deadline) -> Self {
        Self {
            retries,
            seed: retries.seed.derive("call", call),
            made: 1,
            deadline,
        }
    }

    /// Waits for the next attempt; returns the error where there is none.
    pub(crate) async fn again(&mut self, error: OpenAiError) -> Result<(), OpenAiError> {
        if !error.may_pass() || self.made >= self.retries.attempts.get() {
            return Err(error);
        }
        let wait = self.drawn().max(error.retry_after().unwrap_or_default());
        // Waiting past the deadline would hide why the request failed.
        if self.deadline.at.duration_since(Instant::now()) <= wait {
            return Err(error);
        }
        tracing::debug!(attempt = self.made, ?wait, %error, "the request is sent again");
        sleep(wait).await;
        self.made += 1;
        Ok(())
    }

    /// Full jitter: uniform between zero and a bound that doubles with each attempt.
    fn drawn(&self) -> Duration {
        let doubled = 1_u32.checked_shl(self.made - 1).unwrap_or(u32::MAX);
        let most = self.retries.first_wait.saturating_mul(doubled);
        most.min(self.retries.longest_wait)
            .mul_f64(self.seed.derive("wait", self.made.into()).unit())
    }
}

/// The wait that a `Retry-After` header asks for: seconds, or a date (RFC 9110, 10.2.3). `now` is the server's own date,
/// where it sent one, since its clock may differ.
pub(crate) fn retry_after(header: &str, now: Option<&str>) -> Option<Duration> {
    if let Ok(seconds) = header.trim().parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let until = httpdate::parse_http_date(header.trim()).ok()?;
    let now = now.and_then(|now| httpdate::parse_http_date(now.trim()).ok());
    let now = now.unwrap_or_else(std::time::SystemTime::now);
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        let seconds = |text| retry_after(text, now).map(|wait| wait.as_secs());
        assert_eq!(seconds("7"), Some(7));
        assert_eq!(seconds(" 7 "), Some(7));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:50:00 GMT"), Some(23));
        assert_eq!(seconds("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        assert_eq!(seconds("soon"), None);
        assert_eq!(seconds("-3"), None);
    }

    #[test]
    fn waits_are_drawn_below_a_bound_that_doubles() {
        let retries = Retries::default();
        let deadline = Deadline::after(Duration::from_secs(60));
        for call in 0..50 {
            let mut attempts = Attempts::new(retries, call, deadline);
            for made in 1..60 {
                attempts.made = made;
                let most = retries
                    .first_wait
                    .mul_f64(2_f64.powi(made as i32 - 1).min(1e3));
                assert!(attempts.drawn() <= most.min(retries.longest_wait));
            }
            let same = Attempts::new(retries, call, deadline);
            attempts.made = 1;
            assert_eq!(attempts.drawn(), same.drawn());
        }
    }
}
