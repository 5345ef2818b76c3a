//! [`Session`], the state that all clones of a [`Journeyman`](crate::run::Journeyman) and its attempt handles share.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64},
    sync::{Arc, Mutex},
};

use futures::channel::mpsc::UnboundedSender;
use tracing::Instrument;

use super::{checking, group::Group, locking::lock, options::Options, watching::Watch};
use crate::{
    contract::{Components, Journal},
    domain::{Mode, Task},
    error::{Error, ErrorKind, Result, Retry},
    id::RunId,
    measure::ProxyGain,
    policy::{ChosenSkill, ResolvedPolicies},
    recipe::Recipe,
    report::{Event, EventKind, FindingKind, TaskReport},
    run::{
        driver::{
            Deciding, Performer,
            drive::{Driver, Reach},
            log::Log,
            redacting::Redacting,
        },
        machine::{RunEntry, RunMachine, RunPlan, TurnAsk, advancing::count_gain},
    },
    telemetry,
};

/// The shared state of a session: the host's parts, options, run numbers, and waiting groups of attempts.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) components: Arc<Components>,
    pub(crate) recipe: Recipe,
    /// The policies that the recipe names.
    pub(crate) policies: ResolvedPolicies,
    pub(crate) options: Options,
    pub(crate) read_only: bool,
    /// The number of the next run of each kind; earlier processes count too.
    pub(crate) runs: Mutex<BTreeMap<String, u64>>,
    pub(crate) performer: Performer,
    pub(crate) watch: Mutex<Watch>,
    /// The gain proxy of the attempts that the session learned from.
    pub(crate) gain: Mutex<ProxyGain>,
    pub(crate) listeners: Mutex<Vec<UnboundedSender<Event>>>,
    /// Groups without open attempts that are not completed yet.
    pub(crate) ready: Mutex<Vec<Arc<Group>>>,
}

impl Session {
    /// The id of the next run of a kind. Each kind has its own counter, because the seed of a learning run is derived from
    /// its id: an evaluation in between must not change it.
    pub(crate) fn next_run(&self, kind: &str) -> RunId {
        let mut runs = lock(&self.runs);
        let next = runs.entry(kind.to_owned()).or_default();
        let number = std::mem::replace(next, next.saturating_add(1));
        RunId::new(format!("{}/{kind}-{number}", self.options.session))
    }

    pub(crate) fn journal(&self) -> Option<&dyn Journal> {
        // A read-only session writes no journal, so that it does not occupy run ids of a session that learns.
        let journal = self.components.journal.as_deref();
        journal.filter(|_| !self.read_only)
    }

    pub(crate) fn redacting(&self) -> &Redacting {
        &self.performer.redacting
    }

    /// The machine of a new run, and a log with the entry of the run's start.
    ///
    /// # Errors
    /// `Conflict` if the journal has a run with this id; the error of the store, the journal or the machine.
    pub(crate) async fn machine(
        &self,
        run: RunId,
        mut recipe: Recipe,
        mode: Mode,
        tasks: Vec<Task>,
        by_host: bool,
    ) -> Result<(RunMachine, Log)> {
        // A host's own loop knows by itself how often it attempts a task.
        if !by_host && self.performer.attempts_again("Journeyman::learn").is_err() {
            recipe.attempts.group = NonZeroU32::MIN;
        }
        let known = match self.journal() {
            Some(journal) => !journal.read(&run).await?.is_empty(),
            None => false,
        };
        if known {
            let operation = match (mode, by_host) {
                (_, true) => "Journeyman::begin",
                (Mode::Train, false) => "Journeyman::learn",
                (Mode::Evaluate, false) => "Journeyman::evaluate",
            };
            return Err(Error::new(
                ErrorKind::Conflict,
                operation,
                "the journal has a run of this id already",
            )
            .with("run", run)
            .hint("resume that run, or give the session another name"));
        }
        self.performer.refresh_index().await;
        // Every learning run has its own seed. All evaluations share one, so that two of them can be compared task by task.
        let seed = match mode {
            Mode::Train => self.options.seed.derive(run.as_str(), 0),
            Mode::Evaluate => self.options.seed.derive("evaluate", 0),
        };
        let library = self.performer.library().await?;
        let tasks = tasks.into_iter();
        let tasks = tasks
            .map(|task| self.performer.withhold(&run, task))
            .collect::<Result<_>>()?;
        let plan = RunPlan {
            run,
            seed,
            recipe,
            mode,
            tasks,
            replays: self.performer.replays(),
            library,
            policies: self.options.policies.clone(),
            width: NonZeroU64::try_from(self.options.in_flight).unwrap_or(NonZeroU64::MIN),
        };
        // An attempt of a host's own loop is made for somebody.
        let machine = RunMachine::exploring(plan, !by_host || self.options.explore_live)?;
        let mut log = Log::new(0, self.journal());
        log.push(RunEntry::Started {
            machine: Box::new(machine.clone()),
            by_host,
            findings: self.performer.observed.all(),
        });
        Ok((machine, log))
    }

    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
    ) -> Result<()> {
        self.drive_by(&self.performer, machine, reach, log).await
    }

    /// Makes a decision about an attempt's skills: drives the machine to its attempts, and counts what it costs.
    pub(crate) async fn decide(
        &self,
        cost: &Deciding,
        machine: &mut RunMachine,
        log: &mut Log,
    ) -> Result<()> {
        let within = self.options.decide_within;
        let performer = self.performer.deciding(cost, within);
        let driven = self.drive_by(&performer, machine, Reach::AllButAttempts, log);
        performer.decide(driven).await
    }

    async fn drive_by(
        &self,
        performer: &Performer,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
    ) -> Result<()> {
        let driver = Driver {
            performer,
            journal: self.journal(),
            in_flight: self.options.in_flight,
        };
        let span = telemetry::run(machine.run());
        let learns = machine.mode == Mode::Train;
        let driven = driver
            .drive(machine, reach, log, &mut |event| {
                self.tell(event);
                if learns && let EventKind::TaskFinished { report } = &event.kind {
                    count_gain(&mut lock(&self.gain), report);
                }
            })
            .instrument(span.clone())
            .await;
        telemetry::finished(&span, &driven);
        driven?;
        if machine.is_finished() {
            let run = machine.run();
            self.performer.forget(run);
            let observed = &self.performer.observed;
            observed.forget(FindingKind::UnfinishedRun, run.as_str());
        }
        Ok(())
    }

    fn tell(&self, event: &Event) {
        telemetry::happened(event);
        lock(&self.watch).see(&event.kind, &self.performer.observed);
        if let Some(finding) = checking::event_finding(&self.recipe, &event.kind) {
            self.performer.observed.note(finding);
        }
        lock(&self.listeners).retain(|listener| listener.unbounded_send(event.clone()).is_ok());
    }

    /// Selects the skills for a later turn of an attempt.
    ///
    /// # Errors
    /// The error of the selection or of the journal; `Invalid` where the attempt's group is already completed.
    pub(crate) async fn select(
        &self,
        cost: &Deciding,
        group: &Group,
        ask: TurnAsk,
    ) -> Result<Vec<ChosenSkill>> {
        let mut run = group.run.lock().await;
        let through = || {
            Error::invalid(
                "AttemptHandle::turn",
                "the group of this attempt is already completed",
            )
        };
        let (machine, log) = run.as_mut().ok_or_else(through)?;
        log.push(RunEntry::TurnAsked {
            ask: Box::new(ask.clone()),
        });
        self.decide(cost, machine, log).await?;
        machine.turn_skills(&ask).unwrap_or_else(|| Err(through()))
    }

    /// Judges, credits, writes and commits for a group without open attempts. On an error of the store or the journal that can
    /// pass, or if the future is dropped, the group returns to the waiting groups. On a permanent one it is dropped, and its
    /// run stays in the journal.
    ///
    /// # Errors
    /// The error of the store, the journal or the task's policy.
    pub(crate) async fn complete(&self, group: Arc<Group>) -> Result<Option<TaskReport>> {
        let mut unfinished = Unfinished {
            session: self,
            group: Some(Arc::clone(&group)),
        };
        let mut run = group.run.lock().await;
        let Some((machine, log)) = run.as_mut() else {
            unfinished.group = None;
            return Ok(None);
        };
        group.collect(log);
        let driven = self.drive(machine, Reach::Everything, log).await;
        if let Err(error) = &driven
            && !is_permanent(error)
        {
            return driven.map(|()| None);
        }
        let report = machine.report().tasks.into_iter().next();
        let failed = report.as_ref().and_then(|report| report.failed.clone());
        // A task with a report is committed, also where what comes after it, such as maintenance, is refused.
        group.end(match (&report, &failed, &driven) {
            (_, Some(error), _) | (None, None, Err(error)) => Err(error.clone()),
            _ => Ok(()),
        });
        self.performer.forget(machine.run());
        *run = None;
        unfinished.group = None;
        driven?;
        failed.map_or(Ok(report), Err)
    }
}

/// Whether another try to complete a group gives this error of the store or the journal again.
fn is_permanent(error: &Error) -> bool {
    error.retry() == Retry::Permanent
        && matches!(
            error.kind(),
            ErrorKind::Unsupported | ErrorKind::Conflict | ErrorKind::Invalid
        )
}

/// A guard for a group that is being completed: if it is dropped before the end, the group returns to the waiting groups
/// with all its results.
struct Unfinished<'a> {
    session: &'a Session,
    group: Option<Arc<Group>>,
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(group) = self.group.take() {
            lock(&self.session.ready).push(group);
        }
    }
}
