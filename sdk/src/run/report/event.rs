//! The progress events of a run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Assessment, Candidate, Drift, EndReason, Judgement, Role, Selection, Skill, SkillName,
        SkillRef, State,
    },
    id::{AttemptId, ModelId, Revision, RunId, Seed, SkillId, TaskId},
    library::Move,
    run::report::{AttemptReport, CallKind, CallRefusal, LiftReport, TaskReport},
    text::plain_terminal,
};

/// A progress event of a run, for people and dashboards. The order of events does not depend on timing.
///
/// Every event names its run. An event of a task also names the task, and an event of an attempt the attempt, so that the
/// events of concurrent attempts can be separated. [`Display`](std::fmt::Display) formats one line for a log.
///
/// ```
/// use journeyman::prelude::*;
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let session = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let mut events = session.events();
/// let attempt = session.begin(Task::new("t-1", "Close ticket 17.")).await?;
/// attempt.finish(Outcome::success()).await?;
///
/// let mut kinds = Vec::new();
/// while let Some(event) = events.try_next() {
///     assert!(event.run.is_of("desk"));
///     println!("{event}");
///     kinds.push(event.kind);
/// }
/// assert!(matches!(kinds.first(), Some(EventKind::RunStarted { tasks: 1, .. })));
/// assert!(kinds.iter().any(|kind| matches!(kind, EventKind::TaskFinished { .. })));
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The run.
    pub run: RunId,
    /// The task's index in the run's stream, from 0. For an event of maintenance: the index of the last task before it.
    pub step: Option<u64>,
    /// The task at that index.
    pub task: Option<TaskId>,
    /// The attempt, if the event belongs to one.
    pub attempt: Option<AttemptId>,
    /// The kind of the event, with its data.
    pub kind: EventKind,
}

impl Event {
    /// An event of a run, or of its task at an index.
    pub(crate) fn new(run: &RunId, place: Option<(u64, &TaskId)>, kind: EventKind) -> Self {
        let attempt = match (&kind, place) {
            (EventKind::Attempted { report, .. }, _) => Some(report.attempt.clone()),
            (EventKind::Credited { attempt, .. } | EventKind::Attributed { attempt, .. }, _) => {
                Some(attempt.clone())
            }
            (EventKind::Selected { rollout, .. }, Some((step, _))) => {
                Some(AttemptId::of(run, step, *rollout))
            }
            _ => None,
        };
        Self {
            run: run.clone(),
            step: place.map(|(step, _)| step),
            task: place.map(|(_, task)| task.clone()),
            attempt,
            kind,
        }
    }
}

/// The kinds of events, with their data.
///
/// ```
/// use journeyman::{Seed, run::report::EventKind};
///
/// // As JSON a kind has its name and its data side by side.
/// let json = serde_json::to_value(EventKind::RunStarted { seed: Seed(7), tasks: 3 })?;
/// assert_eq!((json["event"].as_str(), json["tasks"].as_u64()), (Some("run_started"), Some(3)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum EventKind {
    /// A run began.
    RunStarted {
        /// The seed from which all randomness of the run is derived.
        seed: Seed,
        /// Number of tasks.
        tasks: u64,
    },
    /// Candidates for a task's query were retrieved.
    Retrieved {
        /// The candidates, the best first.
        candidates: Vec<Candidate>,
    },
    /// A bank's general skills stand alone: none of the skills of the task's category could be chosen (SkillRL Eq. 4).
    GeneralAlone {
        /// The reason.
        reason: String,
    },
    /// The selector chose the skills for one attempt or for a whole group of attempts.
    Selected {
        /// The attempt's number within its group, from 0; 0 where one selection serves the whole group.
        rollout: u32,
        /// The decision and its grounds.
        selection: Selection,
        /// The names of the skills to inject, in the selection's order.
        names: Vec<SkillName>,
    },
    /// The scores of the gate's decisions are no longer those that its threshold was fitted on
    /// ([`ScoreDrift`](crate::stations::select::ScoreDrift)). A session says it once, behind the decision that showed it; it changes no
    /// decision, and no journal has it.
    ScoresDrifted {
        /// Number of decisions of the session that were compared.
        decisions: u64,
        /// The evidence: where nothing drifts, it ever exceeds `x` with a probability of at most `1 / x`.
        evidence: f64,
    },
    /// An attempt was made and judged, or could not be.
    Attempted {
        /// The attempt's number within its group, from 0.
        rollout: u32,
        /// The attempt's report.
        report: Box<AttemptReport>,
    },
    /// A skill was credited with the reward of an attempt that had it in its prompt.
    Credited {
        /// The version of the skill.
        skill: SkillRef,
        /// The skill's name.
        name: SkillName,
        /// The attempt.
        attempt: AttemptId,
        /// The attempt's reward, in the range that the recipe defines.
        reward: f64,
        /// The skill's utility after the commit, in the range of rewards.
        utility: f64,
    },
    /// A role judged a skill's effect on an attempt (HiSME, algorithm 1).
    Attributed {
        /// The version of the skill.
        skill: SkillRef,
        /// The skill's name.
        name: SkillName,
        /// The attempt.
        attempt: AttemptId,
        /// The effect.
        judgement: Judgement,
        /// The reason, in the role's words.
        reason: String,
    },
    /// A skill entered the library, or a new version of one did.
    Admitted {
        /// The skill as the library holds it, with its final name and state.
        skill: Box<Skill>,
        /// Whether it replaces an earlier version.
        revised: bool,
    },
    /// No role was asked to write a skill from the task's attempts.
    NotDue {
        /// The reason.
        reason: String,
        /// Whether the reason is that the agent does too well for the recipe's bound
        /// ([`WriteWhen::Below`](crate::stations::propose::WriteWhen::Below)).
        #[serde(default)]
        above: bool,
        /// Whether every attempt was done with the full score and without a refusal, so that there was nothing to learn.
        #[serde(default)]
        flawless: bool,
    },
    /// No draft could be made, or a draft was not admitted into the library.
    Refused {
        /// The reason.
        reason: String,
    },
    /// A call of the curator was refused (SkillOS, architecture).
    CallRefused {
        /// The kind of the call.
        call: CallKind,
        /// The skill's name as the model wrote it; of an unknown tool the tool's name.
        about: String,
        /// The reason.
        refusal: CallRefusal,
    },
    /// A role's answers could not be parsed, and a draft was made without a model instead (ARISE D.1).
    FellBack {
        /// The role.
        role: Role,
        /// Why no answer could be parsed.
        reason: String,
        /// What the model wrote last, as far as it is kept ([`AttemptReport::unread`]).
        #[serde(default)]
        wrote: String,
    },
    /// A skill entered the library on trial or in quarantine.
    Waits {
        /// The version of the skill.
        skill: SkillRef,
        /// The skill's name.
        name: SkillName,
        /// The skill's state: on trial, or in quarantine.
        state: State,
        /// The condition under which the skill becomes active.
        reason: String,
    },
    /// A skill was released, taken out of use, or moved to another state.
    StateChanged {
        /// The skill.
        skill: SkillId,
        /// The skill's name.
        name: SkillName,
        /// The new state.
        state: State,
        /// The reason.
        reason: String,
    },
    /// It was proven that a skill helps or harms with a model, which was not known, or known otherwise, before
    /// ([`ProvenRelease`](crate::stations::proof::ProvenRelease)).
    Proven {
        /// The version of the skill.
        skill: SkillRef,
        /// The skill's name.
        name: SkillName,
        /// The model that acted, with its adapter.
        model: ModelId,
        /// Whether more is done with the skill; else less is.
        helps: bool,
    },
    /// Since this task, those that went without skills by chance say otherwise than before whether a skill, or the library as a whole, helps
    /// ([`Lifts`](crate::stations::proof::Lifts)); of changes that other runs bring, these say so. Only where the recipe withholds
    /// ([`SelectPolicy::withhold`](crate::stations::select::SelectPolicy::withhold)). It is as sure as the recipe's program `proven` has to
    /// be, where it has that program, and else as [`LiftPolicy::default`](crate::stations::proof::LiftPolicy::default).
    LiftChanged {
        /// What they say now.
        lift: Box<LiftReport>,
    },
    /// Overlapping attempts and skills were given to the role `refactor` (HiSME, appendix C).
    Grouped {
        /// The attempts of the group.
        attempts: Vec<AttemptId>,
        /// The skills of the group.
        skills: Vec<SkillId>,
        /// What the members of the group have in common, as JSON.
        reason: String,
    },
    /// The prompt of a role was made shorter to fit the context of its model.
    RoleShortened {
        /// The role.
        role: Role,
        /// Tokens of the whole prompt.
        whole: u64,
        /// Tokens of the prompt that was sent.
        sent: u64,
        /// What was left out, in words; empty where the role does not say.
        left_out: String,
    },
    /// A role's model failed, or no answer of the role could be parsed.
    RoleFailed {
        /// The role.
        role: Role,
        /// The error text.
        reason: String,
    },
    /// The recipe's assessor failed, so that the attempt has no assessment ([`Recipe::assess`](crate::recipe::Recipe::assess)).
    AssessFailed {
        /// The attempt's place in its group, from 0.
        rollout: u32,
        /// The error text.
        reason: String,
    },
    /// A test case could not be played or judged. It counts neither for its skill nor against it.
    CaseFailed {
        /// The case's name.
        case: String,
        /// The error text.
        reason: String,
    },
    /// The budget of a round of maintenance was used up, so that something was left out. It stays due.
    OverBudget {
        /// How many.
        count: u32,
        /// Of what: `calls of roles`, `test cases`, or the part of maintenance that did not begin.
        of: String,
    },
    /// A task's policy failed. Nothing was learned from the task.
    TaskFailed {
        /// The error text.
        reason: String,
    },
    /// A maintenance program failed. It committed nothing; earlier commits stay.
    MaintenanceFailed {
        /// The program's name: `micro`, `macro`, `bank`, `gains`, `prototypes`, or that of a host's own.
        part: String,
        /// The error text.
        reason: String,
    },
    /// An attempt was assessed.
    Assessed {
        /// The attempt's number within its group, from 0.
        rollout: u32,
        /// Its subgoals with their prototypes and scores.
        assessment: Box<Assessment>,
        /// Its process score, in [0, 1]; `None` where no subgoal has a score.
        process: Option<f64>,
    },
    /// The assessed subgoals were clustered again.
    PrototypesRefreshed {
        /// Number of subgoals.
        subgoals: usize,
        /// Number of prototypes now.
        prototypes: usize,
        /// Number of these that were there before.
        persisting: usize,
        /// Number of prototypes before.
        before: usize,
        /// Number of clusters of one subgoal, which become no prototype.
        #[serde(default)]
        alone: usize,
        /// Number of other clusters that became no prototype: of attempts of which none is kept any more, or whose rubric could
        /// not be distilled, for which an event has the reason.
        #[serde(default)]
        left_out: usize,
    },
    /// The anchors were judged again.
    AnchorsChecked {
        /// How far the judge moved since the first checkpoint.
        drift: Drift,
    },
    /// Skills moved between the tiers, or were deleted.
    Moved {
        /// The moves, in the order in which they were made.
        moves: Vec<Move>,
    },
    /// A commit changed the library.
    Committed {
        /// The library's revision after the commit.
        revision: Revision,
        /// How many times the commit was rebased because another writer committed first.
        rebased: u32,
    },
    /// A task is finished.
    TaskFinished {
        /// The task's report.
        report: Box<TaskReport>,
    },
    /// The run is finished.
    RunFinished {
        /// The library's revision at the end.
        revision: Revision,
    },
}

/// One line: the run, task or attempt, and the event.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Texts of a host's part may hold line breaks and terminal escape sequences.
        let kind = self.kind.to_string();
        let words: Vec<&str> = kind.split_whitespace().collect();
        let kind = words.join(" ");
        let kind = plain_terminal(&kind);
        match (&self.attempt, &self.task) {
            (Some(attempt), Some(task)) => write!(f, "{attempt} ({task}): {kind}"),
            (Some(attempt), None) => write!(f, "{attempt}: {kind}"),
            (None, Some(task)) => write!(f, "{} ({task}): {kind}", self.run),
            (None, None) => write!(f, "{}: {kind}", self.run),
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RunStarted { seed, tasks } => write!(f, "run of {tasks} tasks, seed {seed}"),
            Self::GeneralAlone { reason } => write!(f, "general skills alone: {reason}"),
            Self::Retrieved { candidates } => match candidates.len() {
                1 => f.write_str("found 1 candidate"),
                count => write!(f, "found {count} candidates"),
            },
            Self::Selected { .. } | Self::ScoresDrifted { .. } => fmt_gate(self, f),
            Self::Attempted { report, .. } => fmt_attempt(report, f),
            Self::Credited { .. }
            | Self::Attributed { .. }
            | Self::Proven { .. }
            | Self::LiftChanged { .. } => fmt_evidence(self, f),
            Self::Admitted { skill, revised } => {
                let what = if *revised { "revised" } else { "new" };
                write!(
                    f,
                    "{what} skill {} ({}): {}",
                    skill.name, skill.state, skill.description
                )
            }
            Self::NotDue { reason, .. } => write!(f, "no skill is to be written: {reason}"),
            Self::Refused { reason } => write!(f, "no skill is added: {reason}"),
            Self::CallRefused {
                call,
                about,
                refusal,
            } => write!(f, "{call} of {about} is refused: {refusal}"),
            Self::RoleShortened { .. } | Self::FellBack { .. } | Self::RoleFailed { .. } => {
                fmt_role(self, f)
            }
            Self::Waits { name, reason, .. } => write!(f, "skill {name} waits: {reason}"),
            Self::StateChanged {
                name,
                state,
                reason,
                ..
            } => write!(f, "skill {name} is {state}: {reason}"),
            Self::Grouped {
                attempts, skills, ..
            } => {
                let (attempts, skills) = (attempts.len(), skills.len());
                write!(f, "{attempts} attempts and {skills} skills overlap")
            }
            Self::AssessFailed { rollout, reason } => {
                write!(f, "attempt {rollout} is not assessed: {reason}")
            }
            Self::CaseFailed { case, reason } => {
                write!(
                    f,
                    "the test case {case} could not be played or judged: {reason}"
                )
            }
            Self::TaskFailed { reason } => write!(f, "the task failed: {reason}"),
            Self::OverBudget { .. } | Self::MaintenanceFailed { .. } => fmt_maintenance(self, f),
            Self::Assessed { .. }
            | Self::PrototypesRefreshed { .. }
            | Self::AnchorsChecked { .. } => fmt_assessment(self, f),
            Self::Moved { moves } => match moves.len() {
                1 => f.write_str("one skill moved between the tiers"),
                count => write!(f, "{count} skills moved between the tiers"),
            },
            Self::Committed { revision, .. } => write!(f, "library at revision {revision}"),
            Self::TaskFinished { report } => fmt_task(report, f),
            Self::RunFinished { revision } => write!(f, "run finished at revision {revision}"),
        }
    }
}

fn fmt_role(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::RoleShortened {
            role,
            whole,
            sent,
            left_out,
        } => write!(
            f,
            "the prompt of the role {role} was shortened from {whole} to {sent} tokens; left out: {left_out}"
        ),
        EventKind::FellBack { role, reason, .. } => write!(
            f,
            "no answer of the role {role} could be read, so its skill is the abstracted trace: {reason}"
        ),
        EventKind::RoleFailed { role, reason } => write!(f, "role {role} failed: {reason}"),
        _ => Ok(()),
    }
}

fn fmt_maintenance(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::OverBudget { count, of } => {
            write!(f, "the budget of maintenance leaves out {count}: {of}")
        }
        EventKind::MaintenanceFailed { part, reason } => {
            write!(f, "the {part} part of maintenance failed: {reason}")
        }
        _ => Ok(()),
    }
}

fn fmt_evidence(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::Credited {
            name,
            reward,
            utility,
            ..
        } => write!(
            f,
            "skill {name} is credited with a reward of {reward:.2}, its utility is {utility:.3}"
        ),
        EventKind::Attributed {
            name,
            judgement,
            reason,
            ..
        } => write!(f, "skill {name} was {judgement}: {reason}"),
        EventKind::Proven {
            name, model, helps, ..
        } => {
            let does = if *helps { "helps" } else { "harms" };
            write!(f, "it is proven that skill {name} {does} with {model}")
        }
        EventKind::LiftChanged { lift } => write!(f, "{lift}"),
        _ => Ok(()),
    }
}

fn fmt_assessment(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::Assessed {
            assessment,
            process,
            ..
        } => {
            let count = assessment.subgoals.len();
            match process {
                Some(process) => write!(f, "{count} subgoals, process score {process:.2}"),
                None => write!(f, "{count} subgoals, none of them scored"),
            }
        }
        EventKind::PrototypesRefreshed {
            subgoals,
            prototypes,
            persisting,
            before,
            alone,
            left_out,
        } => write!(
            f,
            "{prototypes} prototypes of {subgoals} subgoals; {persisting} of the {before} before go on, {alone} clusters of one and {left_out} others became none"
        ),
        EventKind::AnchorsChecked { drift } => write!(
            f,
            "{} anchors judged again: {} with another score than at first, {:+.2} points on average",
            drift.anchors, drift.changed, drift.mean
        ),
        _ => Ok(()),
    }
}

fn fmt_gate(kind: &EventKind, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match kind {
        EventKind::Selected {
            selection, names, ..
        } => fmt_selected(selection, names, f),
        EventKind::ScoresDrifted { decisions, .. } => write!(
            f,
            "the scores of the gate's decisions have drifted since the fit of its threshold, as {decisions} decisions show: calibrate again"
        ),
        _ => Ok(()),
    }
}

fn fmt_selected(
    selection: &Selection,
    names: &[SkillName],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if !names.is_empty() {
        let names: Vec<&str> = names.iter().map(SkillName::as_str).collect();
        write!(f, "{}: ", names.join(", "))?;
    }
    write!(f, "{selection}")
}

fn fmt_attempt(report: &AttemptReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match (&report.error, report.success) {
        (Some(error), _) => write!(f, "not made or not judged: {error}"),
        (None, Some(true)) => write!(f, "done in {} steps", report.steps),
        (None, Some(false)) => write!(f, "not done, {} steps{}", report.steps, Ended(report)),
        (None, None) => write!(f, "{} steps, not judged{}", report.steps, Ended(report)),
    }
}

/// Formats the end reason of an attempt that did not end in the environment's own end.
struct Ended<'a>(&'a AttemptReport);

impl fmt::Display for Ended<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.end {
            None | Some(EndReason::Finished) => Ok(()),
            Some(end) => write!(f, ": {end}"),
        }
    }
}

fn fmt_task(report: &TaskReport, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let attempts = report.attempts.iter();
    let done = attempts.filter(|one| one.success == Some(true)).count();
    let all = report.attempts.len();
    write!(f, "task finished, {done} of {all} attempts done")
}
