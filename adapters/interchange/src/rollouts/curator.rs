//! A curator's rollouts of a group of tasks (SkillOS, training regime; row K7).

use std::collections::{BTreeMap, BTreeSet};

use journeyman::{
    Error, Result,
    domain::{AttemptId, Role},
    papers::skillos::{CompositeTerms, CompositeWeights, GroupRollout, TaskGeneration},
    run::report::NoAnswer,
};

use super::{
    group::{
        ExportedRollouts, RefusedRollout, RolloutAttempt, RolloutGroup, StepGeneration, of_group,
    },
    rollout::{RewardPart, RolloutEnd, RolloutKind},
};

const OF: &str = "rollouts::of_curator";

/// The curator's rollouts of a group of tasks: what [`Journeyman::roll_out`](journeyman::run::Journeyman::roll_out) returned, with each
/// rollout's generations of the role curate, an answer that could not be read among them. The step of a segment is the task's place
/// in the group. The reward is computed from [`GroupRollout::terms`] by these weights, so that a host can set
/// [`CompositeTerms::quality`] first; its parts are the terms. Advantages are relative to the exported rollouts.
///
/// The rollouts have to be recorded ([`Rollouts::recorded`](journeyman::papers::skillos::Rollouts::recorded)), with a model that gives token ids and
/// log-probabilities. A rollout is refused with its reason where it or one of its tasks failed, where it has no reward, and where an
/// answer of the curator has no record. One that failed has no id: it is named by its place in the slice, `rollout-0`.
///
/// # Errors
/// `Invalid` for rollouts of several groups, for a weight that is not finite and for a term out of its range.
///
/// ```
/// use std::{num::NonZeroU32, sync::Arc};
///
/// use journeyman::{Seed, agent::EnvironmentJudge, contract::Components, domain::{Action, Role}, recipe, papers::skillos::{CompositeWeights, Rollouts}, run::{Journeyman, Options}, testing::{Play, ScriptedEnvironment, ScriptedExecutor, ScriptedModel, ScriptedRoles, sample}};
/// use journeyman_interchange::rollouts::{self, RolloutKind};
///
/// # futures::executor::block_on(async {
/// // An agent that says what its task asks for, and a curator that inserts a skill whenever it is asked.
/// let agent = ScriptedExecutor::acting(|attempt, steps| {
///     let due = attempt.task.payload.get(steps.len()).and_then(|word| word.as_str());
///     Play::Give(due.map(|word| Action::Message(word.to_owned())))
/// });
/// let insert = r#"{"tool": "insert_skill", "arguments": {"name": "hi", "description": "Say hi.", "body": "Say it."}}"#;
/// let world = Arc::new(ScriptedEnvironment::words());
/// let components = Components::new(Arc::new(agent), world, Arc::new(EnvironmentJudge))
///     .with_model(Arc::new(ScriptedModel::always(insert)))
///     .with_roles(Arc::new(ScriptedRoles::only([Role::Curate])));
/// let journeyman = Journeyman::open(components, recipe::skillos(), Options::new("desk", Seed(7))).await?;
///
/// let group = vec![sample::task("one", &["hi"]), sample::task("two", &["hi"])];
/// let plan = Rollouts::new(NonZeroU32::new(3).expect("not 0")).recorded();
/// let rolled = journeyman.roll_out(group, &plan).await?;
///
/// let exported = rollouts::of_curator(&rolled, &CompositeWeights::default())?;
/// assert_eq!((exported.rollouts.len(), exported.refused.len()), (3, 0));
/// let first = &exported.rollouts[0];
/// // One answer for each task; the second insert was refused, so half of the calls were valid.
/// assert_eq!((first.kind, first.segments.len(), first.steps), (RolloutKind::Curator, 2, 2));
/// assert_eq!(first.parts["validity"].value, 0.5);
/// assert_eq!(first.reward, 1.0 + 1.0 * 0.5);
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
pub fn of_curator(
    rollouts: &[Result<GroupRollout>],
    weights: &CompositeWeights,
) -> Result<ExportedRollouts> {
    let mut exported = ExportedRollouts::default();
    let mut group: Option<RolloutGroup> = None;
    for (place, rollout) in rollouts.iter().enumerate() {
        let made = match rollout {
            Ok(made) => made,
            Err(error) => {
                let attempt = AttemptId::new(format!("rollout-{place}"));
                let error = error.clone();
                exported.refused.push(RefusedRollout { attempt, error });
                continue;
            }
        };
        let group = group.get_or_insert_with(|| empty(made, rollouts.len()));
        if group.group != made.group.as_str() {
            return Err(
                Error::invalid(OF, "the rollouts are of several groups").hint(
                    "call it once for what each call of `roll_out` returned, and join the results",
                ),
            );
        }
        let attempt = attempt(made, weights)?;
        match refusal(made) {
            None => group.attempts.push(attempt),
            Some(error) => exported.refused.push(RefusedRollout {
                attempt: attempt.attempt,
                error,
            }),
        }
    }
    exported.extend(group.map(of_group).unwrap_or_default());
    Ok(exported)
}

/// The group of a rollout, without its rollouts.
fn empty(first: &GroupRollout, made: usize) -> RolloutGroup {
    let tasks = first.report.tasks.iter();
    RolloutGroup {
        kind: RolloutKind::Curator,
        group: first.group.to_string(),
        tasks: tasks.map(|task| task.task.clone()).collect(),
        made,
        attempts: Vec::new(),
    }
}

/// Why a rollout would train on something else than what the curator did.
fn refusal(rollout: &GroupRollout) -> Option<Error> {
    let tasks = &rollout.report.tasks;
    if let Some(error) = tasks.iter().find_map(|task| task.failed.clone()) {
        return Some(error);
    }
    // Without any record, `of_group` says how to get them.
    if rollout.generations.is_empty() {
        return None;
    }
    let unrecorded = (0..).zip(tasks).find(|(place, task)| {
        let answered = task
            .curation
            .as_ref()
            .is_some_and(|curation| !matches!(curation.no_answer, Some(NoAnswer::NotPlayed(_))));
        answered && !curated(rollout).any(|one| one.task == *place)
    });
    let (_, task) = unrecorded?;
    Some(
        Error::invalid(OF, "an answer of the curator has no record")
            .with("task", &task.task)
            .hint("what held a secret has none; a rollout without it would be rewarded for what is not in it"),
    )
}

/// The curator's generations, in the order of the tasks.
fn curated(rollout: &GroupRollout) -> impl Iterator<Item = &TaskGeneration> {
    let all = rollout.generations.iter();
    all.filter(|one| one.generation.role == Role::Curate)
}

/// # Errors
/// `Invalid` for a weight or a term out of its range.
fn attempt(rollout: &GroupRollout, weights: &CompositeWeights) -> Result<RolloutAttempt> {
    let injected = rollout.report.attempts().flat_map(|one| &one.injected);
    let skills: BTreeSet<_> = injected.cloned().collect();
    let generations = curated(rollout).map(|one| StepGeneration {
        step: one.task,
        record: one.generation.record.clone(),
    });
    Ok(RolloutAttempt {
        attempt: AttemptId::new(rollout.report.run.as_str()),
        run: rollout.report.run.clone(),
        library: rollout.fork.base(),
        skills: skills.into_iter().collect(),
        generations: generations.collect(),
        steps: u32::try_from(rollout.report.tasks.len()).unwrap_or(u32::MAX),
        end: RolloutEnd::Finished,
        reward: weights.reward(&rollout.terms)?,
        parts: parts(&rollout.terms, weights),
    })
}

fn parts(terms: &CompositeTerms, weights: &CompositeWeights) -> BTreeMap<String, RewardPart> {
    let parts = [
        ("success", terms.success, 1.0),
        ("validity", terms.validity, weights.validity),
        ("quality", terms.quality, weights.quality),
        ("compression", terms.compression, weights.compression),
    ];
    let known = parts.into_iter().filter_map(|(name, value, weight)| {
        let weight = Some(weight);
        let value = value?;
        Some((name.to_owned(), RewardPart { value, weight }))
    });
    known.collect()
}
