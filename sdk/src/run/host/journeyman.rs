//! The front: a host's parts and a recipe, and both ways in.

use std::{
    collections::BTreeMap,
    num::NonZeroU64,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

use super::{
    begun::{Begun, can_go_on, is_finished},
    checking::{self, Checked},
    handle::{Group, missing_verdicts},
    options::Options,
};
use crate::{
    builtin::MemoryStore,
    contract::{Backends, Journal},
    domain::{Mode, Task},
    error::{Error, ErrorKind, Result},
    id::RunId,
    library::SkillLibrary,
    maintain::Overlaps,
    recipe::Recipe,
    report::{Event, Finding, FindingKind, RunReport},
    run::{
        driver::{
            drive::{Driver, Reach},
            injecting::counting,
            log::Log,
            perform::Performer,
            redacting::Redacting,
        },
        machine::{Need, RunEntry, RunMachine, RunPlan, replay},
    },
};

/// An agent that learns on the job.
///
/// Two ways in: hand over tasks ([`learn`](Self::learn)), or keep your own agent loop ([`begin`](Self::begin)).
/// Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct Journeyman {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    backends: Arc<Backends>,
    pub(crate) recipe: Recipe,
    options: Options,
    pub(crate) read_only: bool,
    /// How many runs of each kind began, in earlier starts too.
    runs: Mutex<BTreeMap<String, u64>>,
    pub(crate) performer: Performer,
    /// What maintenance derived from the library, for the runs to come.
    overlaps: Overlaps,
    listeners: Mutex<Vec<UnboundedSender<Event>>>,
    /// Groups whose attempts are all in, and which wait for somebody to await the rest.
    pub(crate) ready: Mutex<Vec<Arc<Group>>>,
}

impl Journeyman {
    /// Opens the library in the host's store, in memory when there is none, and checks the host's parts against the recipe
    /// ([`findings`](Self::findings)).
    ///
    /// # Errors
    /// `Invalid` for a recipe whose numbers break their rules, for one that bounds the tokens of skills where the host gave
    /// no tokenizer, and for a session's name that holds a secret; `NotFound` for a recipe that names a policy of the host's
    /// own that is not in the options; what the store and the journal give.
    pub async fn open(mut backends: Backends, recipe: Recipe, options: Options) -> Result<Self> {
        recipe.validate()?;
        recipe.resolve(&options.policies)?;
        if recipe.select.skill_tokens.is_some() {
            counting(&backends)?;
        }
        let in_memory = backends.store.is_none();
        let store = backends
            .store
            .get_or_insert_with(|| Arc::new(MemoryStore::new()));
        let read_only = options.read_only || store.is_read_only();
        let committed = store.load().await?.committed;
        let library = SkillLibrary::replay(&committed)?;
        let begun = Begun::of(
            (&options.session, &options.policies),
            &committed,
            backends.journal.as_deref(),
        )
        .await?;
        let findings = checking::check(&Checked {
            backends: &backends,
            recipe: &recipe,
            library: &library,
            in_memory,
            read_only,
        });
        let backends = Arc::new(backends);
        let performer = Performer::new(Arc::clone(&backends), recipe.limits)
            .following(library)
            .redacting(options.redactor.clone());
        let redacting = &performer.redacting;
        redacting.refuse("the session's name", &options.session)?;
        // A session that only reads cannot go on with a run.
        let unfinished = begun.unfinished.filter(|_| !read_only);
        let findings = findings.into_iter().chain(unfinished);
        findings.for_each(|finding| performer.observed.note(finding));
        Ok(Self {
            inner: Arc::new(Inner {
                performer,
                overlaps: Overlaps::default(),
                backends,
                recipe,
                options,
                read_only,
                runs: Mutex::new(begun.counts),
                listeners: Mutex::new(Vec::new()),
                ready: Mutex::new(Vec::new()),
            }),
        })
    }

    /// What will not happen with the host's parts, and why: what [`open`](Self::open) found, and what showed since. Each
    /// was logged when it was found.
    pub fn findings(&self) -> Vec<Finding> {
        let inner = &self.inner;
        let observed = &inner.performer.observed;
        {
            let library = inner.performer.follow();
            let now = checking::of_library(&inner.recipe, &library, inner.read_only);
            observed.renew(checking::is_of_library, now);
        }
        observed.all()
    }

    /// The runs in the journal that were begun and not finished and that [`resume`](Self::resume) can go on with, of every
    /// session, by id. An attempt that a host did not finish in its own loop is not among them: nobody else can make it. It
    /// reads the whole journal, and lists what is under way at the moment too.
    ///
    /// # Errors
    /// `Unsupported` without a journal; what the journal gives.
    pub async fn unfinished_runs(&self) -> Result<Vec<RunId>> {
        let Some(journal) = &self.inner.backends.journal else {
            return Err(Error::unsupported(
                "Journeyman::unfinished_runs",
                "the host gave no journal",
            )
            .hint("set `Backends::journal` before runs begin"));
        };
        let mut unfinished = Vec::new();
        for run in journal.runs().await? {
            let entries = journal.read(&run).await?;
            if !is_finished(&entries) && can_go_on(&entries, &self.inner.options.policies) {
                unfinished.push(run);
            }
        }
        Ok(unfinished)
    }

    /// The typed progress events of everything that runs from here on, in both ways in. Dropping the stream ends it.
    pub fn events(&self) -> UnboundedReceiver<Event> {
        let (sender, receiver) = unbounded();
        lock(&self.inner.listeners).push(sender);
        receiver
    }

    /// The library as the store has it now.
    ///
    /// # Errors
    /// What the store gives.
    pub async fn library(&self) -> Result<SkillLibrary> {
        self.inner.performer.library().await
    }

    /// Learns from a stream of tasks, one after the other.
    ///
    /// # Errors
    /// `Invalid` for an empty stream; `Unsupported` where the session is read-only; `Conflict` where another process uses the
    /// session's name; the kind of the first fault where not one attempt could be made and judged; what the store and the
    /// journal give. What was learned until then is kept, and [`resume`](Self::resume) goes on from the journal.
    pub async fn learn(&self, tasks: Vec<Task>) -> Result<RunReport> {
        self.start("learn", Mode::Train, tasks).await
    }

    /// Attempts tasks once each, greedily, with the library as it stands: nothing is learned or changed. Over a
    /// [`FrozenStore`](crate::builtin::FrozenStore) any number of runtimes may do so at once.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub async fn evaluate(&self, tasks: Vec<Task>) -> Result<RunReport> {
        self.start("evaluate", Mode::Evaluate, tasks).await
    }

    /// Goes on with a run from its journal; a finished run's report comes back at once.
    ///
    /// A journal keeps no secrets. A task whose text held one cannot be attempted after a restart: attempts of it that are
    /// missing are reported as `Unsupported`, and the run goes on without them.
    ///
    /// # Errors
    /// `Unsupported` without a journal, or for a run whose missing attempts are the host's; `NotFound` for an unknown run, and
    /// for one whose recipe names a policy that is not in the options;
    /// what [`learn`](Self::learn) gives.
    pub async fn resume(&self, run: &RunId) -> Result<RunReport> {
        let Some(journal) = &self.inner.backends.journal else {
            return Err(Error::unsupported(
                "Journeyman::resume",
                "the host gave no journal to resume from",
            )
            .hint("set `Backends::journal` before the run begins"));
        };
        let entries = journal.read(run).await?;
        let mut machine = replay(&entries, &self.inner.options.policies)?;
        if machine.mode == Mode::Train && !machine.is_finished() {
            self.writable("Journeyman::resume")?;
        }
        let first = entries.first().map(RunEntry::from_entry).transpose()?;
        let by_host = matches!(first, Some(RunEntry::Started { by_host: true, .. }));
        let attempts = |(_, need): &(_, Need)| matches!(need, Need::Attempt(_));
        if by_host && machine.needs().iter().any(attempts) {
            return Err(Error::unsupported(
                "Journeyman::resume",
                "the attempts of this run are the host's own, and some are missing",
            )
            .with("run", run)
            .hint("begin the task anew: nothing of this run was committed"));
        }
        // The events that the journal has were told; those that it was stopped before are told now.
        let told = entries
            .iter()
            .map(RunEntry::from_entry)
            .filter(|entry| matches!(entry, Ok(RunEntry::Happened { .. })))
            .count();
        let mut log = Log::new(entries.len() as u64);
        for event in machine.take_events().into_iter().skip(told) {
            log.push(RunEntry::Happened {
                event: Box::new(event),
            });
        }
        if by_host {
            let missing = missing_verdicts(&machine);
            missing.for_each(|(id, verdict)| log.answer(id, verdict));
        }
        // What was committed before may have been indexed by another process alone.
        self.inner.performer.refresh_index().await;
        machine.overlaps = self.inner.overlaps.share();
        self.inner
            .drive(&mut machine, Reach::Everything, &mut log)
            .await?;
        self.told("Journeyman::resume", machine.report())
    }

    async fn start(&self, kind: &str, mode: Mode, tasks: Vec<Task>) -> Result<RunReport> {
        let operation = match mode {
            Mode::Train => "Journeyman::learn",
            Mode::Evaluate => "Journeyman::evaluate",
        };
        if mode == Mode::Train {
            self.writable(operation)?;
            self.settle_some().await;
        }
        let inner = &self.inner;
        let run = inner.next_run(kind);
        let (mut machine, mut log) = inner
            .machine(run, inner.recipe.clone(), mode, tasks, false)
            .await?;
        inner
            .drive(&mut machine, Reach::Everything, &mut log)
            .await?;
        self.told(operation, machine.report())
    }

    /// A finished run's report; an error where none of its attempts could be made, or none of those that were made judged.
    fn told(&self, operation: &'static str, mut report: RunReport) -> Result<RunReport> {
        report.findings = self.findings();
        match report.nothing_done(operation) {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }

    /// # Errors
    /// `Unsupported` where the session is read-only.
    pub(crate) fn writable(&self, operation: &'static str) -> Result<()> {
        if !self.inner.read_only {
            return Ok(());
        }
        Err(Error::unsupported(
            operation,
            "the session is read-only, or its store is frozen, so nothing can be learned or changed",
        )
        .hint("call `evaluate` or `begin`; to learn, open a store that can be committed to, without `Options::read_only`"))
    }
}

impl Inner {
    /// The id of the next run of a kind. Each kind is counted for itself: a learning run draws from its id, and an evaluation
    /// between two of them changes nothing.
    pub(crate) fn next_run(&self, kind: &str) -> RunId {
        let mut runs = lock(&self.runs);
        let next = runs.entry(kind.to_owned()).or_default();
        let number = std::mem::replace(next, next.saturating_add(1));
        RunId::new(format!("{}/{kind}-{number}", self.options.session))
    }

    pub(crate) fn journal(&self) -> Option<&dyn Journal> {
        // A session that is read-only keeps nothing, so that it takes no run's id from one that learns.
        let journal = self.backends.journal.as_deref();
        journal.filter(|_| !self.read_only)
    }

    pub(crate) fn redacting(&self) -> &Redacting {
        &self.performer.redacting
    }

    /// A new run's machine, and its log with the run's beginning.
    pub(crate) async fn machine(
        &self,
        run: RunId,
        recipe: Recipe,
        mode: Mode,
        tasks: Vec<Task>,
        by_host: bool,
    ) -> Result<(RunMachine, Log)> {
        let known = match self.journal() {
            Some(journal) => !journal.read(&run).await?.is_empty(),
            None => false,
        };
        if known {
            return Err(Error::new(
                ErrorKind::Conflict,
                "Journeyman::learn",
                "the journal has a run of this id already",
            )
            .with("run", run)
            .hint("resume it, or give the session another name"));
        }
        self.performer.refresh_index().await;
        // Each learning run draws anew; evaluations draw the same, so that before and after are paired.
        let seed = match mode {
            Mode::Train => self.options.seed.derive(run.as_str(), 0),
            Mode::Evaluate => self.options.seed.derive("evaluate", 0),
        };
        let library = self.performer.library().await?;
        let tasks = tasks.into_iter();
        let tasks = tasks
            .map(|task| self.performer.withhold(&run, task))
            .collect::<Result<_>>()?;
        let mut machine = RunMachine::new(RunPlan {
            run,
            seed,
            recipe,
            mode,
            tasks,
            library,
            policies: self.options.policies.clone(),
            width: self.options.in_flight.try_into().unwrap_or(NonZeroU64::MAX),
        })?;
        let mut log = Log::new(0);
        log.push(RunEntry::Started {
            machine: Box::new(machine.clone()),
            by_host,
        });
        machine.overlaps = self.overlaps.share();
        Ok((machine, log))
    }

    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
    ) -> Result<()> {
        let driver = Driver {
            performer: &self.performer,
            journal: self.journal(),
            in_flight: self.options.in_flight,
        };
        driver
            .drive(machine, reach, log, &mut |event| self.tell(event))
            .await?;
        if machine.is_finished() {
            let run = machine.run();
            self.performer.forget(run);
            let observed = &self.performer.observed;
            observed.forget(FindingKind::UnfinishedRun, run.as_str());
        }
        Ok(())
    }

    fn tell(&self, event: &Event) {
        if let Some(finding) = checking::of_event(&event.kind) {
            self.performer.observed.note(finding);
        }
        lock(&self.listeners).retain(|listener| listener.unbounded_send(event.clone()).is_ok());
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the locks guard is whole between any two statements, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
