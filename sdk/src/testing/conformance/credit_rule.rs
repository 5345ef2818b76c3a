//! The rules of [`CreditRule`].

use super::report::{Report, Shortfall, Tried, contained, require, skip};
use crate::{
    error::Result,
    policy::{CreditRule, GroupAttempt, SkillCredit, checks},
};

/// The inputs for checking a credit rule.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct CreditRuleFixture {
    /// Groups of attempts, each at one task; at least one with attempts that were given skills and that the rule credits.
    pub groups: Vec<Vec<GroupAttempt>>,
}

impl CreditRuleFixture {
    /// Groups of attempts.
    pub fn new(groups: Vec<Vec<GroupAttempt>>) -> Self {
        Self { groups }
    }
}

/// Checks a credit rule.
///
/// ```
/// use journeyman::{
///     Result,
///     testing::conformance::credit_rule::{CreditRuleFixture, check},
///     policy::{CreditRule, GroupAttempt, SkillCredit},
///     testing::sample,
/// };
///
/// /// Credits the first skill of each attempt with its score.
/// #[derive(Debug)]
/// struct First;
///
/// impl CreditRule for First {
///     fn credits(&self, group: &[GroupAttempt]) -> Result<Vec<SkillCredit>> {
///         let credit = |one: &GroupAttempt| {
///             let skill = one.report.injected.first()?.clone();
///             Some(SkillCredit::new(skill, one.report.attempt.clone(), one.report.score))
///         };
///         Ok(group.iter().filter_map(credit).collect())
///     }
/// }
///
/// let skills = [sample::skill("saying"), sample::skill("singing")];
/// let group = vec![
///     GroupAttempt::new(sample::attempt_report("run/0/0", &skills, true)),
///     GroupAttempt::new(sample::attempt_report("run/0/1", &skills[1..], false)),
/// ];
/// let fixture = CreditRuleFixture::new(vec![group]);
/// futures::executor::block_on(check(&First, &fixture)).into_result()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub async fn check(rule: &dyn CreditRule, fixture: &CreditRuleFixture) -> Report {
    let mut report = Report::new("CreditRule");
    report.case("repeats", repeats(rule, fixture));
    report.case("exposed", each(rule, fixture, checks::exposed));
    report.case("uses", each(rule, fixture, checks::counted));
    let finite = |credits: &[SkillCredit], _: &[GroupAttempt]| checks::finite_credits(credits);
    report.case("finite", each(rule, fixture, finite));
    report
}

fn credits(rule: &dyn CreditRule, group: &[GroupAttempt]) -> Tried<Vec<SkillCredit>> {
    let first = group.first().map(|one| one.report.attempt.as_str());
    let what = || {
        let first = first.unwrap_or("without attempts");
        format!("group of {first}: the rule")
    };
    Ok(contained(what, || rule.credits(group))??)
}

fn repeats(rule: &dyn CreditRule, fixture: &CreditRuleFixture) -> Tried {
    let groups = fixture.groups.iter().map(|group| credits(rule, group));
    let groups: Vec<_> = groups.collect::<Tried<_>>()?;
    if groups.is_empty() {
        return skip("no group was given");
    }
    // In the other order, so that a rule that counts its calls is found out.
    for (group, first) in fixture.groups.iter().zip(groups).rev() {
        let second = credits(rule, group)?;
        // As text, in which a number that is not finite equals itself.
        let (first, second) = (format!("{first:?}"), format!("{second:?}"));
        require(first == second, || format!("{first}, then {second}"))?;
    }
    Ok(())
}

/// Holds a rule against the credits of each group.
fn each(
    rule: &dyn CreditRule,
    fixture: &CreditRuleFixture,
    holds: impl Fn(&[SkillCredit], &[GroupAttempt]) -> Result<()>,
) -> Tried {
    let mut count = 0;
    for group in &fixture.groups {
        let credits = credits(rule, group)?;
        count += credits.len();
        holds(&credits, group).map_err(|error| Shortfall::Failed(error.to_string()))?;
    }
    match count {
        0 => skip("the rule credits no skill for the groups that were given"),
        _ => Ok(()),
    }
}
