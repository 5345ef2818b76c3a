//! [`Journeyman`], the runtime that a host opens with its parts and a recipe.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use futures::channel::mpsc::unbounded;

use crate::{
    agent::MemoryStore,
    contract::Components,
    domain::{Mode, Task},
    error::{Error, Result},
    id::RunId,
    library::SkillLibrary,
    policy::Answer,
    run::{
        driver::{
            attempt::counting,
            drive::{Log, Reach},
            performer::Performer,
        },
        host::{
            checks::{self, Checked, searched},
            events::Events,
            group::missing_verdicts,
            locking::lock,
            session::{Options, PreviousRuns, Session, is_finished, is_resumable},
            watching::Watch,
        },
        machine::{Effect, RunEntry, replay},
        report::{Finding, RunReport, SkillGain},
    },
    stations::{
        proof::{LiftPolicy, Lifts},
        recipe::Recipe,
    },
};

/// An agent that learns on the job.
///
/// There are two ways to use it: give it tasks ([`learn`](Self::learn)), or keep your own agent loop
/// ([`begin`](Self::begin)). Clones are cheap and share the session.
///
/// ```
/// use journeyman::{
///     Seed,
///     contract::Components,
///     domain::{Action, Outcome, Skill, Source, Step, StepResult, Task},
///     recipe,
///     run::{Journeyman, Options},
///     stations::select::Top,
/// };
/// use serde_json::json;
///
/// # futures::executor::block_on(async {
/// // There is no model, so skills are selected without scores, and no skill is written.
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Top::new(std::num::NonZeroUsize::MIN).into();
/// let options = Options::new("desk", Seed(7));
/// let journeyman = Journeyman::open(Components::own_loop(), recipe, options).await?;
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
    /// Opens the library in the host's store, or in memory if there is no store, and checks the host's parts against the
    /// recipe ([`findings`](Self::findings)).
    ///
    /// # Errors
    /// `Invalid` for a recipe with a value out of range, for a recipe that limits the tokens of skills where the host gave no
    /// tokenizer, and for a session name that holds a secret; `NotFound` for a recipe that names a policy that is not
    /// registered in the options; `Unsupported` for a gate that counts the score of a search where the session has none whose scores compare
    /// ([`GatePolicy::found`](crate::stations::select::GatePolicy::found)); the error of the store or the journal.
    pub async fn open(
        mut components: Components,
        recipe: Recipe,
        mut options: Options,
    ) -> Result<Self> {
        recipe.validate()?;
        // The runs of the session share the registry, so that they share what ours keep.
        options.policies = options.policies.with_ours()?;
        let policies = recipe.resolve(&options.policies)?;
        if recipe.select.skill_tokens.is_some() {
            counting(&components)?;
        }
        searched(&components, policies.selector.as_ref())?;
        let in_memory = components.store.is_none();
        let store = components
            .store
            .get_or_insert_with(|| Arc::new(MemoryStore::new()));
        let committed = store.load().await?.committed;
        let library = SkillLibrary::replay(&committed)?;
        let previous = PreviousRuns::load(
            (&options.session, &options.policies),
            &committed,
            components.journal.as_deref(),
        )
        .await?;
        let read_only = is_read_only(&components, &options);
        let mut findings = checks::check(&Checked {
            components: &components,
            recipe: &recipe,
            policies: &policies,
            library: &library,
            in_memory,
            read_only,
        });
        // A read-only session cannot resume a run.
        findings.extend(previous.unfinished.filter(|_| !read_only));
        let opened = Self::on(
            library,
            components,
            (recipe, options),
            previous.next_numbers,
        )?;
        let observed = &opened.session.performer.observed;
        findings
            .into_iter()
            .for_each(|finding| observed.note(finding));
        Ok(opened)
    }

    /// A session on a library that was folded from the store's commits; nothing else is checked.
    ///
    /// # Errors
    /// `Invalid` for a session name that holds a secret; those of [`Recipe::resolve`].
    pub(crate) fn on(
        library: SkillLibrary,
        components: Components,
        (mut recipe, options): (Recipe, Options),
        next_numbers: BTreeMap<String, u64>,
    ) -> Result<Self> {
        let read_only = is_read_only(&components, &options);
        let policies = recipe.resolve(&options.policies)?;
        let seed = options.seed.derive("drift", 0);
        let watch = Watch::of(policies.selector.gate(), &components, seed);
        // The runs' journals need not hold what the session alone looks at.
        if let Some(mut gate) = recipe.gate()
            && gate.fitted_on.take().is_some()
        {
            recipe.set_gate(gate)?;
        }
        let chosen = recipe.limits;
        recipe.limits = chosen.for_models(&components, options.in_flight);
        let components = Arc::new(components);
        let performer = Performer::new(Arc::clone(&components), chosen)
            .with_limits(recipe.limits)
            .following(library)
            .redacting(options.redactor.clone())
            .recording_roles(options.record_roles)
            .with_texts_in_spans(options.texts_in_spans);
        let redacting = &performer.redacting;
        redacting.refuse("the session's name", &options.session)?;
        Ok(Self {
            session: Arc::new(Session {
                performer,
                components,
                recipe,
                policies,
                options,
                read_only,
                runs: Mutex::new(next_numbers),
                watch: Mutex::new(watch),
                gain: Mutex::default(),
                lift_watch: Mutex::default(),
                listeners: Mutex::new(Vec::new()),
                ready: Mutex::new(Vec::new()),
            }),
        })
    }

    /// The functions that the host's parts, the recipe or a fault disable, and why: the findings of [`open`](Self::open) and
    /// those that arose since. Each was logged when it arose.
    pub fn findings(&self) -> Vec<Finding> {
        let session = &self.session;
        let observed = &session.performer.observed;
        {
            let library = session.performer.follow();
            let of = (&*session.components, &session.recipe, &session.policies);
            let now = checks::library_findings(of, &library, session.read_only);
            observed.renew(checks::depends_on_library, now);
        }
        observed.all()
    }

    /// The proxy of each skill's information gain (ARISE Eq. 15) over the attempts that this session learned from so far: those of its
    /// learning runs, and single ones of the host's own loop, which a report on one task says nothing of.
    ///
    /// ```
    /// use journeyman::{
    ///     Seed,
    ///     contract::Components,
    ///     domain::{Outcome, Task},
    ///     recipe,
    ///     run::{Journeyman, Options},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(Components::own_loop(), recipe::standard(), options).await?;
    /// let attempt = journeyman.begin(Task::new("t-1", "close ticket 17")).await?;
    /// attempt.finish(Outcome::success()).await?;
    /// // It was given no skill.
    /// assert!(journeyman.gains().is_empty());
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    pub fn gains(&self) -> Vec<SkillGain> {
        let gain = lock(&self.session.gain);
        let gains = gain.skills().filter_map(|skill| {
            let proxy = gain.of(&skill)?;
            Some(SkillGain { skill, proxy })
        });
        gains.collect()
    }

    /// What each skill, and the library as a whole, changes: from the tasks in learning that by chance went without what was chosen for
    /// them ([`SelectPolicy::withhold`](crate::stations::select::SelectPolicy::withhold)), of this session and of all others that
    /// wrote to the library. A run tells each verdict that changes
    /// ([`EventKind::LiftChanged`](crate::run::report::EventKind::LiftChanged)).
    ///
    /// ```
    /// use journeyman::{
    ///     Seed,
    ///     contract::Components,
    ///     domain::{Outcome, Task, Withhold},
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     stations::{proof::LiftPolicy, select::Top},
    ///     testing::sample,
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let mut recipe = recipe::standard();
    /// recipe.select.selector = Top::new(std::num::NonZeroUsize::MIN).into();
    /// recipe.select.withhold = Some(Withhold::new(0.5));
    /// let journeyman = Journeyman::open(Components::own_loop(), recipe, Options::new("desk", Seed(7))).await?;
    /// journeyman.add(vec![sample::skill("close-ticket")], "ours").await?;
    /// for number in 0..20 {
    ///     let attempt = journeyman.begin(Task::new(format!("t-{number}"), "close ticket 17")).await?;
    ///     attempt.finish(Outcome::success()).await?;
    /// }
    /// let lifts = journeyman.lift(LiftPolicy::default())?;
    /// let (with, without) = lifts.lifts[0].tasks();
    /// assert_eq!(with + without, 20);
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a policy out of its ranges.
    pub fn lift(&self, policy: LiftPolicy) -> Result<Lifts> {
        Lifts::of(&self.session.performer.follow(), policy)
    }

    /// The ids of the unfinished runs that [`resume`](Self::resume) can continue, of every session, including runs that are
    /// being driven at the moment. Runs with unfinished attempts of a host's own loop are not listed: only that host can make
    /// these attempts. Reads the whole journal.
    ///
    /// # Errors
    /// `Unsupported` without a journal; the journal's error.
    pub async fn unfinished_runs(&self) -> Result<Vec<RunId>> {
        let Some(journal) = &self.session.components.journal else {
            return Err(Error::unsupported(
                "Journeyman::unfinished_runs",
                "the host gave no journal",
            )
            .hint("set `Components::journal` before runs begin"));
        };
        let mut unfinished = Vec::new();
        for run in journal.runs().await? {
            let entries = journal.read(&run).await?;
            if !is_finished(&entries) && is_resumable(&entries, &self.session.options.policies) {
                unfinished.push(run);
            }
        }
        Ok(unfinished)
    }

    /// A stream of the progress events of all runs and attempts from now on. Each event is delivered at least once: a run
    /// that is resumed in the same process repeats the events that its journal lacks. Drop the stream to unsubscribe.
    pub fn events(&self) -> Events {
        let (sender, receiver) = unbounded();
        lock(&self.session.listeners).push(sender);
        Events(receiver)
    }

    /// The library at the store's present revision.
    ///
    /// # Errors
    /// The store's error.
    pub async fn library(&self) -> Result<SkillLibrary> {
        self.session.performer.library().await
    }

    /// Attempts tasks and learns from them, in batches of [`Recipe::batch`](crate::recipe::Recipe::batch) tasks.
    ///
    /// # Errors
    /// `Invalid` for an empty stream; `Unsupported` where the session is read-only; `Conflict` where another process uses the
    /// session's name; the kind of the first fault where not one attempt could be made and judged; the error of the store or
    /// the journal. Commits made before the error are kept, and [`resume`](Self::resume) continues from the journal.
    pub async fn learn(&self, tasks: Vec<Task>) -> Result<RunReport> {
        self.start("learn", Mode::Train, tasks).await
    }

    /// Attempts each task once, with temperature 0 and the present library. Nothing is learned or changed. Over a
    /// [`FrozenStore`](crate::agent::FrozenStore) any number of runtimes may evaluate at once.
    ///
    /// # Errors
    /// As [`learn`](Self::learn).
    pub async fn evaluate(&self, tasks: Vec<Task>) -> Result<RunReport> {
        self.start("evaluate", Mode::Evaluate, tasks).await
    }

    /// Continues a run from its journal. For a finished run, returns its report at once.
    ///
    /// A journal keeps no secrets. A task whose text held one cannot be attempted after a restart: its missing attempts are
    /// reported as `Unsupported`, and the run continues without them. In a world that cannot be set up again
    /// ([`EnvironmentCapabilities::resettable`](crate::contract::EnvironmentCapabilities)), the attempts that were open when the
    /// run was interrupted are reported so, too: they may have changed the world already.
    ///
    /// # Errors
    /// `Unsupported` without a journal, or for a run with missing attempts of a host's own loop; `NotFound` for an unknown
    /// run, or for a run whose recipe names a policy that is not registered in the options; otherwise as
    /// [`learn`](Self::learn).
    pub async fn resume(&self, run: &RunId) -> Result<RunReport> {
        let Some(journal) = &self.session.components.journal else {
            return Err(Error::unsupported(
                "Journeyman::resume",
                "the host gave no journal to resume from",
            )
            .hint("set `Components::journal` before the run begins"));
        };
        let entries = journal.read(run).await?;
        let mut machine = replay(&entries, &self.session.options.policies)?;
        if machine.mode == Mode::Train && !machine.is_finished() {
            self.writable("Journeyman::resume")?;
        }
        let first = entries.first().map(RunEntry::from_entry).transpose()?;
        let by_host = matches!(first, Some(RunEntry::Started { by_host: true, .. }));
        let attempts = |(_, effect): &(_, Effect)| matches!(effect, Effect::Attempt(_));
        if by_host && machine.effects().iter().any(attempts) {
            return Err(Error::unsupported(
                "Journeyman::resume",
                "the attempts of this run are the host's own, and some are missing",
            )
            .with("run", run)
            .hint("begin the task anew: nothing of this run was committed"));
        }
        // Events in the journal were already delivered; the rest is delivered now.
        let delivered = entries
            .iter()
            .map(RunEntry::from_entry)
            .filter(|entry| matches!(entry, Ok(RunEntry::Happened { .. })))
            .count();
        let mut log = Log::new(entries.len() as u64, self.session.journal());
        for event in machine.take_events().into_iter().skip(delivered) {
            log.push(RunEntry::Happened {
                event: Box::new(event),
            });
        }
        if by_host {
            let missing = missing_verdicts(&machine);
            missing.for_each(|(id, verdict)| log.answer(id, verdict));
        } else if let Err(error) = self.session.performer.attempts_again("Journeyman::resume") {
            // An attempt that was under way may have changed the world already.
            let open = machine.effects().into_iter();
            let open = open.filter(|(_, effect)| matches!(effect, Effect::Attempt(_)));
            open.for_each(|(id, _)| log.answer(id, Answer::Attempted(Err(error.clone()))));
        }
        // Earlier commits of the run may not be in this process's index.
        self.session.performer.refresh_index().await;
        self.session
            .drive(&mut machine, Reach::Everything, &mut log)
            .await?;
        self.checked_report("Journeyman::resume", machine.report())
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
        self.checked_report(operation, machine.report())
    }

    /// Adds the findings to a run's report.
    ///
    /// # Errors
    /// The kind of the first fault, if no attempt of the run could be made and judged.
    fn checked_report(&self, operation: &'static str, mut report: RunReport) -> Result<RunReport> {
        report.findings = self.findings();
        match report.nothing_done(operation) {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }

    /// Whether nothing can be learned or changed in this session: [`Options::read_only`], or a frozen store.
    pub fn is_read_only(&self) -> bool {
        self.session.read_only
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
        .hint("call `evaluate` or `begin`; to learn, open a writable store without `Options::read_only`"))
    }
}

fn is_read_only(components: &Components, options: &Options) -> bool {
    let store = components.store.as_ref();
    options.read_only || store.is_some_and(|store| store.is_read_only())
}
