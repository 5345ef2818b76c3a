//! The rollouts of a group.

use std::collections::BTreeMap;

use journeyman::{
    Error, ModelId, Result, RunId, TaskId,
    domain::{AttemptId, GenerationRecord, Revision, SkillRef},
    stations::reward::{ADVANTAGE_EPSILON, advantages},
};

use super::{
    rollout::{RewardPart, Rollout, RolloutEnd, RolloutKind, RolloutSampling},
    segment::{Segment, shared},
};

const OF: &str = "rollouts::of_group";

/// The attempts of a group, before they are checked. [`of_journal`](super::of_journal) makes groups from a run; a host whose
/// attempts are in no journal makes its own.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutGroup {
    /// Whose rollouts.
    pub kind: RolloutKind,
    /// The group's id, unique within the export.
    pub group: String,
    /// The task; for a curator, the tasks of its group in order.
    pub tasks: Vec<TaskId>,
    /// Number of rollouts that were made. Those that are not in `attempts` count too: it is never less than their number.
    pub made: usize,
    /// The attempts, in order.
    pub attempts: Vec<RolloutAttempt>,
}

impl RolloutGroup {
    /// A group of attempts at tasks; no other attempt was made in it.
    pub fn new(
        kind: RolloutKind,
        group: impl Into<String>,
        tasks: Vec<TaskId>,
        attempts: Vec<RolloutAttempt>,
    ) -> Self {
        Self {
            made: attempts.len(),
            kind,
            group: group.into(),
            tasks,
            attempts,
        }
    }

    /// The same with the number of attempts that were made.
    #[must_use]
    pub fn with_made(mut self, made: usize) -> Self {
        self.made = made;
        self
    }
}

/// An attempt of a group.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutAttempt {
    /// Which attempt.
    pub attempt: AttemptId,
    /// The run that made it.
    pub run: RunId,
    /// The library's revision when skills were selected; for a curator, at the start of the group.
    pub library: Revision,
    /// The skills that were in the agent's prompts.
    pub skills: Vec<SkillRef>,
    /// The generations, in order.
    pub generations: Vec<StepGeneration>,
    /// Number of steps; for a curator, of tasks.
    pub steps: u32,
    /// Why it ended.
    pub end: RolloutEnd,
    /// The reward, where there is one.
    pub reward: Option<f64>,
    /// What the reward consists of.
    pub parts: BTreeMap<String, RewardPart>,
}

impl RolloutAttempt {
    /// An attempt of a run with a library, of no steps and without a reward.
    pub fn new(attempt: AttemptId, run: RunId, library: Revision, end: RolloutEnd) -> Self {
        Self {
            attempt,
            run,
            library,
            skills: Vec::new(),
            generations: Vec::new(),
            steps: 0,
            end,
            reward: None,
            parts: BTreeMap::new(),
        }
    }

    /// The same with the skills in the prompt.
    #[must_use]
    pub fn with_skills(mut self, skills: Vec<SkillRef>) -> Self {
        self.skills = skills;
        self
    }

    /// The same with its generations.
    #[must_use]
    pub fn with_generations(mut self, generations: Vec<StepGeneration>) -> Self {
        self.generations = generations;
        self
    }

    /// The same with a number of steps.
    #[must_use]
    pub fn with_steps(mut self, steps: u32) -> Self {
        self.steps = steps;
        self
    }

    /// The same with a reward.
    #[must_use]
    pub fn with_reward(mut self, reward: impl Into<Option<f64>>) -> Self {
        self.reward = reward.into();
        self
    }

    /// The same with the parts of the reward.
    #[must_use]
    pub fn with_parts(mut self, parts: BTreeMap<String, RewardPart>) -> Self {
        self.parts = parts;
        self
    }
}

/// A generation of a step.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct StepGeneration {
    /// The step, from 0; the number of steps for a last turn that could not be read.
    pub step: u32,
    /// The generation.
    pub record: GenerationRecord,
}

impl StepGeneration {
    /// A generation of a step.
    pub fn new(step: u32, record: GenerationRecord) -> Self {
        Self { step, record }
    }
}

/// The rollouts that can be exported, and why the others cannot.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExportedRollouts {
    /// The rollouts, group by group.
    pub rollouts: Vec<Rollout>,
    /// The other attempts.
    pub refused: Vec<RefusedRollout>,
}

impl ExportedRollouts {
    /// Adds another export.
    pub fn extend(&mut self, more: Self) {
        self.rollouts.extend(more.rollouts);
        self.refused.extend(more.refused);
    }
}

/// An attempt that cannot be exported.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct RefusedRollout {
    /// Which attempt.
    pub attempt: AttemptId,
    /// Why, and what to do about it.
    pub error: Error,
}

/// What all rollouts of a group have in common.
#[derive(Clone, Debug, PartialEq)]
struct Policy {
    model: ModelId,
    adapter: Option<String>,
    sampling: RolloutSampling,
}

/// The rollouts of a group, with advantages relative to those that can be exported. An attempt is refused where it has no reward
/// or no recorded generation, where a record breaks a rule of [`Segment`], and where its model, adapter, sampling or library
/// differ from those of the group's first rollout.
pub fn of_group(group: RolloutGroup) -> ExportedRollouts {
    let mut exported = ExportedRollouts::default();
    let made = group.made.max(group.attempts.len());
    let made = u32::try_from(made).unwrap_or(u32::MAX);
    for attempt in group.attempts {
        let id = attempt.attempt.clone();
        let common = (group.kind, group.group.as_str(), group.tasks.as_slice());
        let rollout = rollout(common, made, attempt)
            .and_then(|rollout| alike(exported.rollouts.first(), rollout));
        match rollout {
            Ok(rollout) => exported.rollouts.push(rollout),
            Err(error) => exported.refused.push(RefusedRollout {
                error: error.with("attempt", &id),
                attempt: id,
            }),
        }
    }
    let size = u32::try_from(exported.rollouts.len()).unwrap_or(u32::MAX);
    let rewards: Vec<f64> = exported.rollouts.iter().map(|one| one.reward).collect();
    let advantages = advantages(&rewards, ADVANTAGE_EPSILON);
    for (number, rollout) in exported.rollouts.iter_mut().enumerate() {
        rollout.size = size;
        rollout.number = u32::try_from(number).unwrap_or(u32::MAX);
        let own = advantages.as_ref().and_then(|all| all.get(number));
        rollout.advantage = own.copied();
    }
    exported
}

/// The rollout of an attempt, as if it were the only one of its group.
fn rollout(
    (kind, group, tasks): (RolloutKind, &str, &[TaskId]),
    attempts: u32,
    attempt: RolloutAttempt,
) -> Result<Rollout> {
    let reward = attempt.reward.ok_or_else(|| {
        Error::invalid(OF, "the attempt has no reward")
            .hint("a reward needs a verdict: finish attempts with an outcome, or give a judge")
    })?;
    let policy = policy(&attempt.generations)?;
    let rollout = Rollout {
        schema: Rollout::SCHEMA.to_owned(),
        version: Rollout::VERSION,
        kind,
        group: group.to_owned(),
        size: 1,
        number: 0,
        attempts,
        attempt: attempt.attempt,
        tasks: tasks.to_vec(),
        run: attempt.run,
        library: attempt.library,
        skills: attempt.skills,
        model: policy.model,
        adapter: policy.adapter,
        sampling: policy.sampling,
        segments: segments(attempt.generations),
        steps: attempt.steps,
        end: attempt.end,
        reward,
        parts: attempt.parts,
        advantage: None,
    };
    rollout
        .validate()
        .map_err(|error| error.hint("the agent recorded what is no rollout: see `Segment`"))?;
    Ok(rollout)
}

/// The policy behind all generations of an attempt.
fn policy(generations: &[StepGeneration]) -> Result<Policy> {
    let mut policies = generations.iter().map(|generation| {
        let record = &generation.record;
        Policy {
            model: record.model.clone(),
            adapter: record.adapter.clone(),
            sampling: RolloutSampling {
                temperature: record.sampling.temperature,
                top_p: record.sampling.top_p,
            },
        }
    });
    let first = policies.next().ok_or_else(|| {
        Error::invalid(OF, "no generation of the attempt was recorded").hint(
            "use a model that gives token ids and log-probabilities, and set `ModelExecutorOptions::record`, for a curator \
             `Rollouts::recorded`; what held a secret has no records",
        )
    })?;
    match policies.all(|other| other == first) {
        true => Ok(first),
        false => Err(Error::invalid(
            OF,
            "the generations are of several models, adapters or samplings",
        )
        .hint("a rollout trains one policy: record the generations of that one alone")),
    }
}

fn segments(generations: Vec<StepGeneration>) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    for StepGeneration { step, record } in generations {
        let before = segments.last();
        segments.push(Segment {
            step,
            shared: before.map_or(0, |before| shared(before, &record.prompt_ids)),
            prompt_ids: record.prompt_ids,
            ids: record.ids,
            logprobs: record.logprobs,
            mask: record.mask,
        });
    }
    segments
}

/// The rollout, if it is of the same policy and library as the first of its group.
fn alike(first: Option<&Rollout>, rollout: Rollout) -> Result<Rollout> {
    match first.and_then(|first| differs(first, &rollout)) {
        None => Ok(rollout),
        Some(field) => Err(
            Error::invalid(OF, "the attempt differs from the first of its group")
                .with("field", field)
                .hint("advantages compare attempts of one policy with one library: make the group's attempts alike"),
        ),
    }
}

/// The first field in which two rollouts differ, of those that a group has in common.
pub(super) fn differs(one: &Rollout, other: &Rollout) -> Option<&'static str> {
    let fields = [
        ("kind", one.kind == other.kind),
        ("tasks", one.tasks == other.tasks),
        ("model", one.model == other.model),
        ("adapter", one.adapter == other.adapter),
        ("sampling", one.sampling == other.sampling),
        ("library", one.library == other.library),
        ("attempts", one.attempts == other.attempts),
    ];
    let mut differing = fields.into_iter().filter(|(_, same)| !same);
    differing.next().map(|(field, _)| field)
}
