//! [`Session`], the state that all clones of a [`Journeyman`](crate::run::Journeyman) and its attempt handles share, with its
//! options and the runs that earlier processes began under its name.

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::channel::mpsc::UnboundedSender;
use tracing::Instrument;

use crate::{
    contract::{Components, Journal, JournalEntry},
    domain::{Committed, Mode, Task},
    error::{Error, ErrorKind, Result, Retry},
    id::{Revision, RunId, Seed},
    policy::{ChosenSkill, Policies, ResolvedPolicies},
    run::{
        driver::{
            Deciding, Performer,
            drive::{Driver, Log, Reach},
            redaction::Redacting,
        },
        host::{checks, group::Group, locking::lock, watching::Watch},
        machine::{
            RunEntry, RunMachine, RunPlan, TurnAsk, derived::Derived, effect::Effect,
            fold::count_gain, journal::replay,
        },
        report::{Event, EventKind, Finding, FindingKind, ProxyGain, TaskReport},
    },
    stations::{proof::LiftWatch, recipe::Recipe},
    telemetry,
    text::Redactor,
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
    /// The verdicts on lifts as the latest learning run left them, with the library's revision: the next run need not read the ledger.
    pub(crate) lift_watch: Mutex<(Revision, LiftWatch)>,
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
            // A host's own loop does not say which model acts.
            model: self.performer.acting_model().filter(|_| !by_host),
            library,
            policies: self.options.policies.clone(),
            width: NonZeroU64::try_from(self.options.in_flight).unwrap_or(NonZeroU64::MIN),
        };
        // An attempt of a host's own loop is made for somebody.
        let mut machine = RunMachine::exploring(plan, !by_host || self.options.explore_live)?;
        let mut log = Log::new(0, self.journal());
        log.push(RunEntry::Started {
            machine: Box::new(machine.clone()),
            by_host,
            findings: self.performer.observed.all(),
        });
        self.hand_verdicts(&mut machine);
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
                if learns {
                    self.learned(&event.kind);
                }
            })
            .instrument(span.clone())
            .await;
        telemetry::finished(&span, &driven);
        driven?;
        if machine.is_finished() {
            self.keep_verdicts(machine);
            let run = machine.run();
            self.performer.forget(run);
            let observed = &self.performer.observed;
            observed.forget(FindingKind::UnfinishedRun, run.as_str());
        }
        Ok(())
    }

    /// Hands the known verdicts on lifts to a run that begins at their revision.
    fn hand_verdicts(&self, machine: &mut RunMachine) {
        let known = lock(&self.lift_watch);
        if machine.withholds() && known.0 == machine.library.revision() {
            machine.lift_watch = Derived(known.1.clone());
        }
    }

    /// Keeps the verdicts on lifts that a run followed, unless those of a later revision are kept.
    fn keep_verdicts(&self, machine: &RunMachine) {
        let Derived(watch) = &machine.lift_watch;
        let revision = machine.library.revision();
        let mut known = lock(&self.lift_watch);
        if watch.has_begun() && revision >= known.0 {
            *known = (revision, watch.clone());
        }
    }

    /// Counts an event of a learning run.
    fn learned(&self, event: &EventKind) {
        lock(&self.watch).learned(event, &self.performer.observed);
        if let EventKind::TaskFinished { report } = event {
            count_gain(&mut lock(&self.gain), report);
        }
    }

    fn tell(&self, event: &Event) {
        self.tell_one(event);
        // Evaluations of a session that learns attempt the same tasks again.
        if !self.read_only && event.run.kind() == Some("evaluate") {
            return;
        }
        let drifted = lock(&self.watch).drifts(event);
        if let Some(kind) = drifted {
            self.tell_one(&Event {
                attempt: None,
                kind,
                ..event.clone()
            });
        }
    }

    fn tell_one(&self, event: &Event) {
        telemetry::happened(event);
        lock(&self.watch).see(&event.kind, &self.performer.observed);
        if let Some(finding) = checks::event_finding(&self.recipe, &event.kind) {
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

/// The options of a session: name, seed, concurrency, secrets, and policies of the host's own.
///
/// ```
/// use std::num::NonZeroUsize;
/// use journeyman::{Seed, run::Options};
///
/// let mut options = Options::new("shop-agent", Seed(7));
/// options.in_flight = NonZeroUsize::MIN; // one call at a time
/// assert!(options.clone().read_only().read_only && !options.read_only);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The prefix of the ids of this session's runs. Keep one name permanently: a later process with the same name continues
    /// the run numbers in the store and the journal. Processes that write to one store at the same time need different names;
    /// with the same name, the second to commit gets a `Conflict`.
    pub session: String,
    /// The seed from which all randomness is derived.
    pub seed: Seed,
    /// Maximum number of concurrent calls to the host's parts. Calls for the selection of a later turn are not counted,
    /// because the attempt that waits for them is. Default: 8.
    pub in_flight: NonZeroUsize,
    /// Removes secrets from everything that a run stores, reports and shows to roles; only the agent and its environment see
    /// them. Default: the known forms of secrets; a host can add values and forms. An id or a name that holds a secret is
    /// refused.
    pub redactor: Redactor,
    /// Whether the library is only read: attempts get skills, and nothing is learned from them. With a frozen store the
    /// session is always read-only.
    pub read_only: bool,
    /// Whether an attempt that the host begins ([`Journeyman::begin`](crate::run::Journeyman::begin)) may be given a skill at random,
    /// with the probability of the recipe's gate ([`GatePolicy::epsilon`](crate::stations::select::GatePolicy::epsilon)), to learn what it is
    /// good for. Default: no, since such attempts are made for somebody. [`learn`](crate::run::Journeyman::learn) explores as the
    /// recipe says. A selector that draws by itself (`random`, or one of the host's own) is not asked.
    pub explore_live: bool,
    /// The time that a decision about the skills of an attempt may take in the host's own loop
    /// ([`Journeyman::begin`](crate::run::Journeyman::begin), [`AttemptHandle::turn`](crate::run::AttemptHandle::turn)): when it
    /// is used up, nothing is newly chosen, and the decision says so: at a later turn the skills of the turn before stay, and a bank
    /// gives its general skills. Default: no budget beside the recipe's
    /// [`Limits`](crate::recipe::Limits). A host without a clock has none.
    pub decide_within: Option<Duration>,
    /// Whether a run's journal has the generations of roles, token by token, for a trainer; of a model that gives them
    /// ([`ModelCapabilities::token_records`](crate::contract::ModelCapabilities::token_records)). A role whose prompt or answer held
    /// a secret has none. Calls that write no journal keep none, and rollouts follow
    /// `papers::skillos::Rollouts::record`. Default: no, for they are longer than the rest of the journal.
    pub record_roles: bool,
    /// Whether the spans have texts (prompts and answers of roles, arguments and results of tools), redacted. Default: no. A host
    /// that follows OpenTelemetry sets it where `OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT` is set.
    pub texts_in_spans: bool,
    /// The host's own policies, which the recipe may name.
    pub policies: Policies,
}

impl Options {
    /// A session that learns, with 8 concurrent calls and the default redactor.
    pub fn new(session: impl Into<String>, seed: Seed) -> Self {
        Self {
            session: session.into(),
            seed,
            in_flight: NonZeroUsize::MIN.saturating_add(7),
            redactor: Redactor::default(),
            read_only: false,
            explore_live: false,
            decide_within: None,
            record_roles: false,
            texts_in_spans: false,
            policies: Policies::default(),
        }
    }

    /// Sets the host's own policies.
    #[must_use]
    pub fn with_policies(mut self, policies: Policies) -> Self {
        self.policies = policies;
        self
    }

    /// Makes the session read-only.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.read_only = true;
        self
    }
}

// The runs that earlier processes began under the same session name, read from the store and the journal.

/// The previous runs of a session.
#[derive(Debug, Default)]
pub(crate) struct PreviousRuns {
    /// For each kind of run, the number of the next run.
    pub(crate) next_numbers: BTreeMap<String, u64>,
    /// A finding about the latest run of `learn`, if it is not finished and can be resumed.
    pub(crate) unfinished: Option<Finding>,
}

impl PreviousRuns {
    /// Reads the runs from the commits and the journal.
    ///
    /// # Errors
    /// The journal's error.
    pub(crate) async fn load(
        (session, policies): (&str, &Policies),
        committed: &[Committed],
        journal: Option<&dyn Journal>,
    ) -> Result<Self> {
        let mut previous = Self::default();
        let causes = committed.iter().filter_map(|one| one.cause.run.as_ref());
        causes.for_each(|run| previous.count(session, run));
        let Some(journal) = journal else {
            return Ok(previous);
        };
        let runs = journal.runs().await?;
        runs.iter().for_each(|run| previous.count(session, run));
        let latest = previous
            .next_numbers
            .get("learn")
            .and_then(|next| next.checked_sub(1));
        let latest = latest.map(|latest| RunId::new(format!("{session}/learn-{latest}")));
        if let Some(run) = latest.filter(|run| runs.contains(run))
            && let entries = journal.read(&run).await?
            && !is_finished(&entries)
            && is_resumable(&entries, policies)
        {
            previous.unfinished = Some(
                Finding::new(
                    FindingKind::UnfinishedRun,
                    format!("the remaining tasks of run {run} are not attempted"),
                    "the run was interrupted",
                    "continue it with `Journeyman::resume`; `Journeyman::unfinished_runs` lists all such runs",
                )
                .about(run.as_str()),
            );
        }
        Ok(previous)
    }

    fn count(&mut self, session: &str, run: &RunId) {
        let rest = run.as_str().strip_prefix(session);
        // The runs of rollouts are named below the call that made them.
        let first = rest
            .and_then(|rest| rest.strip_prefix('/'))
            .and_then(|rest| rest.split('/').next());
        let Some((kind, number)) = first.and_then(|first| first.rsplit_once('-')) else {
            return;
        };
        if let Ok(number) = number.parse::<u64>() {
            let next = self.next_numbers.entry(kind.to_owned()).or_default();
            *next = (*next).max(number.saturating_add(1));
        }
    }
}

/// Whether an unfinished run can be resumed: its policies are registered, and no attempt is missing that only the host can
/// make.
pub(crate) fn is_resumable(entries: &[JournalEntry], policies: &Policies) -> bool {
    let first = entries.first().map(RunEntry::from_entry);
    match first {
        Some(Ok(RunEntry::Started { by_host: true, .. })) => {
            let effects = replay(entries, policies).map(|machine| machine.effects());
            effects.is_ok_and(|effects| {
                !effects
                    .iter()
                    .any(|(_, effect)| matches!(effect, Effect::Attempt(_)))
            })
        }
        Some(Ok(RunEntry::Started { machine, .. })) => machine.recipe().resolve(policies).is_ok(),
        // Written by another version, or damaged.
        _ => false,
    }
}

/// Whether a run's journal has the event of its end. Entries that cannot be read are ignored.
pub(crate) fn is_finished(entries: &[JournalEntry]) -> bool {
    entries.iter().rev().any(|entry| {
        let Ok(RunEntry::Happened { event }) = RunEntry::from_entry(entry) else {
            return false;
        };
        matches!(event.kind, EventKind::RunFinished { .. })
    })
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;
    use crate::{
        agent::MemoryStore,
        domain::Withhold,
        recipe,
        run::Journeyman,
        stations::{propose::WriteWhen, select::Top},
        testing::sample,
    };

    #[test]
    fn in_a_hosts_own_loop_a_run_begins_with_the_verdicts_on_lifts_that_the_last_one_left() {
        block_on(async {
            let components = Components::own_loop().with_store(Arc::new(MemoryStore::new()));
            let mut recipe = recipe::standard();
            recipe.select.withhold = Some(Withhold { share: 0.5 });
            recipe.select.selector = Top {
                limit: NonZeroUsize::MIN,
            }
            .into();
            recipe.write.when = WriteWhen::Never;
            let opened = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
            let journeyman = opened.unwrap();
            let session = &journeyman.session;
            let added = journeyman.add(vec![sample::skill("say-one")], "a start");
            added.await.unwrap();
            let watch_of_a_run = async |number: u64| {
                let run = RunId::new(format!("looked-at-{number}"));
                let tasks = vec![sample::task("a-task", &["one", "two"])];
                let recipe = session.recipe.clone();
                let made = session.machine(run, recipe, Mode::Train, tasks, true).await;
                let (machine, _) = made.unwrap();
                machine.lift_watch.0
            };
            assert!(!watch_of_a_run(0).await.has_begun());
            for number in 1..120 {
                let task = sample::task(&format!("task-{number}"), &["one", "two"]);
                let attempt = journeyman.begin(task).await.unwrap();
                let has = !attempt.injection().skills.is_empty();
                attempt.finish(sample::outcome(has)).await.unwrap();
                let watch = watch_of_a_run(number).await;
                assert!(watch.has_begun(), "after {number}");
            }
            // The skill was given to about half of them, and only those were done.
            let watch = format!("{:?}", watch_of_a_run(120).await);
            assert!(watch.contains("helps: Some(true)"), "{watch}");
            // Verdicts of another revision than the library's are not those that hold now.
            let added = journeyman.add(vec![sample::skill("say-two")], "a start");
            added.await.unwrap();
            assert!(!watch_of_a_run(121).await.has_begun());
        });
    }
}
