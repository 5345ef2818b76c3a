//! The forms of hidden contracts.

use serde::{Deserialize, Serialize};

use crate::passing::PassingKind;
use crate::seed::Draws;

/// Which demands a contract combines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContractForm {
    /// No hidden demand.
    Plain,
    /// A call that must come first.
    Before,
    /// An exact argument.
    Exact,
    /// A value carried from an earlier result.
    Carried,
    /// A call first and an exact argument.
    BeforeExact,
    /// A call first and a carried value.
    BeforeCarried,
    /// An exact argument and a carried value.
    ExactCarried,
}

impl ContractForm {
    /// The forms with hidden demands, with the weights by which worlds draw them.
    pub const HIDDEN: [(Self, u32); 6] = [
        (Self::Before, 24),
        (Self::Exact, 20),
        (Self::Carried, 20),
        (Self::BeforeExact, 14),
        (Self::BeforeCarried, 10),
        (Self::ExactCarried, 12),
    ];

    /// Draws a form with hidden demands.
    pub fn draw_hidden(draws: &mut Draws) -> Self {
        Self::draw_lasting(None, draws)
    }

    /// Draws a form with hidden demands, none of them of the kind that passing demands have.
    pub fn draw_lasting(passing: Option<PassingKind>, draws: &mut Draws) -> Self {
        let weight = |(form, weight): (Self, u32)| {
            let (before, _, carried) = form.parts();
            match passing {
                Some(PassingKind::Call) if before => 0,
                Some(PassingKind::Value) if carried => 0,
                _ => weight,
            }
        };
        let at = draws.weighted(&Self::HIDDEN.map(weight));
        Self::HIDDEN.get(at).map_or(Self::Exact, |(form, _)| *form)
    }

    /// Whether the form has a call that must come first, an exact argument, a carried value.
    #[must_use]
    pub fn parts(self) -> (bool, bool, bool) {
        match self {
            Self::Plain => (false, false, false),
            Self::Before => (true, false, false),
            Self::Exact => (false, true, false),
            Self::Carried => (false, false, true),
            Self::BeforeExact => (true, true, false),
            Self::BeforeCarried => (true, false, true),
            Self::ExactCarried => (false, true, true),
        }
    }
}
