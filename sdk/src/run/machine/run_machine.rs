//! [`RunMachine`], the state machine of a run: it lists its open effects and accepts the answers. It does no input or output,
//! starts no thread and reads no clock.

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU64,
};

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Committed, Mode, SkillRef, Task},
    error::{Error, Result},
    id::{ModelId, RunId, Seed},
    library::{Applied, SkillLibrary},
    policy::{Answer, ChosenSkill, CommitDone, Policies, ResolvedPolicies},
    run::{
        machine::{
            attempts::Turns,
            derived::Derived,
            effect::{Effect, EffectId, RunContext, Station, TurnAsk},
            fold::count_gain,
            maintenance::Maintaining,
            run_plan::RunPlan,
            task_machine::TaskMachine,
        },
        report::{
            Event, EventKind, LiftReport, MaintenanceUsage, ProxyGain, RoleTally, RunReport,
            SkillGain, TaskReport,
        },
    },
    stations::{
        proof::{LiftPolicy, LiftWatch, ProvenRelease},
        recipe::Recipe,
    },
};

/// A run over a stream of tasks.
///
/// A machine can be saved as JSON between any two answers, and resumed; its open effects are then listed again. Policies are
/// saved as their answers and run again over them on resuming, so resuming takes the computing time of the policies, but
/// asks no question twice. The JSON has no policies: the tasks of a machine that was only deserialized fail, and
/// [`resume`](Self::resume) gives it those that its recipe names.
///
/// ```
/// use std::sync::Arc;
/// use journeyman::{
///     Seed,
///     agent::MemoryStore,
///     contract::Components,
///     domain::{Mode, Task},
///     policy::Policies,
///     recipe,
///     run::{Performer, RunMachine, RunPlan},
/// };
///
/// # futures::executor::block_on(async {
/// let recipe = recipe::standard();
/// let components = Components::own_loop().with_store(Arc::new(MemoryStore::new()));
/// let performer = Performer::new(Arc::new(components), recipe.limits);
/// let tasks = vec![Task::new("t-1", "close ticket 17")];
/// let mut plan = RunPlan::new("a-run", Seed(7), recipe, tasks);
/// plan.mode = Mode::Evaluate;
/// let mut machine = RunMachine::new(plan)?;
/// while !machine.is_finished() {
///     // A host may save the machine here, and continue in another process.
///     machine = RunMachine::resume(&machine.save()?, &Policies::new())?;
///     for (id, effect) in machine.effects() {
///         let answer = performer.perform(effect).await?;
///         machine.answer(id, answer)?;
///     }
/// }
/// let report = machine.report();
/// let error = report.tasks[0].attempts[0].error.as_ref().expect("there is no agent");
/// assert!(error.to_string().contains("the host gave no agent"));
/// # Ok::<_, journeyman::Error>(())
/// # })?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMachine {
    schema: u32,
    pub(crate) run: RunId,
    pub(crate) seed: Seed,
    pub(crate) recipe: Recipe,
    pub(crate) mode: Mode,
    pub(crate) tasks: Vec<Task>,
    pub(crate) replays: bool,
    /// The model that acts, with its adapter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ModelId>,
    /// Whether a gate may explore.
    pub(crate) explores: bool,
    pub(crate) library: SkillLibrary,
    pub(crate) width: NonZeroU64,
    pub(crate) next: u64,
    pub(crate) active: BTreeMap<u64, TaskMachine>,
    /// Selections for later turns of unfinished attempts.
    pub(crate) turns: Turns,
    /// The maintenance after the last batch, while it is running.
    pub(crate) maintaining: Option<Box<Maintaining>>,
    /// The number of tasks that the library had learned from when maintenance was last considered.
    pub(crate) maintained: u64,
    /// The policies that the recipe names.
    #[serde(skip)]
    pub(crate) policies: ResolvedPolicies,
    pub(crate) reports: BTreeMap<u64, TaskReport>,
    /// Tokens used by maintenance so far.
    pub(crate) maintenance: MaintenanceUsage,
    /// How the calls of roles went that maintenance asked.
    #[serde(default)]
    pub(crate) maintenance_roles: RoleTally,
    /// The gain proxy over the learning attempts so far.
    pub(crate) gain: ProxyGain,
    /// The verdicts on lifts that changed so far.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) lifts: Vec<LiftReport>,
    /// The verdicts on the lifts of the run's library.
    #[serde(skip)]
    pub(crate) lift_watch: Derived<LiftWatch>,
    /// Events of tasks behind the first unfinished one: the order of events does not depend on timing.
    pub(crate) held: BTreeMap<u64, Vec<Event>>,
    pub(crate) events: Vec<Event>,
}

impl RunMachine {
    /// The version of the JSON form. Raise it when a built-in policy asks other questions, or asks them in another order: a
    /// journal keeps answers by place, and the answers of an older journal would be given to other questions.
    pub const SCHEMA: u32 = 22;

    /// Begins a run.
    ///
    /// # Errors
    /// `Invalid` for an empty list of tasks, for two tasks with the same id, and for a recipe with a value out of range;
    /// `NotFound` for a recipe that names a policy that is not in the plan's `policies`, and is none of this build's.
    pub fn new(plan: RunPlan) -> Result<Self> {
        Self::exploring(plan, true)
    }

    /// Begins a run in which a gate may explore, or may not.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub(crate) fn exploring(plan: RunPlan, explores: bool) -> Result<Self> {
        plan.recipe.validate()?;
        let policies = plan.recipe.resolve(&plan.policies)?;
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
        let by_proof = policies.standing.by_proof();
        let library = match plan.mode {
            Mode::Evaluate if by_proof => plan.library.with_versions_in_use(plan.model.as_ref()),
            _ => plan.library,
        };
        let total = plan.tasks.len() as u64;
        let (batch, learned) = (plan.recipe.batch, library.tasks_learned());
        let mut machine = Self {
            schema: Self::SCHEMA,
            events: vec![Event::new(
                &plan.run,
                None,
                EventKind::RunStarted {
                    seed: plan.seed,
                    tasks: total,
                },
            )],
            run: plan.run,
            seed: plan.seed,
            recipe: plan.recipe,
            mode: plan.mode,
            tasks: plan.tasks,
            replays: plan.replays,
            model: plan.model,
            explores,
            library,
            width: match plan.mode {
                Mode::Train => batch,
                Mode::Evaluate => plan.width,
            },
            maintained: learned,
            next: 0,
            active: BTreeMap::new(),
            turns: Turns::default(),
            maintaining: None,
            policies,
            reports: BTreeMap::new(),
            maintenance: MaintenanceUsage::default(),
            maintenance_roles: RoleTally::default(),
            gain: ProxyGain::default(),
            lifts: Vec::new(),
            lift_watch: Derived::default(),
            held: BTreeMap::new(),
        };
        machine.advance();
        Ok(machine)
    }

    /// The open effects: all work that can be done now, in the order of tasks.
    pub fn effects(&self) -> Vec<(EffectId, Effect)> {
        self.effects_among(&|_| true)
    }

    /// The open effects whose ids are `wanted`. An effect owns copies of its data, so a driver filters out the effects that it is
    /// already performing.
    pub(crate) fn effects_among(
        &self,
        wanted: &dyn Fn(&EffectId) -> bool,
    ) -> Vec<(EffectId, Effect)> {
        let context = self.context();
        let tasks = self.active.values();
        let tasks = tasks.flat_map(|task| task.effects(&context, wanted));
        let maintaining = self.maintaining.iter();
        let maintaining = maintaining.flat_map(|maintaining| maintaining.effects(&context, wanted));
        let turns = self.turns.effects(&context, wanted);
        tasks.chain(maintaining).chain(turns).collect()
    }

    /// Begins the selection of skills for a later turn of an attempt. Its questions become effects.
    pub(crate) fn ask_turn(&mut self, ask: TurnAsk) {
        // A finished attempt needs no more skills.
        if self.question(&ask.attempt).is_none() {
            return;
        }
        let mut turns = std::mem::take(&mut self.turns);
        turns.ask(&self.context(), ask);
        self.turns = turns;
    }

    /// The skills for a later turn, once they are selected.
    pub(crate) fn turn_skills(&self, ask: &TurnAsk) -> Option<Result<Vec<ChosenSkill>>> {
        self.turns.skills(&self.context(), ask)
    }

    /// Applies an answer. Answers may come in any order; a second answer to an effect is ignored.
    ///
    /// # Errors
    /// `Invalid` for an answer that no open effect expects; `Corrupt` for a commit that does not fit the run's library.
    pub fn answer(&mut self, id: EffectId, answer: Answer) -> Result<()> {
        if !id.station.takes(&answer) {
            return Err(
                Error::invalid("RunMachine::answer", "the answer is not to this need")
                    .with("effect", id),
            );
        }
        if matches!(id.station, Station::Maintain | Station::Keep) {
            return self.maintained(id, answer);
        }
        if id.station == Station::Turn {
            return self.turn_answered(&id, answer);
        }
        if id.station == Station::Attempt {
            self.turns.forget(&id);
        }
        let Some(mut task) = self.active.remove(&id.step) else {
            if self.reports.contains_key(&id.step) {
                return Ok(());
            }
            return Err(
                Error::invalid("RunMachine::answer", "no such task is under way")
                    .with("effect", id),
            );
        };
        let mut events = Vec::new();
        let folded = match answer {
            Answer::Committed(done) => self.committed(&id, &mut task, done, &mut events),
            answer => task.answer(&self.context(), &id, answer, &mut events),
        };
        self.active.insert(id.step, task);
        folded?;
        self.hold(id.step, events);
        self.advance();
        Ok(())
    }

    /// The digest of the open question of an effect, as the journal keeps it; none for a commit, and where no question is open.
    pub(crate) fn question(&self, id: &EffectId) -> Option<String> {
        match id.station {
            Station::Maintain => self.maintaining.as_ref()?.question(id),
            Station::Turn => self.turns.question(id),
            _ => self.active.get(&id.step)?.question(id),
        }
    }

    /// Whether every task is finished, and no maintenance is running.
    pub fn is_finished(&self) -> bool {
        self.reports.len() == self.tasks.len() && self.maintaining.is_none()
    }

    /// The events since the last call.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// The run's copy of the library, at the revision of its latest commit.
    pub fn library(&self) -> &SkillLibrary {
        &self.library
    }

    /// The run's id.
    pub fn run(&self) -> &RunId {
        &self.run
    }

    /// Whether the run learns or evaluates.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The run's recipe.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The whole state as JSON.
    ///
    /// # Errors
    /// `Internal` where a value cannot be written as JSON.
    pub fn save(&self) -> Result<String> {
        serde_json::to_string(self).map_err(|error| {
            Error::internal("RunMachine::save", "the state could not be written").source_from(error)
        })
    }

    /// Loads a saved run, to continue it.
    ///
    /// # Errors
    /// `Corrupt` for a text that is not a saved run; `Unsupported` for another schema version; `NotFound` where the recipe
    /// names a policy that is not in `policies`.
    pub fn resume(json: &str, policies: &Policies) -> Result<Self> {
        #[derive(Deserialize)]
        struct Versioned {
            schema: u32,
        }
        let corrupt = |error: serde_json::Error| {
            Error::corrupt("RunMachine::resume", "this is no saved run")
                .with("line", error.line())
                .hint("replay the run from its journal instead")
        };
        let Versioned { schema } = serde_json::from_str(json).map_err(corrupt)?;
        Self::check_schema("RunMachine::resume", u64::from(schema))?;
        let mut machine: Self = serde_json::from_str(json).map_err(corrupt)?;
        machine.resolve(policies)?;
        machine.wake();
        Ok(machine)
    }

    /// Takes the policies that the recipe names from a registry.
    ///
    /// # Errors
    /// Those of [`Recipe::resolve`].
    pub(crate) fn resolve(&mut self, policies: &Policies) -> Result<()> {
        self.policies = self.recipe.resolve(policies)?;
        Ok(())
    }

    pub(crate) const OF_ANOTHER_VERSION: &str = "finish the run with the version that began it, or begin it anew; \
        the library is no part of the journal and opens as before, with all that this run changed in it";

    pub(crate) fn check_schema(operation: &'static str, schema: u64) -> Result<()> {
        if schema == u64::from(Self::SCHEMA) {
            return Ok(());
        }
        Err(Error::unsupported(
            operation,
            format!("schema {schema} is not the one this version reads"),
        )
        .with("reads", Self::SCHEMA)
        .hint(Self::OF_ANOTHER_VERSION))
    }

    pub(crate) fn context(&self) -> RunContext<'_> {
        RunContext::new(
            (&self.run, self.seed),
            (self.mode, self.replays, self.model.as_ref()),
            &self.recipe,
            &self.library,
            &self.policies,
        )
        .exploring(self.explores)
    }

    fn committed(
        &mut self,
        id: &EffectId,
        task: &mut TaskMachine,
        done: CommitDone,
        events: &mut Vec<EventKind>,
    ) -> Result<()> {
        if !task.awaits_commit() {
            return Err(
                Error::invalid("RunMachine::answer", "no commit is waited for").with("effect", id),
            );
        }
        let (own, lifts) = self.fold(&done)?;
        if done.overtaken {
            task.admit(&self.context(), events);
            events.extend(lifts);
            return Ok(());
        }
        let changes = done.committed.last().map(|last| last.changes.as_slice());
        task.committed(&self.context(), &own, changes.unwrap_or_default(), events);
        self.told(own, done.rebased, events);
        events.extend(lifts);
        Ok(())
    }
}

// The progress of a run: which tasks are active, which task may change the library next, and when maintenance runs.

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
            lifts: self.lifts.clone(),
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
        let (own, lifts) = self.fold(&done)?;
        if done.overtaken {
            maintaining.overtaken(&self.context(), &done.committed, events);
            events.extend(lifts);
            return Ok(());
        }
        maintaining.committed(&self.context(), &own, events);
        self.told(own, done.rebased, events);
        events.extend(lifts);
        Ok(())
    }

    /// Applies the commits of a commit's result to the run's library. Returns the effect of the last one, which is the run's
    /// own commit unless that was overtaken, and an event for each verdict on a lift that this one changes. What others' commits change is
    /// for their runs to tell.
    pub(crate) fn fold(&mut self, done: &CommitDone) -> Result<(Applied, Vec<EventKind>)> {
        let own = usize::from(!done.overtaken);
        let others = done.committed.len().saturating_sub(own);
        let (others, own) = done.committed.split_at(others);
        self.apply(others)?;
        if !self.withholds() {
            return Ok((self.apply(own)?, Vec::new()));
        }
        let proven: Option<ProvenRelease> = self.recipe.maintenance.get();
        // Where a program releases by the ledger, an event says what the program reads there.
        let policy = proven.map_or_else(LiftPolicy::default, |program| program.lifts());
        self.lift_watch.0.follow(&self.library, others, &policy);
        let applied = self.apply(own)?;
        let changed = self.lift_watch.0.changed(&self.library, &policy);
        self.lifts.extend(changed.iter().cloned());
        let boxed = changed.into_iter().map(Box::new);
        let told = boxed.map(|lift| EventKind::LiftChanged { lift });
        Ok((applied, told.collect()))
    }

    /// Whether the run's tasks go without skills by chance.
    pub(crate) fn withholds(&self) -> bool {
        self.mode == Mode::Train && self.recipe.select.withhold.is_some()
    }

    /// Applies the commits that are not applied yet. Returns the effect of the last one.
    fn apply(&mut self, commits: &[Committed]) -> Result<Applied> {
        let mut applied = Applied::default();
        for committed in commits {
            if committed.revision > self.library.revision() {
                applied = self.library.apply(committed)?;
            }
        }
        Ok(applied)
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
        let mut active = std::mem::take(&mut self.active);
        let mut events = Vec::new();
        let first = active.iter_mut().next().map(|(step, first)| {
            first.admit(&self.context(), &mut events);
            *step
        });
        self.active = active;
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
