//! The second way in: the host keeps its own agent loop and reports on each attempt.

use std::sync::{Arc, Mutex};

use super::{
    Answer, AttemptNeed, Journeyman, Need, NeedId, RunEntry, RunMachine, TaskReport,
    drive::{Log, Reach},
    journeyman::{Inner, lock},
    perform::inject_all,
};
use crate::{
    contract::{FixedGuidance, Guidance, TurnContext},
    domain::{EndReason, Exposure, Injection, Outcome, SkillRef, Step, Task, Trajectory, Usage},
    error::{Error, ErrorKind, Result},
};

/// The attempts of one group and the machine behind them.
#[derive(Debug)]
pub(super) struct Group {
    state: Mutex<GroupState>,
}

#[derive(Debug)]
struct GroupState {
    /// Taken out by whoever completes the group.
    machine: Option<RunMachine>,
    sequence: u64,
    open: usize,
    answers: Vec<(NeedId, Answer)>,
}

impl Group {
    /// Takes an attempt's answer in; whether it was the last.
    fn hand_in(&self, id: NeedId, answer: Answer) -> bool {
        let mut state = lock(&self.state);
        state.answers.push((id, answer));
        state.open -= 1;
        state.open == 0
    }

    /// Judges, credits, writes and commits, once every attempt is in. On an error the group stays ready.
    pub(super) async fn complete(self: Arc<Self>, inner: &Inner) -> Result<Option<TaskReport>> {
        let (mut machine, sequence, answers) = {
            let mut state = lock(&self.state);
            let Some(machine) = state.machine.take() else {
                return Ok(None);
            };
            (machine, state.sequence, std::mem::take(&mut state.answers))
        };
        let mut log = Log::new(inner.journal(), sequence);
        let mut remaining = answers.into_iter().collect();
        let done = go_on(inner, &mut machine, &mut log, &mut remaining).await;
        let report = machine.report().tasks.into_iter().next();
        if done.is_err() {
            let mut state = lock(&self.state);
            state.machine = Some(machine);
            state.sequence = log.sequence();
            state.answers = remaining.into();
            drop(state);
            lock(&inner.ready).push(Arc::clone(&self));
        }
        done.map(|()| report)
    }
}

async fn go_on(
    inner: &Inner,
    machine: &mut RunMachine,
    log: &mut Log<'_>,
    answers: &mut std::collections::VecDeque<(NeedId, Answer)>,
) -> Result<()> {
    while let Some((id, answer)) = answers.front().cloned() {
        let entry = RunEntry::Answered {
            id,
            answer: Box::new(answer.clone()),
        };
        log.write(machine, &[entry]).await?;
        answers.pop_front();
        machine.answer(id, answer)?;
    }
    inner.drive(machine, Reach::Everything, log).await
}

/// One attempt in the host's own agent loop.
///
/// Handles are concurrent. One that is dropped without [`finish`](Self::finish) counts as abandoned: it credits
/// nothing, and the rest of its group is learned from.
#[derive(Debug)]
pub struct AttemptHandle {
    journeyman: Journeyman,
    group: Arc<Group>,
    id: NeedId,
    need: Box<AttemptNeed>,
    injection: Injection,
    guidance: FixedGuidance,
    steps: Vec<Step>,
    usage: Usage,
    finished: bool,
}

impl AttemptHandle {
    pub(super) fn group(
        journeyman: &Journeyman,
        machine: RunMachine,
        sequence: u64,
    ) -> Result<Vec<Self>> {
        let dialect = journeyman.inner.backends().dialect.as_deref();
        let attempts: Vec<_> = machine
            .needs()
            .into_iter()
            .filter_map(|(id, need)| match need {
                Need::Attempt(need) => Some((id, need)),
                _ => None,
            })
            .collect();
        let group = Arc::new(Group {
            state: Mutex::new(GroupState {
                machine: Some(machine),
                sequence,
                open: attempts.len(),
                answers: Vec::new(),
            }),
        });
        attempts
            .into_iter()
            .map(|(id, need)| {
                let injection = inject_all(dialect, &need.skills)?;
                Ok(Self {
                    journeyman: journeyman.clone(),
                    group: Arc::clone(&group),
                    id,
                    need,
                    guidance: FixedGuidance::new(injection.clone()),
                    injection,
                    steps: Vec::new(),
                    usage: Usage::default(),
                    finished: false,
                })
            })
            .collect()
    }

    /// The task.
    pub fn task(&self) -> &Task {
        &self.need.task
    }

    /// The skills for this attempt; often none.
    pub fn injection(&self) -> &Injection {
        &self.injection
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

    /// The agent used a skill. One that was not injected is passed over.
    pub fn used(&self, skill: &SkillRef) {
        self.guidance.used(skill);
    }

    /// Adds to what the attempt cost.
    pub fn spend(&mut self, usage: Usage) {
        self.usage.prompt_tokens += usage.prompt_tokens;
        self.usage.output_tokens += usage.output_tokens;
    }

    /// Ends the attempt. Without an outcome the host's judge decides from the steps. The last attempt of a group
    /// awaits judgement, credit, writing and commit, and gives the task's report.
    ///
    /// # Errors
    /// What the store and the journal give; the group then stays ready, and
    /// [`settle`](Journeyman::settle) tries again.
    pub async fn finish(mut self, outcome: Option<Outcome>) -> Result<Option<TaskReport>> {
        self.finished = true;
        let reported = self.guidance.reported();
        let trajectory = Trajectory {
            schema: Trajectory::SCHEMA,
            attempt: self.need.attempt.clone(),
            task: self.need.task.id.clone(),
            seed: self.need.seed,
            steps: std::mem::take(&mut self.steps),
            exposures: self
                .injection
                .skills
                .iter()
                .map(|injected| Exposure {
                    skill: injected.skill.clone(),
                    used: reported.contains(&injected.skill),
                })
                .collect(),
            outcome,
            end: EndReason::Finished,
            usage: self.usage,
        };
        let last = self
            .group
            .hand_in(self.id, Answer::Attempted(Ok(Box::new(trajectory))));
        if !last {
            return Ok(None);
        }
        let (group, journeyman) = (Arc::clone(&self.group), self.journeyman.clone());
        drop(self);
        group.complete(&journeyman.inner).await
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
            .hand_in(self.id, Answer::Attempted(Err(abandoned)))
        {
            lock(&self.journeyman.inner.ready).push(Arc::clone(&self.group));
        }
    }
}
