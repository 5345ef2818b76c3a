//! Attempts in a host's own agent loop, and [`AttemptHandle`], through which the host reports one.

use std::{
    fmt,
    num::{NonZeroU32, NonZeroUsize},
    sync::Arc,
};

use crate::{
    contract::TurnContext,
    domain::{
        EndReason, Injection, Mode, Outcome, SkillRef, SkillUse, Step, Task, Trajectory, Usage,
    },
    error::{Error, ErrorKind, Result},
    policy::Answer,
    run::{
        driver::{
            Deciding, DecisionCost,
            attempt::{Next, Turning},
            drive::Log,
            performer::sound_trajectory,
            redaction::holds_mark,
        },
        host::{
            group::{AttemptGroup, Group, verdict_of},
            journeyman::Journeyman,
            locking::lock,
            session::Session,
        },
        machine::{AttemptEffect, Effect, EffectId, RunMachine},
        report::TaskReport,
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
            model: None,
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
        let trajectory = sound_trajectory(Box::new(trajectory))?;
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

// Attempts in the host's own agent loop: beginning them, and completing their groups.

/// Maximum number of waiting groups that one call of `begin` or `learn` completes.
const SETTLED_AT_ONCE: usize = 16;

impl Journeyman {
    /// Begins one attempt in the host's own agent loop. Its gate never explores, unless
    /// [`Options::explore_live`](crate::run::Options::explore_live) says so; skills on trial are offered as in learning. In a read-only session the skills are selected as in an evaluation,
    /// and nothing is learned from the attempt.
    ///
    /// # Errors
    /// The error of the store or the journal. If the retriever or the scorer fails, the attempt begins without skills.
    pub async fn begin(&self, task: Task) -> Result<AttemptHandle> {
        let mut handles = self.begin_group(task, NonZeroUsize::MIN).await?;
        handles
            .pop()
            .ok_or_else(|| Error::internal("Journeyman::begin", "a group without attempts"))
    }

    /// Begins `n` attempts at one task that are credited and learned from as a group.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn begin_group(&self, task: Task, n: NonZeroUsize) -> Result<Vec<AttemptHandle>> {
        self.settle_some().await;
        if self.session.read_only {
            let mut handles = Vec::new();
            for _ in 0..n.get() {
                handles.extend(
                    self.begin_as(Mode::Evaluate, task.clone(), NonZeroU32::MIN)
                        .await?,
                );
            }
            return Ok(handles);
        }
        let group = NonZeroU32::try_from(n).unwrap_or(NonZeroU32::MAX);
        self.begin_as(Mode::Train, task, group).await
    }

    async fn begin_as(
        &self,
        mode: Mode,
        task: Task,
        group: NonZeroU32,
    ) -> Result<Vec<AttemptHandle>> {
        let mut recipe = self.session.recipe.clone();
        recipe.attempts.group = group;
        let run = self.session.next_run("begin");
        let (mut machine, mut log) = self
            .session
            .machine(run, recipe, mode, vec![task], true)
            .await?;
        let cost = Deciding::default();
        self.session.decide(&cost, &mut machine, &mut log).await?;
        AttemptHandle::all(&self.session, machine, log, &cost)
    }

    /// Completes the waiting groups: those whose last attempt was abandoned, or whose completion failed or was cancelled.
    /// [`begin`](Self::begin) and [`learn`](Self::learn) also complete some of them, the oldest first, up to the first that
    /// fails.
    ///
    /// # Errors
    /// The first error of a task's policy, the store or the journal; every group is tried before it is returned. A group
    /// whose policy fails is through. A group that the store or the journal refuses permanently (`Unsupported`, `Conflict`,
    /// `Invalid`) is dropped, and its run stays in the journal. Any other failed group keeps waiting. The reports of the
    /// completed groups are then available only as events, and [`AttemptGroup::status`](crate::run::AttemptGroup::status) says what became of one group.
    pub async fn settle(&self) -> Result<Vec<TaskReport>> {
        let mut reports = Vec::new();
        let mut failed = None;
        // Groups are taken one at a time, so that the others keep waiting if this future is dropped.
        let count = lock(&self.session.ready).len();
        for _ in 0..count {
            let Some(group) = self.next_ready() else {
                break;
            };
            match self.session.complete(group).await {
                Ok(report) => reports.extend(report),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(reports), Err)
    }

    /// The group that has waited longest.
    fn next_ready(&self) -> Option<Arc<Group>> {
        let mut ready = lock(&self.session.ready);
        (!ready.is_empty()).then(|| ready.remove(0))
    }

    /// Completes some waiting groups. Stops at the first failure, so that a group that cannot be completed neither prevents
    /// nor slows down new attempts.
    pub(crate) async fn settle_some(&self) {
        for _ in 0..SETTLED_AT_ONCE {
            let Some(group) = self.next_ready() else {
                return;
            };
            if let Err(error) = self.session.complete(group).await {
                tracing::warn!(%error, "a group of attempts could not be completed");
                return;
            }
        }
    }
}
