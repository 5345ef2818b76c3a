//! A run as a machine: it says what it needs and is told the answers. No input or output, no thread, no clock.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    Answer, CommitDone, Event, Need, NeedId, RunReport, TaskReport, context::Context,
    task_machine::TaskMachine,
};
use crate::{
    domain::Task,
    error::{Error, ErrorKind, Result},
    id::{RunId, Seed},
    library::{Applied, SkillLibrary},
    recipe::Recipe,
    select::Mode,
};

/// What a run is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct RunPlan {
    /// The run's id: unique within a store and a journal.
    pub run: RunId,
    /// What all randomness follows from.
    pub seed: Seed,
    /// The policies.
    pub recipe: Recipe,
    /// Learning, or evaluation on a frozen library.
    pub mode: Mode,
    /// The tasks, in order.
    pub tasks: Vec<Task>,
    /// The library at the start.
    pub library: SkillLibrary,
    /// How many tasks are under way at once in evaluation, at least 1; learning takes one after the other, since
    /// each stands on the library that the one before left.
    pub width: u64,
}

/// A run over a stream of tasks.
///
/// It can be saved as JSON between any two answers and resumed; what was under way is then asked for again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMachine {
    schema: u32,
    run: RunId,
    seed: Seed,
    recipe: Recipe,
    mode: Mode,
    tasks: Vec<Task>,
    library: SkillLibrary,
    width: u64,
    next: u64,
    active: BTreeMap<u64, TaskMachine>,
    reports: BTreeMap<u64, TaskReport>,
    /// Events of tasks behind the first unfinished one, held back so that their order does not depend on timing.
    held: BTreeMap<u64, Vec<Event>>,
    events: Vec<Event>,
}

impl RunMachine {
    /// The version of the JSON form.
    pub const SCHEMA: u32 = 1;

    /// Begins a run.
    ///
    /// # Errors
    /// `Invalid` for no tasks, two tasks of one id, or a recipe whose numbers break their rules.
    pub fn new(plan: RunPlan) -> Result<Self> {
        plan.recipe.validate()?;
        if plan.tasks.is_empty() {
            return Err(
                Error::invalid("RunMachine::new", "the task stream is empty")
                    .hint("hand over at least one task"),
            );
        }
        let mut ids = std::collections::BTreeSet::new();
        if let Some(twice) = plan.tasks.iter().find(|task| !ids.insert(&task.id)) {
            return Err(
                Error::invalid("RunMachine::new", "two tasks have the same id")
                    .with("task", &twice.id),
            );
        }
        let total = plan.tasks.len() as u64;
        let mut machine = Self {
            schema: Self::SCHEMA,
            events: vec![Event::RunStarted {
                run: plan.run.clone(),
                seed: plan.seed,
                tasks: total,
            }],
            run: plan.run,
            seed: plan.seed,
            recipe: plan.recipe,
            mode: plan.mode,
            tasks: plan.tasks,
            library: plan.library,
            width: match plan.mode {
                Mode::Train => 1,
                Mode::Evaluate => plan.width.max(1),
            },
            next: 0,
            active: BTreeMap::new(),
            reports: BTreeMap::new(),
            held: BTreeMap::new(),
        };
        machine.advance();
        Ok(machine)
    }

    /// Everything that can run now and has no answer yet, in order of ids.
    pub fn needs(&self) -> Vec<(NeedId, Need)> {
        let context = self.context();
        self.active
            .values()
            .flat_map(|task| task.needs(&context))
            .collect()
    }

    /// Folds an answer in. Answers may come in any order; one that came before is passed over.
    ///
    /// # Errors
    /// `Invalid` when nothing waits for such an answer; `Corrupt` when a commit does not fit the library.
    pub fn answer(&mut self, id: NeedId, answer: Answer) -> Result<()> {
        if answer.station() != id.station {
            return Err(
                Error::invalid("RunMachine::answer", "the answer is not to this need")
                    .with("need", id),
            );
        }
        let Some(mut task) = self.active.remove(&id.step) else {
            if self.reports.contains_key(&id.step) {
                return Ok(());
            }
            return Err(
                Error::invalid("RunMachine::answer", "no such task is under way").with("need", id),
            );
        };
        let mut events = Vec::new();
        let folded = match answer {
            Answer::Committed(done) => self.committed(id, &mut task, done, &mut events),
            answer => task.answer(&self.context(), id, answer, &mut events),
        };
        self.active.insert(id.step, task);
        folded?;
        self.held.entry(id.step).or_default().append(&mut events);
        self.advance();
        Ok(())
    }

    /// Whether every task is through.
    pub fn is_finished(&self) -> bool {
        self.reports.len() == self.tasks.len()
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The library as this run knows it.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The run's id.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// The run's recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What is known so far; whole once the run is finished.
    pub fn report(&self) -> RunReport {
        RunReport {
            run: self.run.clone(),
            seed: self.seed,
            tasks: self.reports.values().cloned().collect(),
            revision: self.library.revision(),
        }
    }

    /// The whole state as JSON.
    ///
    /// # Errors
    /// `Internal` when a value cannot be written as JSON.
    pub fn save(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| {
            Error::new(
                ErrorKind::Internal,
                "RunMachine::save",
                "the state could not be written",
            )
            .source_from(error)
        })
    }

    /// A saved run, to be gone on with.
    ///
    /// # Errors
    /// `Corrupt` for what is no saved run; `Unsupported` for one of another schema version.
    pub fn resume(json: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }
        let corrupt = |error: serde_json::Error| {
            Error::new(
                ErrorKind::Corrupt,
                "RunMachine::resume",
                "this is no saved run",
            )
            .with("line", error.line())
            .hint("replay the run from its journal instead")
        };
        let Versioned { schema } = serde_json::from_str(json).map_err(corrupt)?;
        if schema != Self::SCHEMA {
            return Err(Error::unsupported(
                "RunMachine::resume",
                format!("schema {schema} is not the one this version reads"),
            )
            .with("reads", Self::SCHEMA));
        }
        serde_json::from_str(json).map_err(corrupt)
    }

    fn context(&self) -> Context<'_> {
        Context {
            run: &self.run,
            seed: self.seed,
            recipe: &self.recipe,
            mode: self.mode,
            library: &self.library,
        }
    }

    fn committed(
        &mut self,
        id: NeedId,
        task: &mut TaskMachine,
        done: CommitDone,
        events: &mut Vec<Event>,
    ) -> Result<()> {
        if !task.awaits_commit() {
            return Err(
                Error::invalid("RunMachine::answer", "no commit is waited for").with("need", id),
            );
        }
        let mut own = Applied::default();
        for committed in &done.committed {
            if committed.revision > self.library.revision() {
                own = self.library.apply(committed)?;
            }
        }
        let changes = done.committed.last().map(|last| last.changes.as_slice());
        task.committed(&self.context(), &own, changes.unwrap_or_default(), events);
        if !own.moves.is_empty() {
            events.push(Event::Moved {
                step: id.step,
                moves: own.moves,
            });
        }
        events.push(Event::Committed {
            step: id.step,
            revision: self.library.revision(),
            rebased: done.rebased,
        });
        Ok(())
    }

    /// Lets the events of the first unfinished task, and of all before it, out.
    fn release(&mut self) {
        let first = (0..).find(|step| !self.reports.contains_key(step));
        while let Some(entry) = self.held.first_entry() {
            if Some(*entry.key()) > first {
                break;
            }
            self.events.append(&mut entry.remove());
        }
    }

    /// Takes finished tasks out and lets the next ones begin.
    fn advance(&mut self) {
        loop {
            let finished: Vec<u64> = self
                .active
                .iter()
                .filter(|(_, task)| task.is_done())
                .map(|(step, _)| *step)
                .collect();
            for step in finished {
                if let Some(report) = self.active.remove(&step).and_then(TaskMachine::into_report) {
                    let finished = Event::TaskFinished {
                        task: report.task.clone(),
                        report: Box::new(report.clone()),
                    };
                    self.held.entry(step).or_default().push(finished);
                    self.reports.insert(step, report);
                }
            }
            let room = (self.active.len() as u64) < self.width;
            let Some(task) = usize::try_from(self.next)
                .ok()
                .and_then(|next| self.tasks.get(next))
                .filter(|_| room)
            else {
                break;
            };
            let mut events = Vec::new();
            let machine = TaskMachine::new(self.next, task.clone(), &self.context(), &mut events);
            self.held.entry(self.next).or_default().append(&mut events);
            self.active.insert(self.next, machine);
            self.next += 1;
        }
        self.release();
        if self.is_finished() {
            self.events.push(Event::RunFinished {
                run: self.run.clone(),
                revision: self.library.revision(),
            });
        }
    }
}
