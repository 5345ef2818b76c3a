//! The progress of a run: which tasks are active, which task may change the library next, and when maintenance runs.

use std::collections::BTreeSet;

use super::{
    effect::EffectId, maintaining::Maintaining, run_context::RunContext, run_machine::RunMachine,
    task_machine::TaskMachine,
};
use crate::{
    domain::{Mode, SkillRef},
    error::Result,
    library::Applied,
    measure::ProxyGain,
    policy::{Answer, CommitDone},
    report::{Event, EventKind, MaintenanceUsage, RunReport, SkillGain, TaskReport},
};

impl RunMachine {
    /// The report of the finished tasks. It is complete when the run is finished.
    pub fn report(&self) -> RunReport {
        let mut roles = self.maintenance_roles.clone();
        self.reports
            .values()
            .for_each(|task| roles.add(&task.roles));
        RunReport {
            run: self.run.clone(),
            seed: self.seed,
            tasks: self.reports.values().cloned().collect(),
            revision: self.library.revision(),
            pool: self.library.in_use(),
            maintenance: self.maintenance,
            roles,
            findings: Vec::new(),
        }
    }

    /// Applies an answer to a question of a later turn's selection.
    pub(crate) fn turn_answered(&mut self, id: &EffectId, answer: Answer) -> Result<()> {
        let mut turns = std::mem::take(&mut self.turns);
        let folded = turns.answer(&self.context(), id, answer);
        self.turns = turns;
        let usage = folded?;
        if let Some(task) = self.active.get_mut(&id.step) {
            task.spend(usage);
        }
        Ok(())
    }

    /// Applies an answer for maintenance.
    pub(crate) fn maintained(&mut self, id: EffectId, answer: Answer) -> Result<()> {
        let Some(mut maintaining) = self.maintaining.take() else {
            // Maintenance is finished: a repeated answer changes nothing.
            return Ok(());
        };
        let mut events = Vec::new();
        let folded = match answer {
            Answer::Committed(done) => self.kept(&mut maintaining, &id, done, &mut events),
            answer => maintaining
                .answer(&self.context(), &id, answer, &mut events)
                .map(|(usage, roles)| {
                    self.maintenance.add(usage);
                    self.maintenance_roles.add(&roles);
                }),
        };
        let done = maintaining.is_done();
        self.maintaining = Some(maintaining).filter(|_| !done);
        folded?;
        self.say(id.step, events);
        self.advance();
        Ok(())
    }

    /// Runs the policies of a loaded run over their saved answers. A policy that asks a different question than before fails
    /// now.
    pub(crate) fn wake(&mut self) {
        let was_finished = self.is_finished();
        let mut turns = std::mem::take(&mut self.turns);
        turns.wake(&self.context());
        self.turns = turns;
        let steps: Vec<u64> = self.active.keys().copied().collect();
        for step in steps {
            if let Some(mut task) = self.active.remove(&step) {
                let mut events = Vec::new();
                task.go_on(&self.context(), &mut events);
                self.active.insert(step, task);
                self.hold(step, events);
            }
        }
        if let Some(mut maintaining) = self.maintaining.take() {
            let mut events = Vec::new();
            maintaining.go_on(&self.context(), &mut events);
            let step = maintaining.step();
            self.maintaining = Some(maintaining).filter(|one| !one.is_done());
            self.say(step, events);
        }
        if !was_finished {
            self.advance();
        }
    }

    fn kept(
        &mut self,
        maintaining: &mut Maintaining,
        id: &EffectId,
        done: CommitDone,
        events: &mut Vec<EventKind>,
    ) -> Result<()> {
        if !maintaining.awaits_commit(id) {
            return Ok(());
        }
        let own = self.fold(&done)?;
        if done.overtaken {
            maintaining.overtaken(&self.context(), &done.committed, events);
            return Ok(());
        }
        maintaining.committed(&self.context(), &own, events);
        self.told(own, done.rebased, events);
        Ok(())
    }

    /// Applies the commits of a commit's result to the run's library. Returns the effect of the last one, which is the run's
    /// own commit.
    pub(crate) fn fold(&mut self, done: &CommitDone) -> Result<Applied> {
        let mut own = Applied::default();
        for committed in &done.committed {
            if committed.revision > self.library.revision() {
                own = self.library.apply(committed)?;
            }
        }
        Ok(own)
    }

    /// Adds the run and the task at index `step` to events of a task, or of the maintenance after it.
    fn named(&self, step: u64, kinds: Vec<EventKind>) -> Vec<Event> {
        let place = usize::try_from(step).ok();
        let task = place.and_then(|place| self.tasks.get(place));
        let place = task.map(|task| (step, &task.id));
        let kinds = kinds.into_iter();
        kinds
            .map(|kind| Event::new(&self.run, place, kind))
            .collect()
    }

    /// Queues a task's events until the events of all earlier tasks are released.
    pub(crate) fn hold(&mut self, step: u64, kinds: Vec<EventKind>) {
        let mut events = self.named(step, kinds);
        self.held.entry(step).or_default().append(&mut events);
    }

    fn say(&mut self, step: u64, kinds: Vec<EventKind>) {
        for kind in &kinds {
            if let EventKind::OverBudget { count, .. } = kind {
                self.maintenance.add(MaintenanceUsage {
                    over_budget: u64::from(*count),
                    ..MaintenanceUsage::default()
                });
            }
        }
        let mut events = self.named(step, kinds);
        self.events.append(&mut events);
    }

    pub(crate) fn told(&self, own: Applied, rebased: u32, events: &mut Vec<EventKind>) {
        if !own.moves.is_empty() {
            events.push(EventKind::Moved { moves: own.moves });
        }
        events.push(EventKind::Committed {
            revision: self.library.revision(),
            rebased,
        });
    }

    /// Releases the queued events of the first unfinished task and of all tasks before it.
    fn release(&mut self) {
        let first = (0..).find(|step| !self.reports.contains_key(step));
        while let Some(entry) = self.held.first_entry() {
            if Some(*entry.key()) > first {
                break;
            }
            self.events.append(&mut entry.remove());
        }
    }

    /// Removes finished tasks, grants the next commit, starts maintenance where it is due, and begins the next tasks.
    pub(crate) fn advance(&mut self) {
        loop {
            self.take_finished();
            self.grant();
            if self.maintaining.is_some() || !self.may_begin() {
                break;
            }
            if self.look_after() || !self.begin_next() {
                break;
            }
        }
        self.release();
        if self.is_finished() {
            let revision = self.library.revision();
            let finished = EventKind::RunFinished { revision };
            self.events.push(Event::new(&self.run, None, finished));
        }
    }

    fn take_finished(&mut self) {
        let finished: Vec<u64> = self
            .active
            .iter()
            .filter(|(_, task)| task.is_done())
            .map(|(step, _)| *step)
            .collect();
        for step in finished {
            if let Some(mut report) = self.active.remove(&step).and_then(TaskMachine::into_report) {
                self.gained(&mut report);
                let finished = EventKind::TaskFinished {
                    report: Box::new(report.clone()),
                };
                self.hold(step, vec![finished]);
                self.reports.insert(step, report);
            }
        }
    }

    /// Counts a task's attempts for the gain proxy, and adds the present values of their skills to the report. Not in
    /// evaluation, where tasks may end in any order and nothing is learned.
    fn gained(&mut self, report: &mut TaskReport) {
        if self.mode != Mode::Train {
            return;
        }
        count_gain(&mut self.gain, report);
        let given = report.attempts.iter().flat_map(|one| &one.injected);
        let given: BTreeSet<SkillRef> = given.cloned().collect();
        let gains = given.into_iter().filter_map(|skill| {
            let proxy = self.gain.of(&skill)?;
            Some(SkillGain { skill, proxy })
        });
        report.gains = gains.collect();
    }

    /// Lets the first task of a batch change the library, once all tasks of the batch wait for that. All tasks of a batch
    /// select from the same revision of the library, and commit one after the other, in order.
    fn grant(&mut self) {
        let under_way = |task: &TaskMachine| !task.is_ready();
        if self.active.values().any(under_way) {
            return;
        }
        let context = RunContext::new(
            (&self.run, self.seed),
            (self.mode, self.replays),
            &self.recipe,
            &self.library,
            &self.policies,
        )
        .exploring(self.explores);
        let mut events = Vec::new();
        let first = self.active.iter_mut().next().map(|(step, first)| {
            first.admit(&context, &mut events);
            *step
        });
        if let Some(step) = first {
            self.hold(step, events);
        }
    }

    /// Whether another task may begin. In evaluation: if fewer than `width` tasks are active. In learning, also only within
    /// the present batch; the next batch begins when this one is finished.
    fn may_begin(&self) -> bool {
        let room = (self.active.len() as u64) < self.width.get();
        room && (self.mode == Mode::Evaluate || self.next < self.batch_end())
    }

    /// The index after the last task of the present batch.
    fn batch_end(&self) -> u64 {
        match self.active.keys().next() {
            Some(first) => first - *first % self.width + self.width.get(),
            None => self.next - self.next % self.width + self.width.get(),
        }
    }

    /// Starts maintenance if it is due after the finished batch. Returns whether maintenance is now running.
    fn look_after(&mut self) -> bool {
        let learning = self.mode == Mode::Train && self.active.is_empty();
        if !learning {
            return false;
        }
        let (before, now) = (self.maintained, self.library.tasks_learned());
        self.maintained = now;
        let programs = (0..).zip(&self.policies.programs);
        let due: Vec<_> = programs
            .filter(|(_, (one, _))| one.is_due(before, now))
            .map(|(place, (one, _))| (place, one.clone()))
            .collect();
        if due.is_empty() || self.next == 0 {
            return false;
        }
        let step = self.next - 1;
        // The events of the batch come before those of maintenance.
        self.release();
        let mut events = Vec::new();
        let maintaining = Maintaining::new(&self.context(), step, due, &mut events);
        self.say(step, events);
        self.maintaining = Some(Box::new(maintaining)).filter(|one| !one.is_done());
        self.maintaining.is_some()
    }

    /// Begins the next task. Returns whether there was one.
    fn begin_next(&mut self) -> bool {
        let next = usize::try_from(self.next).ok();
        let Some(task) = next.and_then(|next| self.tasks.get(next)) else {
            return false;
        };
        let mut events = Vec::new();
        let machine = TaskMachine::new(self.next, task.clone(), &self.context(), &mut events);
        self.hold(self.next, events);
        self.active.insert(self.next, machine);
        self.next += 1;
        true
    }
}

/// Counts the judged attempts at a task.
pub(crate) fn count_gain(gain: &mut ProxyGain, report: &TaskReport) {
    for attempt in &report.attempts {
        if let (Some(reward), Some(success)) = (attempt.reward, attempt.success) {
            // A recipe's rewards are validated when it is; a reward that is not finite nevertheless is ignored.
            if let Err(error) = gain.record(&attempt.injected, reward, success) {
                tracing::error!(%error, "an attempt could not be counted");
            }
        }
    }
}
