//! Builds the policies that a recipe names, out of the host's registry and the built-in one.

use std::sync::Arc;

use super::of_papers;
use crate::{
    domain::State,
    error::{Error, Result},
    policy::{
        ASSESSOR, PROGRAM, Policies, Policy, PolicyOptions, Release, ResolvedPolicies, contained,
        named::{ScheduledProgram, make},
        standing::Standing,
    },
    stations::{
        credit::{ByContribution, PerRollout, PerStep},
        proof::ProvenRelease,
        propose::{Curate, Extract, Summarize},
        recipe::Recipe,
        reward::LevelReward,
        select::{First, GatePolicy, Nothing, Random, Top},
    },
};

impl Policies {
    /// A host's registry with our policies beside its own.
    ///
    /// # Errors
    /// `Invalid` where two policies of one kind have the same name.
    pub(crate) fn with_ours(&self) -> Result<Self> {
        self.joined_with(ours)
    }
}

impl Recipe {
    /// Builds every policy that the recipe names, ours and those of the host's registry, and checks that this build has what the
    /// recipe needs.
    ///
    /// # Errors
    /// `NotFound` for one that is not registered, listing those that are; the error of one that cannot be built, such as
    /// `Invalid` for the options of another policy; `Invalid` where two policies of one kind have the same name, and for a selector
    /// that does not go with the recipe's ranking, a reward rule that needs an assessment where the recipe has none, or a library that
    /// keeps fewer attempts ([`TierPolicy::traces`](crate::domain::TierPolicy::traces)) than a program or the assessor needs; `Panicked`
    /// for a policy that panics when it is built or asked what it needs. The policies of a paper are registered in a build with its feature.
    pub fn resolve(&self, policies: &Policies) -> Result<ResolvedPolicies> {
        let policies = policies.with_ours()?;
        let selector = policies.selector(&self.select.selector)?;
        self.select.check(selector.as_ref())?;
        let assess = self.assess.as_ref();
        let assessor = assess.map(|named| policies.assessor(named)).transpose()?;
        let mut upkeep = None;
        if let (Some(named), Some(assessor)) = (assess, &assessor) {
            let says = contained(ASSESSOR, named, || {
                (assessor.kept_attempts(), assessor.upkeep(self.batch))
            });
            let (needed, program) = says?;
            self.keeps_enough(named, needed)?;
            upkeep = program;
        }
        let reward = policies.reward(&self.reward.by)?;
        if assessor.is_none() && reward.needs_assessment() {
            let message = "the reward rule reads the process score of an assessment: set `assess`, or have another reward";
            return Err(Error::invalid("Recipe::resolve", message)
                .with("field", "reward.by")
                .with("rule", &self.reward.by.name));
        }
        let rules = self.admit.rules.iter();
        let admission = rules.map(|rule| policies.admission(rule));
        let mut release = None;
        let programs = self.scheduled(upkeep)?.into_iter();
        let programs = programs.map(|mut scheduled| {
            let program = policies.program(&scheduled.program)?;
            let program = program.beside(&selector).unwrap_or(program);
            let says = contained(PROGRAM, &scheduled.program, || {
                let needed = program.kept_attempts(self.attempts.group);
                (program.every(), needed, program.release())
            });
            let (every, needed, says) = says?;
            scheduled.every.get_or_insert(every);
            self.keeps_enough(&scheduled.program, needed)?;
            // The first one that releases skills is the one that does; where one asks for proof, that decides.
            release = joined(release, says);
            Ok((scheduled, program))
        });
        let programs = programs.collect::<Result<_>>()?;
        if release.is_some_and(|release: Release| release.proof) {
            self.begins_on_trial()?;
        }
        let standing = Standing {
            admit: self.admit.clone(),
            skill_use: self.reward.skill_use,
            quarantine: self.maintenance.quarantine,
            release,
        };
        Ok(ResolvedPolicies {
            selector,
            writer: policies.writer(&self.write.by)?,
            assessor,
            reward,
            credit: policies.credit(&self.credit.by)?,
            admission: admission.collect::<Result<_>>()?,
            programs,
            standing: Arc::new(standing),
        })
    }

    /// The maintenance programs in the order in which they run: those of the recipe, then the assessor's upkeep.
    ///
    /// # Errors
    /// `Invalid` where a program of the recipe has the name of the upkeep.
    fn scheduled(&self, upkeep: Option<ScheduledProgram>) -> Result<Vec<ScheduledProgram>> {
        let mut programs = self.maintenance.programs.clone();
        let Some(upkeep) = upkeep else {
            return Ok(programs);
        };
        let name = &upkeep.program.name;
        if programs.iter().any(|one| one.program.name == *name) {
            let message = "the assessor has this maintenance program run: take it out of the programs of the recipe";
            return Err(Error::invalid("Recipe::resolve", message)
                .with("field", "maintenance.programs")
                .with("program", name));
        }
        programs.push(upkeep);
        Ok(programs)
    }

    /// Checks that no skill is in use before it is proven, in a recipe that releases by proof.
    ///
    /// # Errors
    /// `Invalid`, with the field.
    fn begins_on_trial(&self) -> Result<()> {
        let states = [
            ("admit.initial_state", self.admit.initial_state),
            ("admit.fallback_state", self.admit.fallback_state),
        ];
        let active = states.iter().find(|(_, state)| *state == State::Active);
        let Some((field, _)) = active else {
            return Ok(());
        };
        let message =
            "the program `proven` releases skills on trial, and this recipe begins them as active";
        Err(Error::invalid("Recipe::resolve", message)
            .with("field", field)
            .hint("set it to `trial`, or take the program out"))
    }

    /// Checks that the recipe keeps so many attempts, which a policy needs.
    ///
    /// # Errors
    /// `Invalid`, with the policy and the number.
    fn keeps_enough(&self, named: &Policy, needed: u64) -> Result<()> {
        if self.tiers.traces as u64 >= needed {
            return Ok(());
        }
        let message = "a policy needs more attempts than the recipe keeps: keep as many, or take it out of the recipe";
        Err(Error::invalid("Recipe::resolve", message)
            .with("field", "tiers.traces")
            .with("policy", &named.name)
            .with("needed", needed))
    }
}

/// How skills on trial are released, by two programs of a recipe.
fn joined(first: Option<Release>, second: Option<Release>) -> Option<Release> {
    let (Some(first), Some(second)) = (first, second) else {
        return first.or(second);
    };
    let asks_alike = first.proof == second.proof;
    Some(Release {
        // Test cases of the other one are still made, and play their part beside the proof.
        cases: if asks_alike {
            first.cases
        } else {
            first.cases.or(second.cases)
        },
        proof: first.proof || second.proof,
    })
}

fn ours() -> Policies {
    let of_stations = Policies::new()
        .with_selector(GatePolicy::NAME, |options| Ok(make::<GatePolicy>(options)?))
        .with_selector(First::NAME, |options| Ok(make::<First>(options)?))
        .with_selector(Top::NAME, |options| Ok(make::<Top>(options)?))
        .with_selector(Random::NAME, |options| Ok(make::<Random>(options)?))
        .with_selector(Nothing::NAME, |options| Ok(make::<Nothing>(options)?))
        .with_program(ProvenRelease::NAME, |options| {
            Ok(make::<ProvenRelease>(options)?)
        })
        .with_writer(Summarize::NAME, |options| Ok(make::<Summarize>(options)?))
        .with_writer(Extract::NAME, |options| Ok(make::<Extract>(options)?))
        .with_writer(Curate::NAME, |options| Ok(make::<Curate>(options)?))
        .with_reward(LevelReward::NAME, |options| {
            Ok(make::<LevelReward>(options)?)
        })
        .with_credit(PerStep::NAME, |options| Ok(make::<PerStep>(options)?))
        .with_credit(PerRollout::NAME, |options| Ok(make::<PerRollout>(options)?))
        .with_credit(ByContribution::NAME, |options| {
            Ok(make::<ByContribution>(options)?)
        });
    of_papers::with_policies(of_stations)
}
