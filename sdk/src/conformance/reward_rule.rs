//! The rules of [`RewardRule`].

use super::report::{Report, Tried, contained, require, skip};
use crate::{
    domain::Verdict,
    policy::{RewardRule, checks},
    report::AttemptReport,
};

/// The inputs for checking a reward rule.
#[derive(Clone, Debug)]
pub struct RewardRuleFixture {
    /// Attempts that the rule can reward; at least one.
    pub attempts: Vec<JudgedAttempt>,
}

/// An attempt with its verdict.
#[derive(Clone, Debug)]
pub struct JudgedAttempt {
    /// The attempt, with the built-in reward where there is one.
    pub report: AttemptReport,
    /// The verdict.
    pub verdict: Verdict,
}

/// Checks a reward rule.
///
/// ```
/// use journeyman::{
///     Result,
///     conformance::reward_rule::{JudgedAttempt, RewardRuleFixture, check},
///     domain::Verdict,
///     policy::RewardRule,
///     report::AttemptReport,
///     testing::sample,
/// };
///
/// #[derive(Debug)]
/// struct Priced;
///
/// impl RewardRule for Priced {
///     fn reward(&self, attempt: &AttemptReport, verdict: &Verdict) -> Result<f64> {
///         Ok(verdict.score() - 0.01 * f64::from(attempt.steps))
///     }
/// }
///
/// let attempt = |success| JudgedAttempt {
///     report: sample::attempt_report("run/0/0", &[], success),
///     verdict: Verdict::binary(success),
/// };
/// let fixture = RewardRuleFixture { attempts: vec![attempt(true), attempt(false)] };
/// futures::executor::block_on(check(&Priced, &fixture)).into_result()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub async fn check(rule: &dyn RewardRule, fixture: &RewardRuleFixture) -> Report {
    let mut report = Report::new("RewardRule");
    report.case("repeats", repeats(rule, fixture));
    report.case("finite", finite(rule, fixture));
    report
}

fn reward(rule: &dyn RewardRule, one: &JudgedAttempt) -> Tried<f64> {
    let what = || format!("attempt {}: the rule", one.report.attempt);
    Ok(contained(what, || rule.reward(&one.report, &one.verdict))??)
}

fn repeats(rule: &dyn RewardRule, fixture: &RewardRuleFixture) -> Tried {
    if fixture.attempts.is_empty() {
        return skip("no attempt was given");
    }
    let rewards = fixture.attempts.iter().map(|one| reward(rule, one));
    let rewards: Vec<f64> = rewards.collect::<Tried<_>>()?;
    // In the other order, so that a rule that counts its calls is found out.
    for (one, first) in fixture.attempts.iter().zip(rewards).rev() {
        let second = reward(rule, one)?;
        require(first.to_bits() == second.to_bits(), || {
            format!("attempt {}: {first}, then {second}", one.report.attempt)
        })?;
    }
    Ok(())
}

fn finite(rule: &dyn RewardRule, fixture: &RewardRuleFixture) -> Tried {
    if fixture.attempts.is_empty() {
        return skip("no attempt was given");
    }
    for one in &fixture.attempts {
        let reward = reward(rule, one)?;
        require(checks::finite_reward(reward).is_ok(), || {
            format!("attempt {}: the reward is {reward}", one.report.attempt)
        })?;
    }
    Ok(())
}
