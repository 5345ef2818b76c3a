//! Rules for the decisions of a host's own policies. Runs check them, and so do the conformance suites.

use std::collections::BTreeSet;

use super::{SkillCredit, View};
use crate::{
    domain::{Selection, SkillRef},
    error::{Error, Result},
    report::AttemptReport,
};

/// Checks that a selection holds offered skills alone.
///
/// # Errors
/// `Invalid`, with the skill.
pub(crate) fn offered(selection: &Selection, view: &View) -> Result<()> {
    let is_offered = |skill: &&SkillRef| {
        let mut offered = view.offered();
        offered.any(|entry| entry.skill.reference() == **skill)
    };
    match selection.skills().iter().find(|skill| !is_offered(skill)) {
        None => Ok(()),
        Some(other) => Err(Error::invalid(
            "SelectProgram::select",
            "it chose a skill that is not offered",
        )
        .with("skill", &other.id)
        .with("version", other.version)
        .hint("choose among `View::offered`")),
    }
}

/// Checks that a reward is finite.
///
/// # Errors
/// `Invalid`.
pub(crate) fn finite_reward(reward: f64) -> Result<()> {
    match reward.is_finite() {
        true => Ok(()),
        false => Err(Error::invalid(
            "RewardRule::reward",
            "the reward is not finite",
        )),
    }
}

/// Checks that credits are finite.
///
/// # Errors
/// `Invalid`, with the skill and the attempt.
pub(crate) fn finite_credits(credits: &[SkillCredit]) -> Result<()> {
    let infinite = credits.iter().find(|credit| !credit.reward.is_finite());
    infinite.map_or(Ok(()), |credit| refused(credit, "the credit is not finite"))
}

/// Checks that each credit is for a skill that the attempt was given, and that none is given twice.
///
/// # Errors
/// `Invalid`, with the skill and the attempt.
pub(crate) fn exposed(credits: &[SkillCredit], group: &[AttemptReport]) -> Result<()> {
    let mut known = BTreeSet::new();
    for credit in credits {
        let given = |one: &AttemptReport| {
            one.attempt == credit.attempt && one.injected.contains(&credit.skill)
        };
        if !group.iter().any(given) {
            return refused(credit, "the attempt was not given this skill");
        }
        if !known.insert((&credit.skill, &credit.attempt)) {
            return refused(credit, "the skill is credited twice for this attempt");
        }
    }
    Ok(())
}

fn refused(credit: &SkillCredit, message: &'static str) -> Result<()> {
    Err(Error::invalid("CreditRule::credits", message)
        .with("skill", &credit.skill.id)
        .with("attempt", &credit.attempt))
}
