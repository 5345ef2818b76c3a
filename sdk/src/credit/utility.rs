//! The credits of a group, for the moving average of utility (ARISE C.2 Update, algorithm 1 line 15; row A6).

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{LibraryChange, SkillRef},
    error::{Error, Result},
    id::AttemptId,
};

/// How many credits a skill gets from a group of attempts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CreditPer {
    /// One, with the mean reward of the attempts that were given the skill.
    #[default]
    Step,
    /// One for each attempt that was given the skill, with the attempt's reward.
    Rollout,
}

/// One attempt of a group: the skills that it was given, and its reward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupAttempt {
    /// The attempt.
    pub attempt: AttemptId,
    /// The skills that it was given; one that is named twice counts once.
    pub exposed: Vec<SkillRef>,
    /// Its reward, finite; `None` without a verdict, and the attempt then gives no credit.
    pub reward: Option<f64>,
}

/// The credits of a group, each a [`LibraryChange::Credit`].
///
/// Those of [`CreditPer::Rollout`] are in the order of the group, then of the skills, and name their attempt. Those of
/// [`CreditPer::Step`] are in the order of the skills and name the group's first attempt, with or without a verdict, so
/// that a group that is credited again counts once. The mean is taken in the order of the group.
///
/// # Errors
/// `Invalid` if a reward is not finite.
///
/// ```
/// use journeyman::{
///     Version,
///     credit::{CreditPer, GroupAttempt, credits},
///     domain::{LibraryChange, SkillRef},
/// };
///
/// let skill = SkillRef { id: "open-jar".into(), version: Version(1) };
/// let attempt = |id: &str, reward| GroupAttempt {
///     attempt: id.into(),
///     exposed: vec![skill.clone()],
///     reward: Some(reward),
/// };
/// let group = [attempt("1", 2.0), attempt("2", 0.0)];
/// let credit = LibraryChange::Credit {
///     skill: skill.clone(),
///     attempt: "1".into(),
///     reward: 1.0,
///     uses: 2,
/// };
/// assert_eq!(credits(CreditPer::Step, &group)?, [credit]);
/// assert_eq!(credits(CreditPer::Rollout, &group)?.len(), 2);
/// # Ok::<(), journeyman::Error>(())
/// ```
pub fn credits(per: CreditPer, group: &[GroupAttempt]) -> Result<Vec<LibraryChange>> {
    let mut rewarded = Vec::new();
    for member in group {
        let Some(reward) = member.reward else {
            continue;
        };
        if !reward.is_finite() {
            return Err(
                Error::invalid("credit::credits", "the reward is not a finite number")
                    .with("attempt", &member.attempt),
            );
        }
        let exposed: BTreeSet<&SkillRef> = member.exposed.iter().collect();
        rewarded.extend(
            exposed
                .into_iter()
                .map(|skill| (skill, &member.attempt, reward)),
        );
    }
    Ok(match per {
        CreditPer::Rollout => rewarded
            .into_iter()
            .map(|(skill, attempt, reward)| credit(skill, attempt, reward, 1))
            .collect(),
        CreditPer::Step => means(&rewarded, group),
    })
}

/// One credit for each skill, with the mean of its rewards.
fn means(rewarded: &[(&SkillRef, &AttemptId, f64)], group: &[GroupAttempt]) -> Vec<LibraryChange> {
    let Some(first) = group.first() else {
        return Vec::new();
    };
    let mut totals: BTreeMap<&SkillRef, (f64, u64)> = BTreeMap::new();
    for (skill, _, reward) in rewarded {
        let (mean, count) = totals.entry(skill).or_default();
        *count += 1;
        // A running mean stays between the least and the greatest reward: no sum to overflow.
        *mean += (reward - *mean) / *count as f64;
    }
    totals
        .into_iter()
        .map(|(skill, (mean, count))| credit(skill, &first.attempt, mean, count))
        .collect()
}

fn credit(skill: &SkillRef, attempt: &AttemptId, reward: f64, uses: u64) -> LibraryChange {
    LibraryChange::Credit {
        skill: skill.clone(),
        attempt: attempt.clone(),
        reward,
        uses,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Version;

    fn skill(id: &str) -> SkillRef {
        SkillRef {
            id: id.into(),
            version: Version(1),
        }
    }

    fn attempt(id: &str, exposed: &[&str], reward: Option<f64>) -> GroupAttempt {
        GroupAttempt {
            attempt: id.into(),
            exposed: exposed.iter().map(|id| skill(id)).collect(),
            reward,
        }
    }

    /// Each expected credit as (skill, attempt, reward, uses).
    fn check(per: CreditPer, group: &[GroupAttempt], expect: &[(&str, &str, f64, u64)]) {
        let expect: Vec<_> = expect
            .iter()
            .map(|(id, attempt, reward, uses)| {
                credit(&skill(id), &(*attempt).into(), *reward, *uses)
            })
            .collect();
        assert_eq!(credits(per, group).unwrap(), expect);
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
            CreditPer::Step,
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
            CreditPer::Rollout,
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
        for per in [CreditPer::Step, CreditPer::Rollout] {
            check(per, &[], &[]);
            check(per, &[attempt("a1", &["x"], None)], &[]);
            check(per, &[attempt("a1", &[], Some(1.0))], &[]);
        }
    }

    #[test]
    fn a_reward_must_be_finite() {
        for reward in [f64::NAN, f64::INFINITY] {
            let group = [attempt("a1", &["x"], Some(reward))];
            assert!(credits(CreditPer::Step, &group).is_err());
        }
    }

    #[test]
    fn a_step_is_keyed_by_the_group_even_when_its_first_has_no_verdict() {
        let group = [
            attempt("a1", &["x"], None),
            attempt("a2", &["x"], Some(2.0)),
        ];
        check(CreditPer::Step, &group, &[("x", "a1", 2.0, 1)]);
    }
}
