//! One task's way through the stations. Pure: it is told everything and decides.

use serde::{Deserialize, Serialize};

use super::{
    Answer, Event, Need, NeedId, Station, TaskReport,
    admission::{self, Admission},
    attempting::Attempting,
    context::Context,
    fold::{self, Rollout},
    selecting::Selecting,
};
use crate::{
    domain::{LibraryChange, Taint, Task, Trust},
    error::{Error, ErrorKind, Result},
    library::Applied,
    select::Mode,
};

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Select,
    Attempt,
    Write,
    Commit,
    Done,
}

/// One task's way through the stations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskMachine {
    step: u64,
    task: Task,
    stage: Stage,
    selecting: Selecting,
    attempting: Attempting,
    admission: Option<Admission>,
    report: Option<Box<TaskReport>>,
}

impl TaskMachine {
    /// Begins a task; what can be decided without asking is decided at once.
    pub(super) fn new(
        step: u64,
        task: Task,
        context: &Context<'_>,
        events: &mut Vec<Event>,
    ) -> Self {
        let mut machine = Self {
            step,
            task,
            stage: Stage::Select,
            selecting: Selecting::new(step, context),
            attempting: Attempting::new(step, context),
            admission: None,
            report: None,
        };
        machine.selected(events);
        machine
    }

    /// Whether the task is through.
    pub(super) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    pub(super) fn into_report(self) -> Option<TaskReport> {
        self.report.map(|report| *report)
    }

    /// Everything that can run now.
    pub(super) fn needs(&self, context: &Context<'_>) -> Vec<(NeedId, Need)> {
        let one = |station, need| vec![(self.id(station, 0), need)];
        match self.stage {
            Stage::Select => (self.selecting.need(&self.task, context).into_iter())
                .map(|(station, need)| (self.id(station, 0), need))
                .collect(),
            Stage::Attempt => (self.attempting.needs(&self.task, &self.selecting, context))
                .into_iter()
                .map(|(station, index, need)| (self.id(station, index), need))
                .collect(),
            Stage::Write => one(Station::Write, self.write(context)),
            Stage::Commit => one(Station::Commit, self.commit(context)),
            Stage::Done => Vec::new(),
        }
    }

    /// Folds an answer in.
    pub(super) fn answer(
        &mut self,
        context: &Context<'_>,
        id: NeedId,
        answer: Answer,
        events: &mut Vec<Event>,
    ) -> Result<()> {
        let selecting = self.selecting.is_at(id.station);
        match (answer, self.stage) {
            (Answer::Retrieved(found), Stage::Select) if selecting => {
                self.selecting.retrieved(context, found, events);
                self.selected(events);
            }
            (Answer::Scored(scores), Stage::Select) if selecting => {
                self.selecting.scored(context, scores);
                self.selected(events);
            }
            (Answer::Attempted(attempt), Stage::Attempt) => {
                self.attempting.attempted(id.index, attempt);
                self.attempted(context, events);
            }
            (Answer::Judged(verdict), Stage::Attempt) => {
                self.attempting.judged(id.index, verdict);
                self.attempted(context, events);
            }
            (Answer::Written(written), Stage::Write) => {
                let taint = self.taint(context);
                self.admission = Some(admission::decide(
                    context, self.step, &self.task, taint, &written,
                ));
                self.stage = Stage::Commit;
            }
            (Answer::Committed(_), _) => {
                return Err(Error::new(
                    ErrorKind::Internal,
                    "TaskMachine::answer",
                    "a commit is folded by the run",
                ));
            }
            (_, _) if self.is_past(id.station) => {}
            (answer, _) => {
                let waits = format!("nothing waits for an answer at {:?}", answer.station());
                return Err(Error::invalid("TaskMachine::answer", waits).with("need", id));
            }
        }
        Ok(())
    }

    /// Whether the task waits for its commit.
    pub(super) fn awaits_commit(&self) -> bool {
        self.stage == Stage::Commit
    }

    /// The commit that this task waits for was made, and the run's library has it.
    /// `own` is what that commit did there.
    pub(super) fn committed(
        &mut self,
        context: &Context<'_>,
        own: &Applied,
        changes: &[LibraryChange],
        events: &mut Vec<Event>,
    ) {
        if let Some(admission) = &mut self.admission {
            admission.applied(own, changes);
        }
        let mut report = self.task_report(context);
        if let Some(admission) = &self.admission {
            events.push(admission.event(self.step));
            report.written = Some(admission.report.clone());
        }
        self.finish(report);
    }

    /// Whether a station lies behind: an answer that comes twice changes nothing.
    fn is_past(&self, station: Station) -> bool {
        match self.stage {
            Stage::Select => station == Station::Retrieve && self.selecting.is_at(Station::Score),
            Stage::Attempt => station < Station::Attempt,
            Stage::Write => station < Station::Write,
            Stage::Commit => station < Station::Commit,
            Stage::Done => true,
        }
    }

    fn id(&self, station: Station, index: u32) -> NeedId {
        NeedId {
            step: self.step,
            station,
            index,
        }
    }

    fn selected(&mut self, events: &mut Vec<Event>) {
        if self.selecting.selections().is_some() {
            self.selecting.events(events);
            self.stage = Stage::Attempt;
        }
    }

    fn attempted(&mut self, context: &Context<'_>, events: &mut Vec<Event>) {
        if !self.attempting.is_complete(context) {
            return;
        }
        let rollouts = self.rollouts(context);
        for (rollout, each) in (0..).zip(&rollouts) {
            events.push(Event::Attempted {
                step: self.step,
                rollout,
                report: Box::new(each.report.clone()),
            });
        }
        let due = !fold::traces(context, &rollouts).is_empty();
        match context.mode {
            Mode::Evaluate => self.finish(self.task_report(context)),
            Mode::Train if due => self.stage = Stage::Write,
            Mode::Train => self.stage = Stage::Commit,
        }
    }

    fn rollouts(&self, context: &Context<'_>) -> Vec<Rollout<'_>> {
        self.attempting.rollouts(&self.selecting, context)
    }

    fn write(&self, context: &Context<'_>) -> Need {
        Need::Write {
            task: Box::new(self.task.clone()),
            traces: fold::traces(context, &self.rollouts(context))
                .into_iter()
                .cloned()
                .collect(),
            seed: context.step_seed(self.step).derive("write", 0),
        }
    }

    /// A skill written from anything that an untrusted source said is tainted (J7).
    fn taint(&self, context: &Context<'_>) -> Taint {
        let rollouts = self.rollouts(context);
        let traces = fold::traces(context, &rollouts);
        let mut steps = traces.iter().flat_map(|trace| &trace.steps);
        let untrusted = steps.any(|step| {
            step.observation.source.trust != Trust::Trusted
                || step.result.source.trust != Trust::Trusted
        });
        if untrusted {
            Taint::Tainted
        } else {
            Taint::Clean
        }
    }

    fn commit(&self, context: &Context<'_>) -> Need {
        Need::Commit(fold::commit(
            context,
            self.step,
            &self.task,
            &self.rollouts(context),
            self.admission.as_ref(),
        ))
    }

    fn task_report(&self, context: &Context<'_>) -> TaskReport {
        fold::task_report(
            context,
            self.step,
            &self.task,
            self.selecting.selections().unwrap_or_default(),
            self.rollouts(context),
        )
    }

    fn finish(&mut self, report: TaskReport) {
        self.report = Some(Box::new(report));
        self.stage = Stage::Done;
    }
}
