//! The budget of tokens and cost.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{config::Budget, error::OpenAiError};

/// A number of tokens of a prompt and of written ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// What was used so far, reservations included.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    tokens: u64,
    cost: f64,
}

/// The budget of one connection.
#[derive(Debug)]
pub(crate) struct Ledger {
    budget: Budget,
    used: Mutex<Used>,
}

/// An amount that is set aside for one attempt. Dropped, it stays used: the server may have charged it.
#[derive(Debug)]
pub(crate) struct Reservation {
    ledger: Arc<Ledger>,
    usage: Usage,
}

impl Ledger {
    pub(crate) fn new(budget: Budget) -> Self {
        Self {
            budget,
            used: Mutex::default(),
        }
    }

    fn amount(&self, usage: Usage) -> Used {
        let cost = self.budget.cost.map_or(0.0, |cost| {
            (usage.input as f64 * cost.input_per_million
                + usage.output as f64 * cost.output_per_million)
                / 1e6
        });
        Used {
            tokens: usage.input.saturating_add(usage.output),
            cost,
        }
    }

    /// Sets an amount aside, where the budget covers it.
    pub(crate) fn reserve(self: &Arc<Self>, usage: Usage) -> Result<Reservation, OpenAiError> {
        let wanted = self.amount(usage);
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        let after = Used {
            tokens: used.tokens.saturating_add(wanted.tokens),
            cost: used.cost + wanted.cost,
        };
        if let Some(most) = self.budget.tokens
            && after.tokens > most.get()
        {
            return Err(OpenAiError::Budget {
                what: format!(
                    "it may take {} tokens, and of {most} are {} used",
                    wanted.tokens, used.tokens
                ),
            });
        }
        if let Some(cost) = self.budget.cost
            && after.cost > cost.limit
        {
            return Err(OpenAiError::Budget {
                what: format!(
                    "it may cost {:.6}, and of {} are {:.6} used",
                    wanted.cost, cost.limit, used.cost
                ),
            });
        }
        *used = after;
        Ok(Reservation {
            ledger: self.clone(),
            usage,
        })
    }

    /// The tokens used so far, reservations included.
    pub(crate) fn tokens(&self) -> u64 {
        self.used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .tokens
    }
}

impl Reservation {
    /// Replaces the reserved amount by the one that was used.
    pub(crate) fn settle(self, actual: Usage) {
        let (reserved, actual) = (self.ledger.amount(self.usage), self.ledger.amount(actual));
        let mut used = self
            .ledger
            .used
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        used.tokens = used
            .tokens
            .saturating_sub(reserved.tokens)
            .saturating_add(actual.tokens);
        used.cost = (used.cost - reserved.cost + actual.cost).max(0.0);
    }

    /// Returns the amount after a failure, where the server cannot have charged it: before any text of an answer.
    pub(crate) fn after(self, error: &OpenAiError, has_text: bool) {
        if !has_text
            && matches!(
                error,
                OpenAiError::Connect { .. } | OpenAiError::Status { .. }
            )
        {
            self.settle(Usage::default());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU64;

    use super::*;
    use crate::config::CostLimit;

    fn usage(input: u64, output: u64) -> Usage {
        Usage { input, output }
    }

    #[test]
    fn tokens_are_reserved_before_and_settled_after() {
        let ledger = Arc::new(Ledger::new(Budget {
            tokens: NonZeroU64::new(100),
            cost: None,
        }));
        let first = ledger.reserve(usage(50, 40)).unwrap();
        let refused = ledger.reserve(usage(5, 6)).unwrap_err();
        assert!(
            refused.to_string().contains("of 100 are 90 used"),
            "{refused}"
        );
        first.settle(usage(50, 10));
        assert_eq!(ledger.tokens(), 60);
        let second = ledger.reserve(usage(40, 0)).unwrap();
        let failure = OpenAiError::Connect {
            said: String::new(),
        };
        second.after(&failure, false);
        assert_eq!(ledger.tokens(), 60);
        let text = ledger.reserve(usage(10, 0)).unwrap();
        text.after(&failure, true);
        assert_eq!(ledger.tokens(), 70, "text that came was paid for");
        drop(ledger.reserve(usage(30, 0)).unwrap());
        assert_eq!(ledger.tokens(), 100, "a cut attempt keeps its amount");
    }

    #[test]
    fn cost_is_counted_by_the_price_of_each_side() {
        let ledger = Arc::new(Ledger::new(Budget {
            tokens: None,
            cost: Some(CostLimit {
                limit: 1.0,
                input_per_million: 1.0,
                output_per_million: 10.0,
            }),
        }));
        assert!(ledger.reserve(usage(0, 100_001)).is_err());
        let all = ledger.reserve(usage(0, 100_000)).unwrap();
        assert!(ledger.reserve(usage(1_000, 0)).is_err());
        all.settle(usage(0, 50_000));
        assert!(ledger.reserve(usage(400_000, 0)).is_ok());
    }
}
