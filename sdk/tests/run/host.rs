//! What a host may rely on: its own loop, resuming, adding skills, and word of what will not happen.

mod abstracted;
mod adding;
mod by_outcomes;
mod calibrated;
mod certified;
mod contributed;
mod drifting;
mod events;
mod findings;
mod fitting;
mod known;
mod learning;
mod live;
mod longer;
mod merging;
mod models;
mod outcomes;
mod proven;
mod quarantine;
mod read_only;
mod resuming;
mod settling;
mod short;
mod tainted;
mod trial;
mod trials;
mod undoing;
mod use_of_skills;
mod withheld;
mod without_parts;
mod worlds;

use std::{
    future::{Future, poll_fn},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    task::Poll,
};

use async_trait::async_trait;
use journeyman::{
    contract::{Journal, JournalEntry, Snapshot},
    domain::{
        Commit, Committed, Injection, LibraryChange, Origin, Outcome, Skill, SkillUse, Source,
        State, StepResult,
    },
    run::{
        Events,
        report::{Finding, FindingKind, TaskReport},
    },
};
use serde_json::json;

use super::*;

/// The parts of a host that keeps its own loop: no agent, no world, no judge.
fn own_loop() -> Components {
    let all = components();
    let mut own = Components::own_loop();
    own.store = all.store;
    own.journal = all.journal;
    own.retriever = all.retriever;
    own.scorer = all.scorer;
    own.prompt_format = all.prompt_format;
    own.model = all.model;
    own.roles = all.roles;
    own
}

/// A store that refuses commits with an error, those of one run or all, until it recovers; it counts what was tried.
#[derive(Debug)]
struct Refusing {
    inner: MemoryStore,
    run: Option<RunId>,
    error: std::sync::Mutex<Option<Error>>,
    tried: AtomicUsize,
}

impl Refusing {
    fn new(run: Option<RunId>, error: Error) -> Self {
        Self {
            inner: MemoryStore::new(),
            run,
            error: std::sync::Mutex::new(Some(error)),
            tried: AtomicUsize::new(0),
        }
    }

    fn recovers(&self) {
        *self.error.lock().expect("no panic") = None;
    }

    fn tried(&self) -> usize {
        self.tried.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl SkillStore for Refusing {
    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    async fn load(&self) -> journeyman::Result<Snapshot> {
        self.inner.load().await
    }

    async fn since(&self, revision: Revision) -> journeyman::Result<Vec<Committed>> {
        self.inner.since(revision).await
    }

    async fn commit(&self, commit: &Commit) -> journeyman::Result<Committed> {
        self.tried.fetch_add(1, Ordering::SeqCst);
        let refused = self.error.lock().expect("no panic").clone();
        let is_of_it = self.run.is_none() || commit.cause.run == self.run;
        match refused.filter(|_| is_of_it) {
            Some(error) => Err(error),
            None => self.inner.commit(commit).await,
        }
    }
}

async fn open_as(session: &str, components: &Components, recipe: Recipe) -> Journeyman {
    let options = Options::new(session, Seed(7));
    let opened = Journeyman::open(components.clone(), recipe, options).await;
    opened.expect("it opens")
}

/// What the agent did in an attempt of the host's own loop.
#[derive(Clone, Copy, Debug)]
struct Did {
    /// Whether its first action was refused.
    refused: bool,
    success: bool,
    /// Whether it followed what it was given, as the host says.
    used: SkillUse,
}

/// An attempt that was done without a refusal.
const CLEAN: Did = Did {
    refused: false,
    success: true,
    used: SkillUse::Followed,
};
/// One that was done after a refusal.
const REFUSED: Did = Did {
    refused: true,
    ..CLEAN
};
const FAILED: Did = Did {
    success: false,
    ..CLEAN
};

fn desk() -> Source {
    Source::trusted("ticket desk")
}

/// Makes an attempt in the host's own loop and gives the task's report.
async fn attempt(journeyman: &Journeyman, task: Task, did: Did) -> TaskReport {
    let mut handle = journeyman.begin(task).await.expect("it begins");
    for given in &handle.injection().skills {
        if did.used != SkillUse::Unknown {
            handle.used(&given.skill, did.used);
        }
    }
    let call = |tool| {
        Action::call(
            tool,
            json!({"document": "D-4711", "person": "Ada Lovelace"}),
        )
    };
    if did.refused {
        let why = StepResult::refused("verify the customer first", desk());
        handle.record(Step::new(call("close_ticket"), why));
    }
    let done = StepResult::new("verified", desk());
    handle.record(Step::new(call("verify_customer"), done));
    let finished = handle.finish(Outcome::from(did.success)).await;
    finished.expect("it finishes").expect("a group of one")
}

/// Tasks that are alike.
fn alike(n: usize) -> Vec<Task> {
    let task = |i| sample::task(&format!("alike-{i}"), &["one", "two"]);
    (0..n).map(task).collect()
}

fn told(mut events: Events) -> Vec<Event> {
    let mut all = Vec::new();
    while let Some(event) = events.try_next() {
        all.push(event);
    }
    all
}

fn admitted(report: &TaskReport) -> usize {
    let written = report.written.iter();
    written.filter(|one| one.admitted.is_some()).count()
}

/// Polls until the work is done or something has happened, and drops it then.
async fn until<T>(work: impl Future<Output = T>, happened: impl Fn() -> bool) -> Option<T> {
    let mut work = std::pin::pin!(work);
    poll_fn(|context| match work.as_mut().poll(context) {
        Poll::Ready(done) => Poll::Ready(Some(done)),
        Poll::Pending if happened() => Poll::Ready(None),
        Poll::Pending => Poll::Pending,
    })
    .await
}

/// A journal that keeps so many entries; what comes then is an error, or never answered.
#[derive(Debug)]
struct CutJournal {
    inner: Arc<dyn Journal>,
    left: AtomicUsize,
    hangs: bool,
    /// Whether it was cut.
    cut: AtomicBool,
}

impl CutJournal {
    fn after(entries: usize, inner: Arc<dyn Journal>, hangs: bool) -> Arc<Self> {
        Arc::new(Self {
            inner,
            left: AtomicUsize::new(entries),
            hangs,
            cut: AtomicBool::new(false),
        })
    }
}

#[async_trait]
impl Journal for CutJournal {
    async fn append(&self, entries: &[JournalEntry]) -> journeyman::Result<()> {
        let left = self.left.load(Ordering::SeqCst);
        let kept = left.min(entries.len());
        self.left.store(left - kept, Ordering::SeqCst);
        self.inner.append(&entries[..kept]).await?;
        if kept == entries.len() {
            return Ok(());
        }
        self.cut.store(true, Ordering::SeqCst);
        if self.hangs {
            futures::future::pending::<()>().await;
        }
        Err(Error::new(
            ErrorKind::Unavailable,
            "scripted",
            "the disk is full",
        ))
    }

    async fn read(&self, run: &RunId) -> journeyman::Result<Vec<JournalEntry>> {
        self.inner.read(run).await
    }

    async fn runs(&self) -> journeyman::Result<Vec<RunId>> {
        self.inner.runs().await
    }
}
