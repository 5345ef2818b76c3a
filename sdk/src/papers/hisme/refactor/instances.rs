//! True instances of a group, and the outcome of a skill on each (HiSME 3.2, algorithm 3).

use crate::{
    contract::RoleTask,
    domain::{BundleCase, CaseKind, CaseOutcome, SkillUse, Trace},
    error::Result,
    library::SkillLibrary,
    papers::hisme::MacroPolicy,
    policy::CaseRun,
    stations::maintain::{
        MaintenanceContext,
        cases::whole_attempt,
        outcomes::{NO_VERDICT, failed, is_temporary, outcome, unplayed},
        support::use_of_any,
    },
};

/// A true instance of a group: a successful attempt, as a test case.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) case: BundleCase,
    /// Whether the case is played without any skill as well, for comparison.
    pub(crate) paired: bool,
}

impl Instance {
    /// An instance; with `counterfactual` an attempt that followed a skill is paired, and so is one of unknown use: it may owe its
    /// success to that skill.
    pub(crate) fn of(library: &SkillLibrary, attempt: &Trace, counterfactual: bool) -> Self {
        let used = use_of_any(library, &attempt.trajectory);
        Self {
            case: whole_attempt(library, attempt, CaseKind::Integration),
            paired: counterfactual && used != SkillUse::NotFollowed,
        }
    }
}

/// The successful attempts as instances, by the policy; none where nothing can be replayed.
pub(crate) fn instances_of<'a>(
    context: &MaintenanceContext<'_, MacroPolicy>,
    attempts: impl Iterator<Item = &'a Trace>,
) -> Vec<Instance> {
    if !context.replays {
        return Vec::new();
    }
    let policy = context.policy.refactor.as_ref();
    let counterfactual = policy.is_some_and(|policy| policy.counterfactual);
    attempts
        .filter(|attempt| attempt.is_success())
        .map(|attempt| Instance::of(context.library, attempt, counterfactual))
        .collect()
}

/// Number of attempts that the trial of a group's skill takes at most.
pub(crate) fn most_trials(context: &MaintenanceContext<'_, MacroPolicy>, task: &RoleTask) -> u64 {
    let RoleTask::Refactor { attempts, .. } = task else {
        return 0;
    };
    let instances = instances_of(context, attempts.iter());
    let trials = instances.iter().map(|one| 1 + u64::from(one.paired));
    trials.sum()
}

/// The outcome of a skill on an instance.
pub(crate) enum InstanceOutcome {
    /// The instance confirms the skill: the case, with the refusals and score that it has to keep to from now on.
    Passes(BundleCase),
    /// The attempt fails with the skill, and why.
    Fails(BundleCase, String),
    /// The instance neither confirms the skill nor fails with it, and why.
    Undecided(String),
}

impl InstanceOutcome {
    /// The reason why the instance does not confirm the skill.
    fn objection(&self) -> Option<&str> {
        match self {
            Self::Passes(_) => None,
            Self::Fails(_, why) | Self::Undecided(why) => Some(why),
        }
    }
}

/// The outcomes of a skill on the instances of its group.
pub(crate) struct Trials {
    pub(crate) instances: Vec<InstanceOutcome>,
    /// The same runs as outcomes of test cases.
    pub(crate) outcomes: Vec<CaseOutcome>,
    /// The reason of the first instance that does not confirm the skill.
    pub(crate) objection: Option<String>,
    /// Whether an instance could not be played because of a temporary error.
    pub(crate) temporary: bool,
}

impl Trials {
    /// Takes the runs of the instances, in the order in which they were asked: without a skill where it is paired, then
    /// with it.
    pub(crate) fn of<'a>(
        cases: Vec<Instance>,
        runs: &mut impl Iterator<Item = &'a Result<CaseRun>>,
    ) -> Self {
        let mut tried = Self {
            instances: Vec::new(),
            outcomes: Vec::new(),
            objection: None,
            temporary: false,
        };
        for Instance { case, paired } in cases {
            let unaided = paired.then(|| runs.next()).flatten();
            let Some(aided) = runs.next() else { continue };
            let failed = |run: &Result<CaseRun>| run.as_ref().is_err_and(is_temporary);
            tried.temporary |= failed(aided) || unaided.is_some_and(failed);
            let attempt = case.attempt.clone();
            tried.outcomes.push(outcome(&case, aided));
            let instance = compare(case, aided, unaided);
            if let (None, Some(why)) = (&tried.objection, instance.objection()) {
                let why = format!("its instance {attempt} does not confirm it: {why}");
                tried.objection = Some(why);
            }
            tried.instances.push(instance);
        }
        tried
    }
}

/// The outcome of an instance that was played with the skill and, if `unaided` is given, without any. Refusals are compared
/// first, as in every case, and scores if the refusals are equal.
fn compare(
    mut case: BundleCase,
    aided: &Result<CaseRun>,
    unaided: Option<&Result<CaseRun>>,
) -> InstanceOutcome {
    let (aided, unaided) = match (aided, unaided.map(Result::as_ref).transpose()) {
        (Ok(aided), Ok(unaided)) => (aided, unaided),
        (Err(error), _) | (_, Err(error)) => {
            return InstanceOutcome::Undecided(unplayed(error));
        }
    };
    if aided.verdict.success().is_none() {
        return InstanceOutcome::Undecided(NO_VERDICT.to_owned());
    }
    if let Some(why) = failed(&case, aided) {
        // If it fails without any skill too, and no better, the attempt owed its success to another skill, and this one is not
        // to blame.
        let as_badly = unaided.is_some_and(|unaided| {
            let done = |run: &CaseRun| run.verdict.success() == Some(true);
            let no_worse = (done(aided), unaided.refusals) >= (done(unaided), aided.refusals);
            failed(&case, unaided).is_some() && no_worse
        });
        return match as_badly {
            true => InstanceOutcome::Undecided(why),
            false => InstanceOutcome::Fails(case, why),
        };
    }
    let Some(unaided) = unaided else {
        return InstanceOutcome::Passes(case);
    };
    let (with, without) = (&aided.verdict, &unaided.verdict);
    if without.success() == Some(false) {
        // The attempt succeeds only with the skill.
    } else if aided.refusals < unaided.refusals {
        case.refusals = case.refusals.min(unaided.refusals - 1);
    } else if aided.refusals == unaided.refusals && with.score() > without.score() {
        case.refusals = case.refusals.min(unaided.refusals);
        case.least_score = without.score().next_up();
    } else {
        return InstanceOutcome::Undecided("without any skill it goes as well".to_owned());
    }
    InstanceOutcome::Passes(case)
}

#[cfg(test)]
mod tests;
