//! The second way in: the host keeps its own agent loop and reports on each attempt.

use std::{fmt, sync::Arc};

use super::{
    group::{Group, verdict_of},
    locking::lock,
    session::Session,
};
use crate::{
    contract::TurnContext,
    domain::{EndReason, Injection, Outcome, SkillRef, Step, Task, Trajectory, Usage},
    error::{Error, ErrorKind, Result},
    policy::Answer,
    report::TaskReport,
    run::{
        driver::{
            log::Log,
            redacting::holds_mark,
            sound,
            turning::{Next, Turning},
        },
        machine::{AttemptNeed, Need, NeedId, RunMachine},
    },
    text::{quote_skill_marks, skill_block},
};

/// One attempt in the host's own agent loop.
///
/// Handles are concurrent. One that is dropped without [`finish`](Self::finish) counts as abandoned: it credits
/// nothing, and the rest of its group is learned from.
///
/// ```
/// use std::num::NonZeroUsize;
/// use journeyman::{
///     Seed,
///     contract::Backends,
///     domain::{Outcome, Task},
///     recipe,
///     run::{Journeyman, Options},
/// };
///
/// # futures::executor::block_on(async {
/// let options = Options::new("desk", Seed(7));
/// let journeyman = Journeyman::open(Backends::own_loop(), recipe::standard(), options).await?;
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
    id: NeedId,
    /// With the task as the host gave it.
    need: Box<AttemptNeed>,
    /// Whether the task holds a secret.
    of_secrets: bool,
    turning: Turning,
    steps: Vec<Step>,
    usage: Usage,
    finished: bool,
}

/// Without the task and the steps: they are the host's, with their secrets.
impl fmt::Debug for AttemptHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AttemptHandle")
            .field("attempt", &self.need.attempt)
            .field("steps", &self.steps.len())
            .finish_non_exhaustive()
    }
}

impl AttemptHandle {
    /// The handles of a machine's open attempts.
    pub(crate) fn group(
        session: &Arc<Session>,
        machine: RunMachine,
        log: Log,
    ) -> Result<Vec<Self>> {
        let mut attempts = Vec::new();
        for (id, need) in machine.needs() {
            if let Need::Attempt(mut need) = need {
                let of_secrets = holds_mark(&need.task);
                need.task = session.redacting().real(&need)?;
                let turning = Turning::new(&session.performer, &need, need.task.clone())?;
                attempts.push((id, need, of_secrets, turning));
            }
        }
        let group = Arc::new(Group::new(machine, log, attempts.len()));
        let handles = attempts.into_iter();
        let handles = handles.map(|(id, need, of_secrets, turning)| Self {
            session: Arc::clone(session),
            group: Arc::clone(&group),
            id,
            need,
            of_secrets,
            turning,
            steps: Vec::new(),
            usage: Usage::default(),
            finished: false,
        });
        Ok(handles.collect())
    }

    /// The task, as the host gave it.
    pub fn task(&self) -> &Task {
        &self.need.task
    }

    /// The skills of this attempt's first turn; often none. [`turn`](Self::turn) has those of later ones.
    pub fn injection(&self) -> &Injection {
        self.turning.first()
    }

    /// The skills for a turn. Where they cannot be selected, those of the turn before stay. Selections for the handles of one
    /// group are made one after the other, so poll their futures together and leave none of them waiting unpolled.
    ///
    /// # Errors
    /// `Corrupt` where a skill is not what the library recorded; go on without injection then.
    pub async fn turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
        match self.turning.next(context) {
            Next::Same(injection) => Ok(injection),
            Next::Select(query) => {
                let ask = self.turning.ask(&self.id, context.turn, query.clone());
                let chosen = self.session.select(&self.group, ask).await;
                self.turning.give(context.turn, query, chosen)
            }
        }
    }

    /// Records a step; it is numbered here.
    pub fn record(&mut self, mut step: Step) {
        step.index = u32::try_from(self.steps.len()).unwrap_or(u32::MAX);
        self.steps.push(step);
    }

    /// What the agent's model is asked, the skills of the first turn in front (ARISE C.4): `SKILL:` and the skill's text, then
    /// the task. A line of the task that begins like a skill is quoted.
    pub fn prompt(&self) -> String {
        let skills = self.injection().skills.iter();
        let mut prompt: String = skills.map(|one| skill_block(&one.text)).collect();
        prompt.push_str(&quote_skill_marks(&self.task().instruction));
        prompt
    }

    /// Whether a skill stands in the first prompt, and which comes first.
    pub fn skill(&self) -> Option<&SkillRef> {
        self.injection().skills.first().map(|one| &one.skill)
    }

    /// The agent used a skill. One that was not injected is passed over.
    pub fn used(&self, skill: &SkillRef) {
        self.turning.used(skill);
    }

    /// Adds to what the attempt cost.
    pub fn spend(&mut self, usage: Usage) {
        self.usage.prompt_tokens += usage.prompt_tokens;
        self.usage.output_tokens += usage.output_tokens;
    }

    /// Ends the attempt. The host's outcome is the verdict, and no judge is asked; without one the host's judge decides from
    /// the steps. The last attempt of a group awaits judgement, credit, writing and commit, and gives the task's report.
    ///
    /// # Errors
    /// `Invalid` for an outcome whose score is outside [0, 1] or whose parts are not finite, and for a step with a
    /// log-probability that is not finite: the attempt counts as abandoned then. The error of the task's policy where that failed. What the store and the journal give; where that can pass, the group stays ready, and
    /// [`settle`](crate::run::Journeyman::settle) tries again.
    pub async fn finish(
        mut self,
        outcome: impl Into<Option<Outcome>>,
    ) -> Result<Option<TaskReport>> {
        let outcome = outcome.into();
        let mut verdict = outcome.as_ref().map(verdict_of).transpose()?;
        let (injection, left_out, exposures) = self.turning.given();
        let trajectory = Trajectory {
            schema: Trajectory::SCHEMA,
            attempt: self.need.attempt.clone(),
            task: self.need.task.id.clone(),
            seed: self.need.seed,
            steps: std::mem::take(&mut self.steps),
            exposures,
            injection,
            left_out,
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
