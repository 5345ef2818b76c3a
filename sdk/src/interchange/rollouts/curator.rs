//! A curator's rollouts of a group of tasks (SkillOS, training regime; row K7).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    group::{
        ExportedRollouts, RefusedRollout, RolloutAttempt, RolloutGroup, StepGeneration, of_group,
    },
    rollout::{RewardPart, RolloutEnd, RolloutKind},
};
use crate::{
    contract::JournalEntry,
    domain::Role,
    error::{Error, Result},
    id::AttemptId,
    policy::{Answer, FailedCall},
    reward::{CompositeTerms, CompositeWeights},
    run::{GroupRollout, RunEntry, Station},
};

const OF: &str = "rollouts::of_curator";

/// The curator's rollouts of a group of tasks: what [`Journeyman::roll_out`](crate::run::Journeyman::roll_out) returned, with each
/// rollout's generations of the role curate, an answer that could not be read among them. The step of a segment is the task's place
/// in the group. The reward is computed again from [`GroupRollout::terms`], so that a host can set
/// [`CompositeTerms::quality`] first; its parts are the terms. Advantages are relative to the exported rollouts.
///
/// The rollouts have to be recorded ([`Rollouts::recorded`](crate::run::Rollouts::recorded)), with a model that gives token ids and
/// log-probabilities. A rollout that failed, that has no reward, or that has no recorded generation is refused with its reason.
///
/// # Errors
/// `Invalid` for rollouts of several groups, for a weight that is not finite and for a term out of its range; `Unsupported` and
/// `Corrupt` as [`RunEntry::from_entry`].
///
/// ```
/// use std::{num::NonZeroU32, sync::Arc};
///
/// use journeyman::{
///     Seed,
///     builtin::EnvironmentJudge,
///     contract::Backends,
///     domain::{Action, Role},
///     interchange::rollouts::{self, RolloutKind},
///     recipe,
///     reward::CompositeWeights,
///     run::{Journeyman, Options, Rollouts},
///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, ScriptedModel, ScriptedRoles, sample},
/// };
///
/// # futures::executor::block_on(async {
/// // An agent that says what its task asks for, and a curator that inserts a skill whenever it is asked.
/// let agent = ScriptedExecutor::acting(|attempt, steps| {
///     let due = attempt.task.payload.get(steps.len()).and_then(|word| word.as_str());
///     Play::Give(due.map(|word| Action::Message(word.to_owned())))
/// });
/// let insert = r#"{"tool": "insert_skill", "arguments": {"name": "hi", "description": "Say hi.", "body": "Say it."}}"#;
/// let world = Arc::new(ScriptedEnvironment::words());
/// let backends = Backends::new(Arc::new(agent), world, Arc::new(EnvironmentJudge))
///     .with_model(Arc::new(ScriptedModel::always(insert)))
///     .with_roles(Arc::new(ScriptedRoles::only([Role::Curate])));
/// let journeyman = Journeyman::open(backends, recipe::skillos(), Options::new("desk", Seed(7))).await?;
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
    let made: Vec<&GroupRollout> = rollouts.iter().flatten().collect();
    let failed = (0..).zip(rollouts).filter_map(|(number, rollout)| {
        let error = rollout.as_ref().err()?.clone();
        let attempt = AttemptId::new(format!("rollout-{number}"));
        Some(RefusedRollout { attempt, error })
    });
    let refused: Vec<RefusedRollout> = failed.collect();
    let Some(first) = made.first() else {
        return Ok(ExportedRollouts {
            rollouts: Vec::new(),
            refused,
        });
    };
    if made.iter().any(|one| one.group != first.group) {
        return Err(Error::invalid(OF, "the rollouts are of several groups")
            .hint("call it once for what each call of `roll_out` returned, and join the results"));
    }
    let attempts: Result<Vec<RolloutAttempt>> =
        made.iter().map(|one| attempt(one, weights)).collect();
    let tasks = first.report.tasks.iter().map(|task| task.task.clone());
    let mut exported = of_group(RolloutGroup {
        kind: RolloutKind::Curator,
        group: first.group.to_string(),
        tasks: tasks.collect(),
        made: rollouts.len(),
        attempts: attempts?,
    });
    exported.refused.splice(0..0, refused);
    Ok(exported)
}

fn attempt(rollout: &GroupRollout, weights: &CompositeWeights) -> Result<RolloutAttempt> {
    let tasks = &rollout.report.tasks;
    let failed = tasks.iter().any(|task| task.failed.is_some());
    let injected = rollout.report.attempts().flat_map(|one| &one.injected);
    let skills: BTreeSet<_> = injected.cloned().collect();
    Ok(RolloutAttempt {
        attempt: AttemptId::new(rollout.report.run.as_str()),
        run: rollout.report.run.clone(),
        library: rollout.fork.base(),
        skills: skills.into_iter().collect(),
        generations: generations(&rollout.journal)?,
        steps: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
        end: match failed {
            true => RolloutEnd::Failed,
            false => RolloutEnd::Finished,
        },
        reward: weights.reward(&rollout.terms)?,
        parts: parts(&rollout.terms, weights),
    })
}

/// The curator's generations, in the order of the tasks.
fn generations(journal: &[JournalEntry]) -> Result<Vec<StepGeneration>> {
    let mut generations = Vec::new();
    for entry in journal {
        let RunEntry::Answered { id, answer, .. } = RunEntry::from_entry(entry)? else {
            continue;
        };
        let played = match *answer {
            Answer::Played(Ok(Some(played))) if id.station == Station::Role => played.generations,
            Answer::Played(Err(FailedCall { generations, .. })) if id.station == Station::Role => {
                generations
            }
            _ => continue,
        };
        let step = u32::try_from(id.step).unwrap_or(u32::MAX);
        let curated = played.into_iter().filter(|one| one.role == Role::Curate);
        generations.extend(curated.map(|one| StepGeneration {
            step,
            record: one.record,
        }));
    }
    Ok(generations)
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
