//! The true effect of a skill on an attempt.

use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::simulate::Outcome;
use crate::tool::Demand;

/// The effect of a skill on an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Credit {
    /// The agent followed the skill, no refusal contradicted it, and the task was done.
    Helpful,
    /// The agent followed the skill, and a refusal named another call, value or source than the skill does, or a tool
    /// that it calls does not exist any more; or the skill is about another tool. Help by another part of the skill
    /// does not count.
    Harmful,
    /// The agent did not follow the skill, or the skill adds nothing to the task and the tools.
    Neutral,
    /// The agent followed the skill, the task was not done, and no refusal contradicted the skill.
    Uncertain,
}

impl Credit {
    /// The word that the model writes.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Helpful => "helpful",
            Self::Harmful => "harmful",
            Self::Neutral => "neutral",
            Self::Uncertain => "uncertain",
        }
    }
}

/// The true effect of a skill on an attempt.
pub(super) fn credit_of(scene: &Scene, asked: usize) -> Option<Credit> {
    let advised = &scene.advice.get(asked)?.service;
    let target = scene.world.target()?;
    if scene.used != Some(asked) {
        return Some(Credit::Neutral);
    }
    if advised.tool.name != target.tool.name {
        return Some(Credit::Harmful);
    }
    let stale = |demand: &&Demand| !target.contract.contains(demand);
    let mut contradictions = advised.contract.iter().filter(stale);
    let refused = |wanted: &Demand| {
        scene.exchanges.iter().any(|exchange| {
            let Outcome::Refused(refusal) = &exchange.reply.outcome else {
                return false;
            };
            match (refusal, wanted) {
                (Refusal::NeedsCall(_), Demand::Before(_)) => true,
                (Refusal::NeedsValue(now), Demand::Exact(old)) => now.parameter == old.parameter,
                (
                    Refusal::NeedsResult { parameter: now, .. },
                    Demand::Carried { parameter, .. },
                ) => now == parameter,
                (Refusal::UnknownTool(gone), wanted) => Some(gone) == wanted.helper(),
                _ => false,
            }
        })
    };
    Some(if !advised.is_hidden() {
        Credit::Neutral
    } else if contradictions.any(refused) {
        Credit::Harmful
    } else if scene.is_done() {
        Credit::Helpful
    } else {
        Credit::Uncertain
    })
}
