//! Builds the policies that a recipe names, out of the host's registry and the built-in one.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    error::{Error, Result},
    policy::{Policies, PolicyOptions, ResolvedPolicies, named::checked_options},
    recipe::{Recipe, programs::with_our_programs},
    stations::{
        credit::{PerRollout, PerStep},
        propose::{Curate, Extract, Summarize},
        reward::{LevelReward, ProcessReward},
        select::{BankSelector, First, GatePolicy, Nothing, Random, Top},
    },
};

/// A host's registry with our policies beside its own.
///
/// # Errors
/// `Invalid` where two policies of one kind have the same name.
pub(crate) fn with_ours(host: &Policies) -> Result<Policies> {
    host.with_ours(ours)
}

impl Recipe {
    /// Builds every policy that the recipe names, ours and those of the host's registry, and checks that this build has what the
    /// recipe needs.
    ///
    /// # Errors
    /// `NotFound` for one that is not registered, listing those that are; the error of one that cannot be built, such as
    /// `Invalid` for the options of another policy; `Invalid` where two policies of one kind have the same name, and for a selector
    /// that does not go with the recipe's ranking, or a reward rule that needs an assessment where the recipe has none; `Panicked`
    /// for a policy that panics when it is built or asked what it needs; `Unsupported` for a recipe that assesses
    /// ([`Recipe::assess`]) without the feature `clustering`.
    pub fn resolve(&self, policies: &Policies) -> Result<ResolvedPolicies> {
        self.supported(cfg!(feature = "clustering"))?;
        let policies = with_ours(policies)?;
        let selector = policies.selector(&self.select.selector)?;
        self.select.check(selector.as_ref())?;
        let reward = policies.reward(&self.reward.by)?;
        if self.assess.is_none() && reward.needs_assessment() {
            let message = "the reward rule reads the process score of an assessment: set `assess`, or have another reward";
            return Err(Error::invalid("Recipe::resolve", message)
                .with("field", "reward.by")
                .with("rule", &self.reward.by.name));
        }
        let rules = self.admit.rules.iter();
        let admission = rules.map(|rule| policies.admission(rule));
        let programs = self.scheduled()?.into_iter().map(|scheduled| {
            let program = policies.program(&scheduled.program)?;
            Ok((scheduled, program))
        });
        Ok(ResolvedPolicies {
            selector,
            writer: policies.writer(&self.write.by)?,
            reward,
            credit: policies.credit(&self.credit.by)?,
            admission: admission.collect::<Result<_>>()?,
            programs: programs.collect::<Result<_>>()?,
        })
    }

    /// Whether a build that clusters subgoals, or one that cannot, has what the recipe needs.
    fn supported(&self, clusters: bool) -> Result<()> {
        if clusters || self.assess.is_none() {
            return Ok(());
        }
        let message =
            "the recipe assesses attempts, and this build cannot cluster what is assessed";
        Err(Error::unsupported("Recipe::resolve", message).hint(
            "switch on the feature `clustering` of `journeyman`, or take a recipe without `assess`",
        ))
    }
}

/// The registry of our policies. All but the maintenance programs are their own options.
pub(super) fn ours() -> Policies {
    with_our_programs(Policies::new())
        .with_selector(GatePolicy::NAME, |options| Ok(make::<GatePolicy>(options)?))
        .with_selector(BankSelector::NAME, |options| {
            Ok(make::<BankSelector>(options)?)
        })
        .with_selector(First::NAME, |options| Ok(make::<First>(options)?))
        .with_selector(Top::NAME, |options| Ok(make::<Top>(options)?))
        .with_selector(Random::NAME, |options| Ok(make::<Random>(options)?))
        .with_selector(Nothing::NAME, |options| Ok(make::<Nothing>(options)?))
        .with_writer(Summarize::NAME, |options| Ok(make::<Summarize>(options)?))
        .with_writer(Extract::NAME, |options| Ok(make::<Extract>(options)?))
        .with_writer(Curate::NAME, |options| Ok(make::<Curate>(options)?))
        .with_reward(LevelReward::NAME, |options| {
            Ok(make::<LevelReward>(options)?)
        })
        .with_reward(ProcessReward::NAME, |options| {
            Ok(make::<ProcessReward>(options)?)
        })
        .with_credit(PerStep::NAME, |options| Ok(make::<PerStep>(options)?))
        .with_credit(PerRollout::NAME, |options| Ok(make::<PerRollout>(options)?))
}

/// Makes one of our policies of its options.
///
/// # Errors
/// `Invalid` for options of another policy, and for a value out of range.
fn make<O: PolicyOptions>(options: &Value) -> Result<Arc<O>> {
    checked_options(options).map(Arc::new)
}

#[cfg(test)]
mod tests {
    use crate::{
        ErrorKind, recipe,
        stations::assess::{AssessBy, AssessPolicy},
    };

    #[test]
    fn a_build_that_cannot_cluster_refuses_what_assesses_by_steps_too() {
        let by_steps = AssessPolicy {
            by: AssessBy::Steps,
            ..AssessPolicy::default()
        };
        for assess in [AssessPolicy::default(), by_steps] {
            let mut recipe = recipe::standard();
            assert!(recipe.supported(false).is_ok());
            recipe.assess = Some(assess);
            assert!(recipe.supported(true).is_ok());
            let error = recipe.supported(false).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported);
        }
    }
}
