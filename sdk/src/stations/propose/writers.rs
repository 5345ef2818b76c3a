//! Our writers, and the names under which a recipe names them.

use std::num::{NonZeroU32, NonZeroUsize};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{
        Attribution, Candidate, ExposureOutcome, Judgement, LibraryChange, Role, Skill, SkillRef,
        SkillUse, State, Taint, Task, Trace, Trajectory, Verdict,
    },
    error::Result,
    id::{AttemptId, Seed},
    policy::{
        Ask, Context, PolicyOptions, RoleReply, Rollout, View, WriteGroup, WriteProgram, Written,
    },
    run::report::AttemptReport,
    stations::credit::{Attribute, CreditPolicy},
};

/// Writes one skill from the successful attempts of the group (ARISE D.1): the writer `summarize`.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{stations::propose::Summarize, recipe};
///
/// let mut recipe = recipe::standard();
/// let mut summarize = Summarize::default();
/// summarize.shown_chars = NonZeroUsize::new(800);
/// recipe.write.by = summarize.into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summarize {
    /// How much of each attempt the role is shown, in characters; at most what the role itself shows (its `shown-chars`). The
    /// paper, and [`recipe::arise`](crate::recipe::arise): 400. Ours: `None`, as much as the role shows, since an attempt by
    /// native tool calls takes more, and what was refused would be cut off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_chars: Option<NonZeroUsize>,
    /// Whether an attempt without a call becomes a skill, too, where no answer can be read: the beginning of what the agent wrote, as
    /// the paper has it for mathematics ("Solve by: ..."). It holds the values of its task. Ours: no.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keeps_reasoning: bool,
}

/// Writes several candidates from the best attempt (HiSME 3.2): the writer `extract`.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{stations::propose::Extract, recipe};
///
/// let mut recipe = recipe::standard();
/// recipe.write.by = Extract::new(NonZeroU32::MIN).into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extract {
    /// Number of candidates. The paper: 3.
    pub candidates: NonZeroU32,
    /// Whether they are extracted from a failed attempt too, where none of the group succeeded. The paper: yes. Ours: no,
    /// since a failed attempt has no test case that the skill could pass.
    pub failures: bool,
}

impl Extract {
    /// So many candidates, and none from failed attempts.
    pub const fn new(candidates: NonZeroU32) -> Self {
        Self {
            candidates,
            failures: false,
        }
    }
}

/// Has a curator look after the library (SkillOS, architecture): the writer `curate`. After each task the curator is shown an
/// attempt, the judge's verdict on it and the skills that were retrieved, and inserts, updates and deletes skills
/// ([`CurateCall`](crate::stations::propose::CurateCall)). It is asked about failed attempts too, and about those that no judge could
/// decide. Of several attempts it is shown the best. Every call is checked against the library as the calls before it leave it,
/// when it is the task's turn to change the library; [`CurationReport`](crate::run::report::CurationReport) has the results.
///
/// In the paper the executor judges its own attempt; a host that wants this gives a `agent::role::ModelJudge` of the executor's
/// model, alone or beside its own judge. Departures: a deleted skill is archived, so that nothing is lost.
/// Text of an untrusted source changes no skill that is free of it, and a new skill written from it is quarantined.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{stations::propose::Curate, recipe};
///
/// let mut recipe = recipe::skillos();
/// recipe.write.by = Curate::new(NonZeroU32::new(5).expect("not 0")).into();
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curate {
    /// Greatest number of retrieved skills that the curator is shown: the selection's candidates, the best first; where it
    /// has none, such as that of a host's own selector, the skills that were injected. Not published; here 2 in
    /// [`recipe::skillos`](crate::recipe::skillos).
    pub skills: NonZeroU32,
}

impl Curate {
    /// A curator that is shown at most so many retrieved skills.
    pub fn new(skills: NonZeroU32) -> Self {
        Self { skills }
    }
}

impl PolicyOptions for Summarize {
    const NAME: &'static str = "summarize";
}

impl PolicyOptions for Extract {
    const NAME: &'static str = "extract";
}

impl PolicyOptions for Curate {
    const NAME: &'static str = "curate";
}

#[async_trait]
impl WriteProgram for Summarize {
    async fn write(&self, ask: &mut Ask, _: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let summarize = RoleTask::Summarize {
            attempts: group.attempts.to_vec(),
            shown_chars: self.shown_chars,
            keeps_reasoning: self.keeps_reasoning,
        };
        Ok(Written::of_roles(ask.roles(vec![summarize]).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Summarize]
    }
}

#[async_trait]
impl WriteProgram for Extract {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let Some(attempt) = group.attempts.first() else {
            return Ok(Written::default());
        };
        let extract = |candidate| RoleTask::Extract {
            attempt: Box::new(attempt.clone()),
            candidate,
            rules: view.library().rules(Role::Extract).to_vec(),
        };
        let tasks = (0..self.candidates.get()).map(extract).collect();
        Ok(Written::of_roles(ask.roles(tasks).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Extract]
    }

    fn takes_failures(&self) -> bool {
        self.failures
    }
}

#[async_trait]
impl WriteProgram for Curate {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let best = group.attempts.first().zip(group.reports.first());
        let Some((attempt, report)) = best else {
            return Ok(Written::default());
        };
        let curate = RoleTask::Curate {
            correct: correct(report),
            skills: self.retrieved(view, group, report),
            attempt: Box::new(attempt.clone()),
        };
        Ok(Written::of_roles(ask.roles(vec![curate]).await))
    }

    fn roles(&self) -> Vec<Role> {
        vec![Role::Curate]
    }

    fn takes_failures(&self) -> bool {
        true
    }

    fn takes_undecided(&self) -> bool {
        true
    }

    fn most_attempts(&self) -> usize {
        1
    }
}

impl Curate {
    /// The skills that were retrieved for an attempt's task, the best first: the selection's candidates; where there are none, the
    /// injected skills.
    fn retrieved(&self, view: &View, group: &WriteGroup<'_>, report: &AttemptReport) -> Vec<Skill> {
        let found: Vec<&SkillRef> = match group.candidates {
            [] => report.injected.iter().collect(),
            found => found.iter().map(|candidate| &candidate.skill).collect(),
        };
        let entries = found
            .into_iter()
            .filter_map(|skill| view.library().get(&skill.id));
        let skills = entries.map(|entry| entry.skill.clone());
        skills.take(self.skills.get() as usize).collect()
    }
}

/// Whether the attempt did its task: the agent's own word where a judge gives it beside the verdict ([`Verdict::SELF_JUDGED`]), else the verdict.
fn correct(report: &AttemptReport) -> Option<bool> {
    let own = report.parts.get(Verdict::SELF_JUDGED);
    own.map(|own| *own >= 0.5).or(report.success)
}

// Role tasks about the skills of one group of attempts, and the library changes that follow from the attempts and the answers.

/// The answers of roles that write skills.
pub(crate) fn drafts(replies: &[RoleReply]) -> impl Iterator<Item = &RoleReply> {
    replies.iter().filter(|one| writes(one.task.role()))
}

/// Whether a role's answers are a writer's: drafts of skills, or a curator's calls.
pub(crate) fn is_writer(role: Role) -> bool {
    role == Role::Curate || writes(role)
}

/// Whether a role's answers are drafts of skills.
fn writes(role: Role) -> bool {
    matches!(
        role,
        Role::Summarize | Role::Extract | Role::Refactor | Role::Refine
    )
}

/// The judgements of skills that the attribute role gave, as changes.
pub(crate) fn attributions(replies: &[RoleReply]) -> Vec<LibraryChange> {
    let attribution = |RoleReply { task, reply }: &RoleReply| {
        let RoleTask::Attribute { attempt, skill } = task else {
            return None;
        };
        let Ok(Some(played)) = reply else { return None };
        let RoleAnswer::Credit {
            judgement,
            scope,
            reason,
        } = &played.answer
        else {
            return None;
        };
        let injected = attempt.trajectory.injection.skills.get(*skill)?;
        Some(LibraryChange::Attribute(Attribution {
            skill: injected.skill.clone(),
            attempt: attempt.trajectory.attempt.clone(),
            task: attempt.task.id.clone(),
            judgement: *judgement,
            scope: scope.clone(),
            reason: reason.clone(),
        }))
    };
    replies.iter().filter_map(attribution).collect()
}

/// The role tasks that judge the injected skills of a task's judged attempts ([`CreditPolicy::attribute`]).
pub(crate) fn asks(
    credit: &CreditPolicy,
    (seed, task): (Seed, &Task),
    rollouts: &[Rollout<'_>],
) -> Vec<RoleTask> {
    let mut asks = Vec::new();
    if !credit.attribute.asks() {
        return asks;
    }
    let judged = rollouts
        .iter()
        .filter(|rollout| rollout.report.success.is_some());
    for attempt in judged.filter_map(|rollout| trace(seed, task, rollout)) {
        let skills = 0..attempt.trajectory.injection.skills.len();
        let skills = skills.filter(|place| {
            let used = use_at(&attempt.trajectory, *place);
            credit.attribute.asks_about(used) && !another_was_followed(&attempt.trajectory, *place)
        });
        asks.extend(skills.map(|skill| RoleTask::Attribute {
            attempt: Box::new(attempt.clone()),
            skill,
        }));
    }
    asks
}

/// The curator's answer, if one was asked.
pub(crate) fn curation(replies: &[RoleReply]) -> Option<&RoleReply> {
    let mut replies = replies.iter();
    replies.find(|one| one.task.role() == Role::Curate)
}

/// What the agent said of its use of a skill.
fn use_of(trajectory: &Trajectory, skill: &SkillRef) -> SkillUse {
    let mut exposures = trajectory.exposures.iter();
    let exposure = exposures.find(|exposure| exposure.skill == *skill);
    exposure.map_or(SkillUse::Unknown, |exposure| exposure.used)
}

/// The same for the injected skill at `place`.
fn use_at(trajectory: &Trajectory, place: usize) -> SkillUse {
    let injected = trajectory.injection.skills.get(place);
    injected.map_or(SkillUse::Unknown, |one| use_of(trajectory, &one.skill))
}

/// Whether the agent said that it followed another of its injected skills, and not the one at `place`.
fn another_was_followed(trajectory: &Trajectory, place: usize) -> bool {
    let mut places = 0..trajectory.injection.skills.len();
    use_at(trajectory, place) == SkillUse::NotFollowed
        && places.any(|other| use_at(trajectory, other).is_followed())
}

/// Neutral judgements of the injected skills that were not followed while another one was. No role is asked about them: the
/// other skill caused the result, and a model that is asked about a failed attempt blames every skill in it.
pub(crate) fn not_followed(
    credit: &CreditPolicy,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    if credit.attribute != Attribute::Always {
        return Vec::new();
    }
    let judged = rollouts
        .iter()
        .filter(|rollout| rollout.report.success.is_some());
    let trajectories = judged.filter_map(|rollout| rollout.trajectory);
    let judgements = trajectories.flat_map(|trajectory| {
        let places = 0..trajectory.injection.skills.len();
        let places = places.filter(|place| another_was_followed(trajectory, *place));
        places.filter_map(|place| {
            let injected = trajectory.injection.skills.get(place)?;
            Some(LibraryChange::Attribute(Attribution {
                skill: injected.skill.clone(),
                attempt: trajectory.attempt.clone(),
                task: task.id.clone(),
                judgement: Judgement::Neutral,
                scope: String::new(),
                reason: "another skill was followed".to_owned(),
            }))
        })
    });
    judgements.collect()
}

/// The trace of an attempt; `None` if the attempt has no trajectory.
pub(crate) fn trace(seed: Seed, task: &Task, rollout: &Rollout<'_>) -> Option<Trace> {
    Some(kept(seed, task, rollout.trajectory?, rollout.verdict))
}

/// The trace of a trajectory, as the library keeps it and roles are shown it.
pub(crate) fn kept(
    seed: Seed,
    task: &Task,
    trajectory: &Trajectory,
    verdict: Option<&Verdict>,
) -> Trace {
    let trace = Trace {
        task: task.clone(),
        trajectory: trajectory.clone(),
        verdict: verdict.cloned(),
        world_seed: seed.derive("world", 0),
    };
    trace.lean()
}

/// Changes that have the library keep the attempts.
pub(crate) fn observations(
    context: &Context<'_>,
    step: u64,
    task: &Task,
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    let seed = context.step_seed(step);
    let traces = rollouts.iter().filter_map(|one| trace(seed, task, one));
    traces
        .map(|trace| LibraryChange::Observe(Box::new(trace)))
        .collect()
}

/// Exposures: which skills each attempt was given, and which it followed, as far as that is known (HiSME 3.3). Where
/// [`CreditPolicy::attribute`] asks a role, for all skills that were found; else for the injected skills on trial or in quarantine alone, which live attempts
/// release.
pub(crate) fn exposures(
    context: &Context<'_>,
    credit: &CreditPolicy,
    task: &Task,
    found: &[Candidate],
    rollouts: &[Rollout<'_>],
) -> Vec<LibraryChange> {
    let all = credit.attribute.asks();
    let on_trial = |skill: &SkillRef| {
        let entry = context.library.get(&skill.id);
        entry.is_some_and(|entry| entry.skill.state == State::Trial || context.tries(entry))
    };
    let mut changes = Vec::new();
    for rollout in rollouts
        .iter()
        .filter(|one| all || one.trajectory.is_some())
    {
        let injected = &rollout.report.injected;
        let found = found.iter().map(|candidate| &candidate.skill);
        let others = found.filter(|skill| all && !injected.contains(skill));
        let attempt = &rollout.report.attempt;
        let outcome = rollout.report.success.map(|success| ExposureOutcome {
            task: task.id.clone(),
            success,
            refused: rollout.refused(),
        });
        let injected = injected.iter().filter(|skill| all || on_trial(skill));
        changes.extend(injected.map(|skill| {
            // An attempt that was not made followed nothing.
            let used = rollout
                .trajectory
                .map_or(SkillUse::NotFollowed, |trajectory| {
                    use_of(trajectory, skill)
                });
            // Where nothing can be replayed, a refined version is compared with how the version before did.
            let counts = on_trial(skill) || !context.replays;
            let outcome = outcome.clone().filter(|_| counts);
            expose(skill, attempt, (true, used), outcome)
        }));
        changes.extend(
            others.map(|skill| expose(skill, attempt, (false, SkillUse::NotFollowed), None)),
        );
    }
    changes
}

fn expose(
    skill: &SkillRef,
    attempt: &AttemptId,
    (injected, used): (bool, SkillUse),
    outcome: Option<ExposureOutcome>,
) -> LibraryChange {
    LibraryChange::Expose {
        skill: skill.clone(),
        attempt: attempt.clone(),
        injected,
        used,
        outcome,
    }
}

/// The taint of a skill that is written from the rollouts at these places (J7).
pub(crate) fn taint(sources: &[usize], rollouts: &[Rollout<'_>]) -> Taint {
    let sources = sources.iter();
    let shown = sources.filter_map(|place| rollouts.get(*place)?.trajectory);
    shown.map(Trajectory::taint).max().unwrap_or_default()
}
