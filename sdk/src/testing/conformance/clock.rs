//! The conformance suite of [`Clock`].

use futures::{FutureExt, future::join};

use super::report::{Report, Tried, require};
use crate::{contract::Clock, id::Timestamp};

/// How long a case waits, in milliseconds.
const AHEAD: u64 = 30;

/// Maximum duration of a wait for a past time, in milliseconds.
const AT_ONCE: u64 = 250;

/// Checks a clock. For a clock that does not advance by itself, `advance` advances it by a number of milliseconds.
pub async fn check(clock: &dyn Clock, advance: Option<&(dyn Fn(u64) + Sync)>) -> Report {
    let mut report = Report::new("Clock");
    report.case("past", past(clock).await);
    report.case("waits", waits(clock, advance).await);
    report
}

async fn past(clock: &dyn Clock) -> Tried {
    let now = clock.now();
    for until in [Timestamp(0), Timestamp(now.0.saturating_sub(1_000)), now] {
        let before = clock.now();
        clock.sleep_until(until).await;
        let took = clock.now().0.saturating_sub(before.0);
        require(took <= AT_ONCE, || {
            format!(
                "expected `sleep_until` of a past time to return at once, found {took} ms (at most {AT_ONCE} ms)"
            )
        })?;
    }
    Ok(())
}

async fn waits(clock: &dyn Clock, advance: Option<&(dyn Fn(u64) + Sync)>) -> Tried {
    let until = Timestamp(clock.now().0.saturating_add(AHEAD));
    match advance {
        None => clock.sleep_until(until).await,
        Some(advance) => {
            let mut sleep = clock.sleep_until(until);
            let early = (&mut sleep).now_or_never().is_some();
            require(!early, || {
                format!(
                    "expected `sleep_until({until})` to wait, found that it returned before the clock advanced"
                )
            })?;
            join(sleep, async {
                advance(AHEAD / 2);
                advance(AHEAD);
            })
            .await;
        }
    }
    let now = clock.now();
    require(now >= until, || {
        format!(
            "expected the time to be at least {until} after `sleep_until({until})`, found {now}"
        )
    })
}
