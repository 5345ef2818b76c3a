//! What a decision about skills costs, and its budget of time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::id::Timestamp;

/// What the decisions about an attempt's skills took, by the host's clock.
///
/// ```
/// use std::{sync::Arc, time::Duration};
///
/// use journeyman::prelude::*;
///
/// # futures::executor::block_on(async {
/// // Without a clock nothing is measured.
/// let parts = Components::own_loop().with_clock(Arc::new(SystemClock::new()));
/// let session = Journeyman::open(parts, recipe::standard(), Options::new("desk", Seed(7))).await?;
/// let attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
/// assert!(attempt.decision_cost().took < Duration::from_secs(60));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionCost {
    /// From the beginning to the decision, over all turns.
    pub took: Duration,
    /// Searching the library and embedding for it. Of searches beside each other it is the sum.
    pub retrieval: Duration,
    /// Scoring the candidates. Of several beside each other it is the sum.
    pub gate: Duration,
}

/// The parts of a decision that take time.
#[derive(Clone, Copy, Debug)]
pub(super) enum DecidingPart {
    Retrieval,
    Gate,
}

/// The milliseconds that decisions took.
#[derive(Debug, Default)]
pub(super) struct Spent {
    pub(super) took: AtomicU64,
    pub(super) retrieval: AtomicU64,
    pub(super) gate: AtomicU64,
}

/// The cost of an attempt's decisions so far; clones count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deciding {
    pub(super) spent: Arc<Spent>,
    /// When the decision has to be made.
    pub(super) until: Option<Timestamp>,
}

impl Deciding {
    /// The cost so far.
    pub(crate) fn cost(&self) -> DecisionCost {
        let read = |of: &AtomicU64| Duration::from_millis(of.load(Ordering::Relaxed));
        DecisionCost {
            took: read(&self.spent.took),
            retrieval: read(&self.spent.retrieval),
            gate: read(&self.spent.gate),
        }
    }

    /// Another one, which has cost as much.
    pub(crate) fn apart(&self) -> Self {
        let copy = |of: &AtomicU64| AtomicU64::new(of.load(Ordering::Relaxed));
        Self {
            spent: Arc::new(Spent {
                took: copy(&self.spent.took),
                retrieval: copy(&self.spent.retrieval),
                gate: copy(&self.spent.gate),
            }),
            until: None,
        }
    }
}
