//! Decisions about skills, counted and within their budget of time.

use std::{
    future::Future,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{
    deciding::{Deciding, DecidingPart},
    performer::Performer,
};
use crate::{error::Result, id::Timestamp};

impl Performer {
    /// A performer that counts what a decision costs, and gives retrieval and scoring no more than this time.
    pub(crate) fn deciding(&self, cost: &Deciding, within: Option<Duration>) -> Self {
        let now = self.components.clock.as_ref().map(|clock| clock.now());
        let until = now.zip(within).map(|(now, within)| {
            let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
            Timestamp(now.0.saturating_add(within))
        });
        Self {
            deciding: Some(Deciding {
                spent: Arc::clone(&cost.spent),
                until,
            }),
            ..self.clone()
        }
    }

    /// Runs a decision, and counts what it took.
    pub(crate) async fn decide<T>(&self, decision: impl Future<Output = T>) -> T {
        let before = self.milliseconds_now();
        let decided = decision.await;
        if let Some(deciding) = &self.deciding {
            let took = self.milliseconds_now().saturating_sub(before);
            deciding.spent.took.fetch_add(took, Ordering::Relaxed);
        }
        decided
    }

    /// [`bounded`](Self::bounded) for a part of a decision: within the decision's time too.
    pub(super) async fn bounded_decision<T>(
        &self,
        operation: &'static str,
        (part, limit): (DecidingPart, Duration),
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(deciding) = &self.deciding else {
            return self.bounded(operation, limit, call).await;
        };
        let before = self.milliseconds_now();
        let left = deciding.until.map_or(limit, |until| {
            Duration::from_millis(until.0.saturating_sub(before)).min(limit)
        });
        let answer = self.bounded(operation, left, call).await;
        let took = self.milliseconds_now().saturating_sub(before);
        let counter = match part {
            DecidingPart::Retrieval => &deciding.spent.retrieval,
            DecidingPart::Gate => &deciding.spent.gate,
        };
        counter.fetch_add(took, Ordering::Relaxed);
        answer.map_err(|error| match left < limit {
            true => error
                .hint("the session's budget for a decision (`Options::decide_within`) was used up"),
            false => error,
        })
    }

    fn milliseconds_now(&self) -> u64 {
        let clock = self.components.clock.as_ref();
        clock.map_or(0, |clock| clock.now().0)
    }
}
