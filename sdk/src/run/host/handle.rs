//! [`AttemptHandle`], through which a host with its own agent loop reports an attempt.

use std::{fmt, sync::Arc};

use super::{
    group::{AttemptGroup, Group, verdict_of},
    locking::lock,
    session::Session,
};
use crate::{
    contract::TurnContext,
    domain::{EndReason, Injection, Outcome, SkillRef, SkillUse, Step, Task, Trajectory, Usage},
    error::{Error, ErrorKind, Result},
    policy::Answer,
    report::TaskReport,
    run::{
        driver::{
            Deciding, DecisionCost,
            log::Log,
            redacting::holds_mark,
            sound,
            turning::{Next, Turning},
        },
        machine::{AttemptEffect, Effect, EffectId, RunMachine},
    },
    text::{quote_skill_marks, skill_block},
};

/// One attempt in the host's own agent loop.
///
/// Several handles can be used concurrently. A handle that is dropped without [`finish`](Self::finish) counts as abandoned:
/// its attempt credits no skill, and the other attempts of the group are still learned from.
///
/// ```
/// use std::num::NonZeroUsize;
/// use journeyman::{
///     Seed,
///     contract::Components,
///     domain::{Outcome, Task},
///     recipe,
///     run::{Journeyman, Options},
/// };
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let journeyman = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
/// let task = Task::new("t-1", "close ticket 17");
/// let mut group = journeyman.begin_group(task, NonZeroUsize::new(2).expect("not 0")).await?;
/// let (last, first) = (group.remove(1), group.remove(0));
/// assert!(first.finish(Outcome::success()).await?.is_none(), "the other is under way");
/// let report = last.finish(Outcome::failure()).await?.expect("the group is complete");
/// assert_eq!(report.attempts.len(), 2);
/// # Ok::<_, journeyman::Error>(())
/// # })?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub struct AttemptHandle {
    session: Arc<Session>,
    group: Arc<Group>,
    id: EffectId,
    /// The effect of this attempt, with the original task.
    effect: Box<AttemptEffect>,
    /// Whether the task holds a secret.
    of_secrets: bool,
    turning: Turning,
    /// What its decisions about skills cost.
    cost: Deciding,
    steps: Vec<Step>,
    usage: Usage,
    finished: bool,
}

/// Omits the task and the steps, which may hold secrets.
impl fmt::Debug for AttemptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptHandle")
            .field("attempt", &self.effect.attempt)
            .field("steps", &self.steps.len())
            .finish_non_exhaustive()
    }
}

impl AttemptHandle {
    /// The handles of a machine's open attempts.
    pub(crate) fn all(
        session: &Arc<Session>,
        machine: RunMachine,
        log: Log,
        cost: &Deciding,
    ) -> Result<Vec<Self>> {
        let mut attempts = Vec::new();
        for (id, effect) in machine.effects() {
            if let Effect::Attempt(mut effect) = effect {
                let of_secrets = holds_mark(&effect.task);
                effect.task = session.redacting().real(&effect)?;
                let turning = Turning::new(&session.performer, &effect, effect.task.clone())?;
                attempts.push((id, effect, of_secrets, turning));
            }
        }
        let group = Arc::new(Group::new(machine, log, attempts.len()));
        let handles = attempts.into_iter();
        let handles = handles.map(|(id, effect, of_secrets, turning)| Self {
            session: Arc::clone(session),
            group: Arc::clone(&group),
            id,
            effect,
            of_secrets,
            turning,
            cost: cost.apart(),
            steps: Vec::new(),
            usage: Usage::default(),
            finished: false,
        });
        Ok(handles.collect())
    }

    /// The group of this attempt, which can be asked about after [`finish`](Self::finish).
    pub fn group(&self) -> AttemptGroup {
        AttemptGroup(Arc::clone(&self.group))
    }

    /// The original task, as the host gave it.
    pub fn task(&self) -> &Task {
        &self.effect.task
    }

    /// The skills of this attempt's first turn; often none. [`turn`](Self::turn) gives the skills of later turns.
    pub fn injection(&self) -> &Injection {
        self.turning.first()
    }

    /// What deciding about its skills took so far; zero for a host without a clock. The attempts of a group share the decision
    /// that they begin with. [`Options::decide_within`](crate::run::Options::decide_within) bounds each decision.
    pub fn decision_cost(&self) -> DecisionCost {
        self.cost.cost()
    }

    /// The skills for a turn. If they cannot be selected, the skills of the turn before stay. The handles of one group make
    /// their selections one after the other: poll all their futures, because one that is not polled blocks the others.
    ///
    /// # Errors
    /// `Corrupt` where a skill's content does not have the hash that the library recorded. Continue without skills then.
    pub async fn turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
        match self.turning.next(context) {
            Next::Same(injection) => Ok(injection),
            Next::Select(query) => {
                let ask = self.turning.ask(&self.id, context.turn, query.clone());
                let chosen = self.session.select(&self.cost, &self.group, ask).await;
                self.turning.give(context.turn, query, chosen)
            }
        }
    }

    /// Records a step, and sets its index.
    pub fn record(&mut self, mut step: Step) {
        step.index = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.steps.push(step);
    }

    /// The steps recorded so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// A prompt for the agent's model: each skill of the first turn as `SKILL:` and its text, then the task's instruction
    /// (ARISE C.4). A line of the instruction that looks like the start of a skill is quoted.
    pub fn prompt(&self) -> String {
        let skills = self.injection().skills.iter();
        let mut prompt: String = skills.map(|one| skill_block(&one.text)).collect();
        prompt.push_str(&quote_skill_marks(&self.task().instruction));
        prompt
    }

    /// The first skill of the first turn, if there is one.
    pub fn skill(&self) -> Option<&SkillRef> {
        self.injection().skills.first().map(|one| &one.skill)
    }

    /// Records whether the agent followed a skill: say of each injected skill what you know. A skill of which nothing is said has an
    /// unknown use, for a host that never calls this too. Over an attempt followed beats not followed. A skill that was not
    /// injected is ignored.
    pub fn used(&self, skill: &SkillRef, used: SkillUse) {
        self.turning.used(skill, used);
    }

    /// Adds to the attempt's token usage.
    pub fn spend(&mut self, usage: Usage) {
        self.usage.add(usage);
    }

    /// Ends the attempt. If the host gives an outcome, it becomes the verdict and no judge is asked; otherwise the host's
    /// judge decides from the steps. For the last attempt of a group, this also judges, credits, writes and commits, and
    /// returns the task's report; for the others it returns `None`.
    ///
    /// # Errors
    /// - `Invalid` for an outcome whose score is outside [0, 1] or whose parts are not finite, and for a step with a
    ///   log-probability that is not finite. The attempt then counts as abandoned, and its outcome as not reported.
    /// - The error of the task's policy, if it failed.
    /// - The error of the store or the journal. If it can pass, the group keeps waiting, and
    ///   [`settle`](crate::run::Journeyman::settle) tries again. If it is permanent (`Unsupported`, `Conflict`, `Invalid`),
    ///   the group is dropped, and its run stays in the journal.
    ///
    /// After an error of the last two kinds, [`AttemptGroup::status`] tells a group that waits from one that is through.
    pub async fn finish(
        mut self,
        outcome: impl Into<Option<Outcome>>,
    ) -> Result<Option<TaskReport>> {
        let outcome = outcome.into();
        let mut verdict = outcome.as_ref().map(verdict_of).transpose()?;
        let given = self.turning.given();
        let trajectory = Trajectory {
            schema: Trajectory::SCHEMA,
            attempt: self.effect.attempt.clone(),
            task: self.effect.task.id.clone(),
            seed: self.effect.seed,
            steps: std::mem::take(&mut self.steps),
            exposures: given.exposures,
            injection: given.injection,
            left_out: given.left_out,
            undecided: given.undecided,
            unread: None,
            compaction: crate::domain::Compaction::NONE,
            outcome,
            end: EndReason::Finished,
            usage: self.usage,
        };
        let trajectory = sound::trajectory(Box::new(trajectory))?;
        self.finished = true;
        let mut answer = Answer::Attempted(Ok(trajectory));
        let redacting = self.session.redacting();
        redacting.answer(&mut answer, self.of_secrets);
        if let Some(verdict) = &mut verdict {
            redacting.verdict(verdict);
        }
        if !self.group.hand_in(self.id.clone(), answer, verdict) {
            return Ok(None);
        }
        let (group, session) = (Arc::clone(&self.group), Arc::clone(&self.session));
        drop(self);
        session.complete(group).await
    }
}

impl Drop for AttemptHandle {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        let abandoned = Error::new(
            ErrorKind::Cancelled,
            "AttemptHandle::drop",
            "the host abandoned the attempt",
        );
        if self
            .group
            .hand_in(self.id.clone(), Answer::Attempted(Err(abandoned)), None)
        {
            lock(&self.session.ready).push(Arc::clone(&self.group));
        }
    }
}
