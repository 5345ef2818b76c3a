//! The credits of a group, for the moving average of utility (ARISE C.2 Update, algorithm 1 line 15; row A6).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    domain::SkillRef,
    error::{Error, Result},
    id::AttemptId,
    policy::{CreditRule, GroupAttempt, PolicyOptions, SkillCredit},
};

/// Gives each skill of a group one credit, with the mean reward of the attempts that get credit for it: the credit rule `step`.
///
/// The credits are in the order of the skills and name the group's first attempt, with or without a verdict, so that a group that
/// is credited again counts once. The mean is taken in the order of the group. An attempt without a reward gives no credit.
///
/// ```
/// use journeyman::{
///     stations::credit::PerStep,
///     policy::{CreditRule, GroupAttempt},
///     testing::sample,
/// };
///
/// let skill = [sample::skill("open-jar")];
/// let attempt = |id, success| GroupAttempt::new(sample::attempt_report(id, &skill, success));
/// let credits = PerStep.credits(&[attempt("1", true), attempt("2", false)])?;
/// assert_eq!((credits.len(), credits[0].attempt.as_str()), (1, "1"));
/// assert_eq!((credits[0].reward, credits[0].uses), (0.5, 2));
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PerStep;

/// Gives a skill one credit for each attempt that gets credit for it, with the attempt's reward: the credit rule `rollout`.
///
/// The credits are in the order of the group, then of the skills, and name their attempt. An attempt without a reward gives no
/// credit.
///
/// ```
/// use journeyman::{
///     stations::credit::PerRollout,
///     policy::{CreditRule, GroupAttempt},
///     testing::sample,
/// };
///
/// let skill = [sample::skill("open-jar")];
/// let attempt = |id, success| GroupAttempt::new(sample::attempt_report(id, &skill, success));
/// let credits = PerRollout.credits(&[attempt("1", true), attempt("2", false)])?;
/// let rewards: Vec<f64> = credits.iter().map(|credit| credit.reward).collect();
/// assert_eq!(rewards, [1.0, 0.0]);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PerRollout;

impl PolicyOptions for PerStep {
    const NAME: &'static str = "step";
}

impl PolicyOptions for PerRollout {
    const NAME: &'static str = "rollout";
}

impl CreditRule for PerStep {
    /// # Errors
    /// `Invalid` if a reward is not finite.
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        let Some(first) = group.first() else {
            return Ok(Vec::new());
        };
        let mut totals: BTreeMap<&SkillRef, (f64, u64)> = BTreeMap::new();
        for (skill, _, reward) in rewarded(group)? {
            let (mean, count) = totals.entry(skill).or_default();
            *count += 1;
            // A running mean stays between the least and the greatest reward: no sum to overflow.
            *mean += (reward - *mean) / *count as f64;
        }
        let credit = |(skill, (mean, count))| credit(skill, &first.report.attempt, mean, count);
        Ok(totals.into_iter().map(credit).collect())
    }
}

impl CreditRule for PerRollout {
    /// # Errors
    /// `Invalid` if a reward is not finite.
    fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
        let rewarded = rewarded(group)?.into_iter();
        let credit = |(skill, attempt, reward)| credit(skill, attempt, reward, 1);
        Ok(rewarded.map(credit).collect())
    }
}

/// Each skill that gets credit for an attempt, with the attempt and its reward, in the order of the group; a skill that is named
/// twice counts once.
///
/// # Errors
/// `Invalid` if a reward is not finite.
fn rewarded(group: &[GroupAttempt]) -> Result<Vec<(&SkillRef, &AttemptId, f64)>> {
    let mut rewarded = Vec::new();
    for member in group {
        let Some(reward) = member.report.reward else {
            continue;
        };
        let attempt = &member.report.attempt;
        if !reward.is_finite() {
            return Err(
                Error::invalid("CreditRule::credits", "the reward is not a finite number")
                    .with("attempt", attempt),
            );
        }
        let credited: BTreeSet<&SkillRef> = member.credited.iter().collect();
        let credited = credited.into_iter();
        rewarded.extend(credited.map(|skill| (skill, attempt, reward)));
    }
    Ok(rewarded)
}

fn credit(skill: &SkillRef, attempt: &AttemptId, reward: f64, uses: u64) -> SkillCredit {
    SkillCredit {
        skill: skill.clone(),
        attempt: attempt.clone(),
        reward,
        uses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Version, testing::sample};

    const RULES: [&dyn CreditRule; 2] = [&PerStep, &PerRollout];

    fn skill(id: &str) -> SkillRef {
        SkillRef {
            id: id.into(),
            version: Version(1),
        }
    }

    fn attempt(id: &str, credited: &[&str], reward: Option<f64>) -> GroupAttempt {
        let mut report = sample::attempt_report(id, &[], true);
        report.reward = reward;
        GroupAttempt {
            report,
            credited: credited.iter().map(|id| skill(id)).collect(),
            contributed: Vec::new(),
        }
    }

    /// Each expected credit as (skill, attempt, reward, uses).
    fn check(rule: &dyn CreditRule, group: &[GroupAttempt], expect: &[(&str, &str, f64, u64)]) {
        let expect: Vec<_> = expect
            .iter()
            .map(|(id, attempt, reward, uses)| {
                credit(&skill(id), &(*attempt).into(), *reward, *uses)
            })
            .collect();
        assert_eq!(rule.credits(group).unwrap(), expect);
    }

    #[test]
    fn once_a_step_with_the_mean_of_those_given_the_skill() {
        let group = [
            attempt("a1", &["y"], Some(2.0)),
            attempt("a2", &["x"], Some(0.0)),
            attempt("a3", &[], Some(1.0)),
            attempt("a4", &["y"], Some(0.0)),
            attempt("a5", &["y"], None),
        ];
        check(
            &PerStep,
            &group,
            &[("x", "a1", 0.0, 1), ("y", "a1", 1.0, 2)],
        );
    }

    #[test]
    fn once_a_rollout_with_its_own_reward() {
        let group = [
            attempt("a1", &["y"], Some(2.0)),
            attempt("a2", &["y", "x", "y"], Some(0.0)),
            attempt("a3", &["x"], None),
        ];
        check(
            &PerRollout,
            &group,
            &[
                ("y", "a1", 2.0, 1),
                ("x", "a2", 0.0, 1),
                ("y", "a2", 0.0, 1),
            ],
        );
    }

    #[test]
    fn nothing_to_credit() {
        for rule in RULES {
            check(rule, &[], &[]);
            check(rule, &[attempt("a1", &["x"], None)], &[]);
            check(rule, &[attempt("a1", &[], Some(1.0))], &[]);
        }
    }

    #[test]
    fn a_reward_must_be_finite() {
        for reward in [f64::NAN, f64::INFINITY] {
            let group = [attempt("a1", &["x"], Some(reward))];
            for rule in RULES {
                assert!(rule.credits(&group).is_err());
            }
        }
    }

    #[test]
    fn a_step_is_keyed_by_the_group_even_when_its_first_has_no_verdict() {
        let group = [
            attempt("a1", &["x"], None),
            attempt("a2", &["x"], Some(2.0)),
        ];
        check(&PerStep, &group, &[("x", "a1", 2.0, 1)]);
    }
}
