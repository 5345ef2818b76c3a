//! A clock that a test moves.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use async_trait::async_trait;

use crate::{contract::Clock, id::Timestamp};

/// A [`Clock`] that a test moves; moving it wakes all waiters.
///
/// ```
/// use journeyman::{domain::Timestamp, contract::Clock, testing::ManualClock};
///
/// let clock = ManualClock::at(Timestamp(1_000));
/// clock.advance(500);
/// assert_eq!(clock.now(), Timestamp(1_500));
/// ```
#[derive(Default)]
pub struct ManualClock {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    now: u64,
    waiting: Vec<Waker>,
}

impl ManualClock {
    /// A clock that stands still at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self {
            state: Mutex::new(State {
                now: now.0,
                waiting: Vec::new(),
            }),
        }
    }

    /// Moves the clock forward by so many milliseconds.
    pub fn advance(&self, milliseconds: u64) {
        let waiting = {
            let mut state = self.lock();
            state.now = state.now.saturating_add(milliseconds);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The number of waiters.
    pub fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.lock();
        f.debug_struct("ManualClock")
            .field("now", &state.now)
            .field("waiting", &state.waiting.len())
            .finish()
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.lock().now)
    }

    async fn sleep_until(&self, until: Timestamp) {
        futures::future::poll_fn(|context| {
            let mut state = self.lock();
            if state.now >= until.0 {
                return Poll::Ready(());
            }
            state.waiting.push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}
