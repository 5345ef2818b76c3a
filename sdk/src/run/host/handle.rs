//! The second way in: the host keeps its own agent loop and reports on each attempt.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use super::journeyman::{Inner, Journeyman, lock};
use crate::{
    contract::{Guidance, TurnContext},
    domain::{EndReason, Injection, Outcome, SkillRef, Step, Task, Trajectory, Usage, Verdict},
    error::{Error, ErrorKind, Result},
    policy::Answer,
    report::TaskReport,
    run::{
        driver::{drive::Reach, log::Log, redacting::holds_mark, turning::Turning},
        machine::{
            need::{AttemptNeed, Need, NeedId, Station},
            run_machine::RunMachine,
        },
    },
    text::{quote_skill_marks, skill_block},
};

/// The attempts of one group and the machine behind them.
#[derive(Debug)]
pub(crate) struct Group {
    state: Mutex<GroupState>,
}

#[derive(Debug)]
struct GroupState {
    /// Taken out by whoever completes the group.
    run: Option<(RunMachine, Log)>,
    open: usize,
}

impl Group {
    /// Takes an attempt's answer in, and its verdict where the host gave one; whether it was the last.
    fn hand_in(&self, id: NeedId, answer: Answer, verdict: Option<Verdict>) -> bool {
        let mut state = lock(&self.state);
        if let Some((_, log)) = &mut state.run {
            // An attempt's verdict is asked for behind it, in the same scope.
            let of_verdict = NeedId {
                station: Station::Judge,
                place: id.place.next(),
                ..id.clone()
            };
            log.answer(id, answer);
            if let Some(verdict) = verdict {
                log.answer(of_verdict, Answer::Judged(Ok(verdict)));
            }
        }
        state.open -= 1;
        state.open == 0
    }

    /// Judges, credits, writes and commits, once every attempt is in. On an error, or when it is cancelled, the group
    /// is ready again.
    pub(crate) async fn complete(self: Arc<Self>, inner: &Inner) -> Result<Option<TaskReport>> {
        let run = lock(&self.state).run.take();
        let mut held = Held {
            group: self,
            inner,
            run,
        };
        let Some((machine, log)) = &mut held.run else {
            return Ok(None);
        };
        inner.drive(machine, Reach::Everything, log).await?;
        let report = machine.report().tasks.into_iter().next();
        held.run = None;
        match report.as_ref().and_then(|report| report.failed.clone()) {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }
}

/// A group that is being completed: dropped before it is, it goes back, with all that was handed in.
struct Held<'a> {
    group: Arc<Group>,
    inner: &'a Inner,
    run: Option<(RunMachine, Log)>,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            lock(&self.group.state).run = Some(run);
            lock(&self.inner.ready).push(Arc::clone(&self.group));
        }
    }
}

/// One attempt in the host's own agent loop.
///
/// Handles are concurrent. One that is dropped without [`finish`](Self::finish) counts as abandoned: it credits
/// nothing, and the rest of its group is learned from.
pub struct AttemptHandle {
    journeyman: Journeyman,
    group: Arc<Group>,
    id: NeedId,
    /// With the task as the host gave it.
    need: Box<AttemptNeed>,
    /// Whether the task holds a secret.
    of_secrets: bool,
    guidance: Turning,
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
    pub(crate) fn group(
        journeyman: &Journeyman,
        machine: RunMachine,
        log: Log,
    ) -> Result<Vec<Self>> {
        let mut attempts = Vec::new();
        for (id, need) in machine.needs() {
            if let Need::Attempt(mut need) = need {
                let of_secrets = holds_mark(&need.task);
                need.task = journeyman.inner.redacting().real(&need)?;
                let guidance = Turning::new(&journeyman.inner.performer, &need, need.task.clone())?;
                attempts.push((id, need, of_secrets, guidance));
            }
        }
        let group = Arc::new(Group {
            state: Mutex::new(GroupState {
                run: Some((machine, log)),
                open: attempts.len(),
            }),
        });
        let handles = attempts.into_iter();
        let handles = handles.map(|(id, need, of_secrets, guidance)| Self {
            journeyman: journeyman.clone(),
            group: Arc::clone(&group),
            id,
            need,
            of_secrets,
            guidance,
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
        self.guidance.first()
    }

    /// The skills for a turn.
    ///
    /// # Errors
    /// As the stations behind it; go on without injection then.
    pub async fn turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
        self.guidance.for_turn(context).await
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
        self.guidance.used(skill);
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
    /// `Invalid` for an outcome whose score is outside [0, 1] or whose parts are not finite: the attempt counts as abandoned
    /// then. The error of the task's policy where that failed. What the store and the journal give; where that can pass, the group stays ready, and
    /// [`settle`](Journeyman::settle) tries again.
    pub async fn finish(
        mut self,
        outcome: impl Into<Option<Outcome>>,
    ) -> Result<Option<TaskReport>> {
        let outcome = outcome.into();
        let mut verdict = outcome.as_ref().map(verdict_of).transpose()?;
        self.finished = true;
        let (injection, left_out, exposures) = self.guidance.told();
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
        let mut answer = Answer::Attempted(Ok(Box::new(trajectory)));
        let redacting = self.journeyman.inner.redacting();
        redacting.answer(&mut answer, self.of_secrets);
        if let Some(verdict) = &mut verdict {
            redacting.verdict(verdict);
        }
        if !self.group.hand_in(self.id.clone(), answer, verdict) {
            return Ok(None);
        }
        let (group, journeyman) = (Arc::clone(&self.group), self.journeyman.clone());
        drop(self);
        group.complete(&journeyman.inner).await
    }
}

/// The verdict that a host's outcome is.
fn verdict_of(outcome: &Outcome) -> Result<Verdict> {
    let verdict = Verdict {
        success: Some(outcome.success),
        score: outcome.score,
        parts: outcome.parts.clone(),
        evidence: vec!["the host's outcome".to_owned()],
    };
    if verdict.is_valid() {
        return Ok(verdict);
    }
    Err(Error::invalid(
        "AttemptHandle::finish",
        "the outcome's score is outside [0, 1], or one of its parts is not finite",
    )
    .hint("give `Outcome::success()`, `Outcome::failure()`, or a score in [0, 1] and finite parts"))
}

/// The verdicts that a journal lacks though it has the host's outcomes: its last write was cut short between the two.
pub(crate) fn missing_verdicts(machine: &RunMachine) -> impl Iterator<Item = (NeedId, Answer)> {
    machine.needs().into_iter().filter_map(|(id, need)| {
        let Need::Judge { trajectory, .. } = need else {
            return None;
        };
        let verdict = verdict_of(trajectory.outcome.as_ref()?);
        Some((id, Answer::Judged(verdict)))
    })
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
            lock(&self.journeyman.inner.ready).push(Arc::clone(&self.group));
        }
    }
}
