//! The front: a host's parts and a recipe, and both ways in.

use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};

use super::{
    AttemptHandle, Event, Need, RunEntry, RunMachine, RunPlan, RunReport, TaskReport,
    drive::{Driver, Reach},
    handle::Group,
    injecting::counting,
    log::Log,
    maintaining::Overlaps,
    perform::Performer,
    redacting::Redacting,
    replay,
};
use crate::{
    builtin::MemoryStore,
    contract::{Backends, Journal},
    domain::Task,
    error::{Error, ErrorKind, Result},
    id::{RunId, Seed},
    library::SkillLibrary,
    recipe::Recipe,
    select::Mode,
    text::Redactor,
};

/// How a host wants its runs.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What the ids of this session's runs begin with. A name is used once with one store and journal: a run's step
    /// is committed once, so a second session of the same name is taken for a repetition of the first.
    pub session: String,
    /// What all randomness follows from.
    pub seed: Seed,
    /// How many needs are performed at once.
    pub in_flight: NonZeroUsize,
    /// What takes secrets out of all that a run keeps, distils and tells; the agent and its world alone see them. By the
    /// known forms until a host names values or forms of its own. Ids and names are refused where they hold a secret.
    pub redactor: Redactor,
}

impl Options {
    /// A session with a name of its own; eight needs at once; secrets of known forms are redacted.
    pub fn new(session: impl Into<String>, seed: Seed) -> Self {
        Self {
            session: session.into(),
            seed,
            in_flight: NonZeroUsize::MIN.saturating_add(7),
            redactor: Redactor::default(),
        }
    }
}

/// An agent that learns on the job.
///
/// Two ways in: hand over tasks ([`learn`](Self::learn)), or keep your own agent loop ([`begin`](Self::begin)).
/// Cheap to clone; clones share everything.
#[derive(Clone, Debug)]
pub struct Journeyman {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    backends: Arc<Backends>,
    pub(super) recipe: Recipe,
    options: Options,
    /// How many runs of each kind began.
    runs: Mutex<BTreeMap<String, u64>>,
    pub(super) performer: Performer,
    /// What maintenance derived from the library, for the runs to come.
    overlaps: Overlaps,
    listeners: Mutex<Vec<UnboundedSender<Event>>>,
    /// Groups whose attempts are all in, and which wait for somebody to await the rest.
    pub(super) ready: Mutex<Vec<Arc<Group>>>,
}

impl Journeyman {
    /// Opens the library in the host's store (in memory when there is none).
    ///
    /// # Errors
    /// `Invalid` for a recipe whose numbers break their rules, and for a session's name that holds a secret; what the
    /// store and the retriever give.
    pub async fn open(mut backends: Backends, recipe: Recipe, options: Options) -> Result<Self> {
        recipe.validate()?;
        if recipe.skill_tokens.is_some() {
            counting(&backends)?;
        }
        let store = backends
            .store
            .get_or_insert_with(|| Arc::new(MemoryStore::new()));
        let library = SkillLibrary::replay(&store.load().await?.committed)?;
        let backends = Arc::new(backends);
        let performer = Performer::new(Arc::clone(&backends), recipe.limits)
            .following(library)
            .redacting(options.redactor.clone());
        let redacting = &performer.redacting;
        redacting.refuse("the session's name", &options.session)?;
        Ok(Self {
            inner: Arc::new(Inner {
                performer,
                overlaps: Overlaps::default(),
                backends,
                recipe,
                options,
                runs: Mutex::default(),
                listeners: Mutex::new(Vec::new()),
                ready: Mutex::new(Vec::new()),
            }),
        })
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
    /// `Invalid` for an empty stream; what the store and the journal give. What was learned until then is kept, and
    /// [`resume`](Self::resume) goes on from the journal.
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
    /// # Errors
    /// `Unsupported` without a journal, or for a run whose missing attempts are the host's; `NotFound` for an unknown run;
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
        let mut machine = replay(&entries)?;
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
        machine.overlaps = self.inner.overlaps.share();
        self.inner
            .drive(&mut machine, Reach::Everything, &mut log)
            .await?;
        Ok(machine.report())
    }

    /// Begins one attempt in the host's own agent loop.
    ///
    /// # Errors
    /// What the store gives. A retriever or scorer that fails costs the injection, not the attempt.
    pub async fn begin(&self, task: Task) -> Result<AttemptHandle> {
        let mut handles = self.begin_group(task, NonZeroUsize::MIN).await?;
        handles.pop().ok_or_else(|| {
            Error::new(
                ErrorKind::Internal,
                "Journeyman::begin",
                "a group without attempts",
            )
        })
    }

    /// Begins `n` attempts at one task that are credited and learned from as a group.
    ///
    /// # Errors
    /// As [`begin`](Self::begin).
    pub async fn begin_group(&self, task: Task, n: NonZeroUsize) -> Result<Vec<AttemptHandle>> {
        self.settle_if_possible().await;
        let mut recipe = self.inner.recipe.clone();
        recipe.group = u32::try_from(n.get()).unwrap_or(u32::MAX);
        let run = self.inner.next_run("begin");
        let (mut machine, mut log) = self
            .inner
            .machine(run, recipe, Mode::Train, vec![task], true)
            .await?;
        self.inner
            .drive(&mut machine, Reach::AllButAttempts, &mut log)
            .await?;
        AttemptHandle::group(self, machine, log)
    }

    /// Finishes the groups whose last attempt was abandoned, or whose completion failed or was cancelled.
    /// [`begin`](Self::begin) and [`learn`](Self::learn) try so too.
    ///
    /// # Errors
    /// The first that the store or the journal gave, once every group was tried; those that failed stay ready, and the
    /// reports of the others were told as events.
    pub async fn settle(&self) -> Result<Vec<TaskReport>> {
        let ready = std::mem::take(&mut *lock(&self.inner.ready));
        let mut reports = Vec::new();
        let mut failed = None;
        for group in ready {
            match group.complete(&self.inner).await {
                Ok(report) => reports.extend(report),
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        failed.map_or(Ok(reports), Err)
    }

    /// A group that cannot be completed must not keep others from beginning.
    async fn settle_if_possible(&self) {
        if let Err(error) = self.settle().await {
            tracing::warn!(%error, "a group of attempts could not be completed");
        }
    }

    async fn start(&self, kind: &str, mode: Mode, tasks: Vec<Task>) -> Result<RunReport> {
        if mode == Mode::Train {
            self.settle_if_possible().await;
        }
        let inner = &self.inner;
        let run = inner.next_run(kind);
        let (mut machine, mut log) = inner
            .machine(run, inner.recipe.clone(), mode, tasks, false)
            .await?;
        inner
            .drive(&mut machine, Reach::Everything, &mut log)
            .await?;
        Ok(machine.report())
    }
}

impl Inner {
    /// The id of the next run of a kind. Each kind is counted for itself: a learning run draws from its id, and an evaluation
    /// between two of them changes nothing.
    pub(super) fn next_run(&self, kind: &str) -> RunId {
        let mut runs = lock(&self.runs);
        let next = runs.entry(kind.to_owned()).or_default();
        let number = std::mem::replace(next, *next + 1);
        RunId::new(format!("{}/{kind}-{number}", self.options.session))
    }

    pub(super) fn journal(&self) -> Option<&dyn Journal> {
        self.backends.journal.as_deref()
    }

    pub(super) fn redacting(&self) -> &Redacting {
        &self.performer.redacting
    }

    /// A new run's machine, and its log with the run's beginning.
    async fn machine(
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
            width: self.options.in_flight.get() as u64,
        })?;
        let mut log = Log::new(0);
        log.push(RunEntry::Started {
            machine: Box::new(machine.clone()),
            by_host,
        });
        machine.overlaps = self.overlaps.share();
        Ok((machine, log))
    }

    pub(super) async fn drive(
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
            self.performer.forget(machine.run());
        }
        Ok(())
    }

    fn tell(&self, event: &Event) {
        lock(&self.listeners).retain(|listener| listener.unbounded_send(event.clone()).is_ok());
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What the locks guard is whole between any two statements, so a panic elsewhere does not spoil it.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
