//! The rules of [`RewardRule`].

use super::report::{Report, Tried, contained, require, skip};
use crate::{
    domain::Verdict,
    policy::{JudgedAttempt, RewardRule, checks},
    run::report::AttemptReport,
};

/// The inputs for checking a reward rule.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct RewardRuleFixture {
    /// Attempts that the rule can reward; at least one.
    pub attempts: Vec<AttemptWithVerdict>,
}

impl RewardRuleFixture {
    /// Attempts that the rule can reward.
    pub fn new(attempts: Vec<AttemptWithVerdict>) -> Self {
        Self { attempts }
    }
}

/// An attempt with its verdict.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AttemptWithVerdict {
    /// The attempt; the rule gets it without a reward, as one after the warm-up that used a skill if one was injected.
    pub report: AttemptReport,
    /// The verdict.
    pub verdict: Verdict,
}

impl AttemptWithVerdict {
    /// An attempt with its verdict.
    pub fn new(report: AttemptReport, verdict: Verdict) -> Self {
        Self { report, verdict }
    }
}

/// Checks a reward rule.
///
/// ```
/// use journeyman::{
///     Result,
///     testing::conformance::reward_rule::{AttemptWithVerdict, RewardRuleFixture, check},
///     domain::Verdict,
///     policy::{RewardRule, JudgedAttempt},
///     testing::sample,
/// };
///
/// #[derive(Debug)]
/// struct Priced;
///
/// impl RewardRule for Priced {
///     fn reward(&self, attempt: &JudgedAttempt<'_>) -> Result<Option<f64>> {
///         Ok(Some(attempt.verdict.score() - 0.01 * f64::from(attempt.report.steps)))
///     }
/// }
///
/// let attempt = |success| {
///     AttemptWithVerdict::new(sample::attempt_report("run/0/0", &[], success), Verdict::binary(success))
/// };
/// let fixture = RewardRuleFixture::new(vec![attempt(true), attempt(false)]);
/// futures::executor::block_on(check(&Priced, &fixture)).into_result()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub async fn check(rule: &dyn RewardRule, fixture: &RewardRuleFixture) -> Report {
    let mut report = Report::new("RewardRule");
    report.case("repeats", repeats(rule, fixture));
    report.case("finite", finite(rule, fixture));
    report
}

fn reward(rule: &dyn RewardRule, one: &AttemptWithVerdict) -> Tried<Option<f64>> {
    let what = || format!("attempt {}: the rule", one.report.attempt);
    let report = AttemptReport {
        reward: None,
        ..one.report.clone()
    };
    let attempt = JudgedAttempt::new(&report, &one.verdict);
    Ok(contained(what, || rule.reward(&attempt))??)
}

fn repeats(rule: &dyn RewardRule, fixture: &RewardRuleFixture) -> Tried {
    if fixture.attempts.is_empty() {
        return skip("no attempt was given");
    }
    let rewards = fixture.attempts.iter().map(|one| reward(rule, one));
    let rewards: Vec<Option<f64>> = rewards.collect::<Tried<_>>()?;
    // In the other order, so that a rule that counts its calls is found out.
    for (one, first) in fixture.attempts.iter().zip(rewards).rev() {
        let second = reward(rule, one)?;
        require(first.map(f64::to_bits) == second.map(f64::to_bits), || {
            format!("attempt {}: {first:?}, then {second:?}", one.report.attempt)
        })?;
    }
    Ok(())
}

fn finite(rule: &dyn RewardRule, fixture: &RewardRuleFixture) -> Tried {
    if fixture.attempts.is_empty() {
        return skip("no attempt was given");
    }
    let mut rewarded = false;
    for one in &fixture.attempts {
        let Some(reward) = reward(rule, one)? else {
            continue;
        };
        rewarded = true;
        require(checks::finite_reward(reward).is_ok(), || {
            format!("attempt {}: the reward is {reward}", one.report.attempt)
        })?;
    }
    match rewarded {
        true => Ok(()),
        false => skip("the rule rewards none of the attempts that were given"),
    }
}
