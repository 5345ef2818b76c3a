//! The front: a host's parts and a recipe, and both ways in.

use std::sync::{Arc, Mutex};

use futures::channel::mpsc::{UnboundedReceiver, unbounded};

use super::{
    begun::{Begun, can_go_on, is_finished},
    checking::{self, Checked},
    group::missing_verdicts,
    locking::lock,
    options::Options,
    session::Session,
};
use crate::{
    builtin::MemoryStore,
    contract::Backends,
    domain::{Mode, Task},
    error::{Error, Result},
    id::RunId,
    library::SkillLibrary,
    maintain::Overlaps,
    recipe::Recipe,
    report::{Event, Finding, RunReport},
    run::{
        driver::{drive::Reach, injecting::counting, log::Log, performer::Performer},
        machine::{Need, RunEntry, replay},
    },
};

/// An agent that learns on the job.
///
/// Two ways in: hand over tasks ([`learn`](Self::learn)), or keep your own agent loop ([`begin`](Self::begin)).
/// Cheap to clone; clones share everything.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::Backends,
///     domain::{Action, Outcome, Skill, Source, Step, StepResult, Task},
///     recipe,
///     run::{Journeyman, Options},
///     select::Selector,
/// };
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// // No model here, so skills are chosen without scores, and none is written.
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Selector::Top { limit: std::num::NonZeroUsize::MIN };
/// let options = Options::new("desk", Seed(7));
/// let journeyman = Journeyman::open(Backends::own_loop(), recipe, options).await?;
/// let shipped = "---\nname: close-ticket\ndescription: How to close a ticket.\n---\nVerify the customer, then close.\n";
/// journeyman.add(vec![Skill::from_skill_md(shipped)?], "version 1").await?;
///
/// let mut attempt = journeyman.begin(Task::new("t-1", "close ticket 17")).await?;
/// assert!(attempt.prompt().contains("Verify the customer"));
/// let call = Action::call("verify", json!({ "ticket": 17 }));
/// attempt.record(Step::new(call, StepResult::new("verified", Source::trusted("desk"))));
/// attempt.finish(Outcome::success()).await?;
///
/// let library = journeyman.library().await?;
/// let entry = library.get(&"close-ticket".into()).expect("it is there");
/// assert_eq!(entry.credits, 1);
/// # Ok::<_, journeyman::Error>(())
/// # })?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Journeyman {
    pub(crate) session: Arc<Session>,
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
            session: Arc::new(Session {
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
        let session = &self.session;
        let observed = &session.performer.observed;
        {
            let library = session.performer.follow();
            let now = checking::of_library(&session.recipe, &library, session.read_only);
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
        let Some(journal) = &self.session.backends.journal else {
            return Err(Error::unsupported(
                "Journeyman::unfinished_runs",
                "the host gave no journal",
            )
            .hint("set `Backends::journal` before runs begin"));
        };
        let mut unfinished = Vec::new();
        for run in journal.runs().await? {
            let entries = journal.read(&run).await?;
            if !is_finished(&entries) && can_go_on(&entries, &self.session.options.policies) {
                unfinished.push(run);
            }
        }
        Ok(unfinished)
    }

    /// The typed progress events of everything that runs from here on, in both ways in. An event comes at least once: a run that
    /// is resumed in the same process repeats those that its journal lacks. Dropping the stream ends it.
    pub fn events(&self) -> UnboundedReceiver<Event> {
        let (sender, receiver) = unbounded();
        lock(&self.session.listeners).push(sender);
        receiver
    }

    /// The library as the store has it now.
    ///
    /// # Errors
    /// What the store gives.
    pub async fn library(&self) -> Result<SkillLibrary> {
        self.session.performer.library().await
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
        let Some(journal) = &self.session.backends.journal else {
            return Err(Error::unsupported(
                "Journeyman::resume",
                "the host gave no journal to resume from",
            )
            .hint("set `Backends::journal` before the run begins"));
        };
        let entries = journal.read(run).await?;
        let mut machine = replay(&entries, &self.session.options.policies)?;
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
        self.session.performer.refresh_index().await;
        machine.overlaps = self.session.overlaps.share();
        self.session
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
        let session = &self.session;
        let run = session.next_run(kind);
        let (mut machine, mut log) = session
            .machine(run, session.recipe.clone(), mode, tasks, false)
            .await?;
        session
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
        if !self.session.read_only {
            return Ok(());
        }
        Err(Error::unsupported(
            operation,
            "the session is read-only, or its store is frozen, so nothing can be learned or changed",
        )
        .hint("call `evaluate` or `begin`; to learn, open a store that can be committed to, without `Options::read_only`"))
    }
}
