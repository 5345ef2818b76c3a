//! The ways to choose a skill that the quickstart compares.

use clap::ValueEnum;
use journeyman::{
    domain::ScoreKind,
    policy::Policy,
    recipe::{self, Recipe},
    stations::select::{First, GatePolicy, Nothing, Random},
};

/// How a skill is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// By pointwise mutual information: log p(skill given query) - log p(skill).
    Pmi,
    /// By the mean log-probability of the skill's tokens.
    Mean,
    /// By their sum.
    Sum,
    /// The retriever's best, always.
    Bm25,
    /// Any, at random.
    Random,
    /// None.
    None,
}

/// The recipe `standard` with this choice. Without the gate the best candidate is injected whatever its score; with it, PMI has
/// our absolute threshold, and the paper's two scores the paper's relative one.
pub fn standard(choice: Choice, gated: bool) -> Recipe {
    let mut recipe = recipe::standard();
    recipe.select.selector = selector(choice, gated);
    recipe
}

fn selector(choice: Choice, gated: bool) -> Policy {
    let mut policy = match choice {
        Choice::Bm25 => return First.into(),
        Choice::Random => return Random.into(),
        Choice::None => return Nothing.into(),
        Choice::Pmi => GatePolicy::default(),
        Choice::Mean | Choice::Sum => GatePolicy::paper(),
    };
    if choice == Choice::Mean {
        policy.score = ScoreKind::Mean;
    }
    policy.epsilon = 0.0;
    if !gated {
        policy.relative = None;
        policy.absolute = None;
    }
    policy.into()
}
