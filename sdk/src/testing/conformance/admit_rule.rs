//! The rules of [`AdmitRule`].

use super::report::{Report, Tried, contained, require, skip};
use crate::{
    domain::Skill,
    error::{Error, Result},
    library::SkillLibrary,
    policy::AdmitRule,
};

/// The inputs for checking an admission rule.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub struct AdmitRuleFixture {
    /// A library.
    pub library: SkillLibrary,
    /// Skills that may enter it: at least one, and best some that the rule lets in and some that it refuses.
    pub skills: Vec<Skill>,
}

impl AdmitRuleFixture {
    /// Skills that may enter a library.
    pub fn new(library: SkillLibrary, skills: Vec<Skill>) -> Self {
        Self { library, skills }
    }
}

/// Checks an admission rule.
///
/// ```
/// use journeyman::{
///     Error, Result,
///     testing::conformance::admit_rule::{AdmitRuleFixture, check},
///     domain::Skill,
///     library::SkillLibrary,
///     policy::AdmitRule,
///     testing::sample,
/// };
///
/// #[derive(Debug)]
/// struct Short;
///
/// impl AdmitRule for Short {
///     fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
///         match skill.body.len() <= 2_000 {
///             true => Ok(()),
///             false => Err(Error::invalid("shop", "the skill is too long for our prompts")),
///         }
///     }
/// }
///
/// let long = sample::skill("saying").with_body("Say it. ".repeat(300));
/// let fixture = AdmitRuleFixture::new(SkillLibrary::new(), vec![sample::skill("singing"), long]);
/// futures::executor::block_on(check(&Short, &fixture)).into_result()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub async fn check(rule: &dyn AdmitRule, fixture: &AdmitRuleFixture) -> Report {
    let mut report = Report::new("AdmitRule");
    report.case("repeats", repeats(rule, fixture));
    report
}

fn repeats(rule: &dyn AdmitRule, fixture: &AdmitRuleFixture) -> Tried {
    if fixture.skills.is_empty() {
        return skip("no skill was given");
    }
    let admit = |skill: &Skill| {
        let what = || format!("{}: the rule", skill.name);
        contained(what, || rule.admit(&fixture.library, skill))
    };
    let first: Vec<Result<()>> = fixture.skills.iter().map(admit).collect::<Tried<_>>()?;
    // In the other order, so that a rule that counts its calls is found out.
    for (skill, first) in fixture.skills.iter().zip(first).rev() {
        let second = admit(skill)?;
        require(first == second, || {
            let told = |decision: &Result<()>| match decision {
                Ok(()) => "let in".to_owned(),
                Err(error) => Error::to_string(error),
            };
            format!("{}: {}, then {}", skill.name, told(&first), told(&second))
        })?;
    }
    Ok(())
}
