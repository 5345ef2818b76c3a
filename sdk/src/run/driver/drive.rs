//! The driver's loop: it performs the effects of a run's machine concurrently and gives the answers back to the machine. It
//! spawns no tasks, so the host is free to use any async runtime.

use std::{
    cell::Cell,
    collections::{BTreeSet, VecDeque},
    future::{Future, poll_fn},
    num::NonZeroUsize,
    sync::{Arc, MutexGuard, PoisonError, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use futures::{
    FutureExt, StreamExt,
    channel::mpsc::{self, UnboundedReceiver},
    stream::FuturesUnordered,
};

use crate::{
    contract::{Journal, SkillStore},
    domain::{Commit, Committed, LibraryChange},
    error::{Error, ErrorKind, Result},
    id::{SkillId, Timestamp},
    library::SkillLibrary,
    policy::{Answer, CommitDone},
    run::{
        driver::{
            attempt::{Desk, TurnRequest},
            deciding::{Deciding, DecidingPart},
            performer::Performer,
        },
        machine::{
            effect::{Effect, EffectId, Station},
            journal::RunEntry,
            run_machine::RunMachine,
        },
        report::Event,
    },
    telemetry,
};

/// The effects that a driver performs itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// All effects.
    Everything,
    /// All effects except attempts, which the host makes in its own loop.
    AllButAttempts,
}

/// Drives a run's machine with a host's parts.
#[derive(Debug)]
pub(crate) struct Driver<'a> {
    pub(crate) performer: &'a Performer,
    pub(crate) journal: Option<&'a dyn Journal>,
    pub(crate) in_flight: NonZeroUsize,
}

impl Driver<'_> {
    /// Drives a machine until it is finished; with [`Reach::AllButAttempts`], until only attempts are left.
    ///
    /// Pending log entries are written to the journal in one call: before a commit is made, before the driver waits while the
    /// log has an [urgent](Log::is_urgent) entry, and at the end.
    ///
    /// # Errors
    /// The error of a commit or of the journal. Answers that are not yet in the journal stay in the log: a caller that keeps
    /// machine and log can call this again, and a run that is resumed from its journal asks for them again.
    pub(crate) async fn drive(
        &self,
        machine: &mut RunMachine,
        reach: Reach,
        log: &mut Log,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        let (requests, mut requested) = mpsc::unbounded();
        let mut waiting: Vec<TurnRequest> = Vec::new();
        let mut asked: BTreeSet<EffectId> = BTreeSet::new();
        let mut working = FuturesUnordered::new();
        loop {
            log.settle(machine, on_event)?;
            waiting = still_waiting(waiting, machine);
            let new = self.new_needs(machine, reach, &asked, working.len());
            if new
                .iter()
                .any(|(_, effect)| matches!(effect, Effect::Commit(_)))
            {
                log.keep(self.journal, machine).await?;
            }
            for (id, effect) in new {
                asked.insert(id.clone());
                let desk = Desk {
                    attempt: id.clone(),
                    requests: requests.clone(),
                };
                let answer = self.performer.perform_at(effect, Some(desk));
                working.push(answer.map(move |answer| (id, answer)));
            }
            let next = match next(&mut working, &mut requested).now_or_never() {
                Some(next) => next,
                None => {
                    if log.is_urgent() {
                        log.keep(self.journal, machine).await?;
                    }
                    next(&mut working, &mut requested).await
                }
            };
            match next {
                Some(Next::Answered((id, answer))) => {
                    log.answer(id.clone(), answer?);
                    asked.remove(&id);
                }
                Some(Next::Asked(request)) => {
                    let ask = Box::new(request.ask.clone());
                    log.push(RunEntry::TurnAsked { ask });
                    waiting.push(request);
                }
                None if reach == Reach::Everything || log.is_urgent() => {
                    return log.keep(self.journal, machine).await;
                }
                None => return Ok(()),
            }
        }
    }

    /// The effects to start now: those that are not yet being performed, up to the concurrency limit.
    fn new_needs(
        &self,
        machine: &RunMachine,
        reach: Reach,
        asked: &BTreeSet<EffectId>,
        working: usize,
    ) -> Vec<(EffectId, Effect)> {
        let room = Cell::new(self.in_flight.get().saturating_sub(working));
        machine.effects_among(&|id| {
            // The attempt that waits for this selection already counts towards the limit.
            if id.station == Station::Turn {
                return !asked.contains(id);
            }
            let ours = reach == Reach::Everything || id.station != Station::Attempt;
            let wanted = ours && room.get() > 0 && !asked.contains(id);
            room.set(room.get() - usize::from(wanted));
            wanted
        })
    }
}

/// Replies to the turn requests whose skills are selected, and returns the other requests.
fn still_waiting(waiting: Vec<TurnRequest>, machine: &RunMachine) -> Vec<TurnRequest> {
    let mut still = Vec::new();
    for request in waiting {
        if request.reply.is_canceled() {
            continue;
        }
        match machine.turn_skills(&request.ask) {
            // Sending fails if the attempt was dropped in the meantime, and then nothing needs the skills.
            Some(skills) => drop(request.reply.send(skills)),
            None => still.push(request),
        }
    }
    still
}

/// An event that wakes the driver.
enum Next<T> {
    /// An effect was answered.
    Answered(T),
    /// A running attempt asks for the skills of a turn.
    Asked(TurnRequest),
}

/// Waits for the next event; none if no effect is being performed.
async fn next<F: Future>(
    working: &mut FuturesUnordered<F>,
    requested: &mut UnboundedReceiver<TurnRequest>,
) -> Option<Next<F::Output>> {
    poll_fn(|context| match working.poll_next_unpin(context) {
        Poll::Ready(answered) => Poll::Ready(answered.map(Next::Answered)),
        Poll::Pending => match requested.poll_next_unpin(context) {
            Poll::Ready(Some(request)) => Poll::Ready(Some(Next::Asked(request))),
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        },
    })
    .await
}

// The queue between a run's machine and its journal. All pending entries are written to the journal in one call.

/// Entries of a run that are not yet applied to the machine, or not yet written to the journal.
///
/// An answer is applied to the machine before it is in the journal, and is written to the journal before a commit that may
/// depend on it. If the process dies in between, the resumed run asks the missing questions again, and no commit depended on
/// the lost answers. If the journal fails, the entries stay in the queue: the next call appends them again, and the journal
/// ignores those that it already has (rule *once* of [`Journal`]).
#[derive(Debug)]
pub(crate) struct Log {
    /// Number of entries in the journal.
    sequence: u64,
    /// Entries that are not yet applied to the machine.
    arrived: VecDeque<RunEntry>,
    /// Entries that are applied to the machine, and not yet in the journal.
    queue: Vec<RunEntry>,
    /// Whether the queue has an entry that is expensive to obtain again.
    is_urgent: bool,
    /// Whether there is a journal. Without one nothing is queued.
    is_kept: bool,
}

impl Log {
    /// An empty log for a run with `sequence` entries in its journal.
    pub(crate) fn new(sequence: u64, journal: Option<&dyn Journal>) -> Self {
        Self {
            sequence,
            arrived: VecDeque::new(),
            queue: Vec::new(),
            is_urgent: false,
            is_kept: journal.is_some(),
        }
    }

    /// Adds an answer. The next [`settle`](Self::settle) applies it.
    pub(crate) fn answer(&mut self, id: EffectId, answer: Answer) {
        self.arrived.push_back(RunEntry::Answered {
            id,
            question: None,
            answer: Box::new(answer),
        });
    }

    /// Adds another entry: the start of a run, a turn that asks for skills, or an event that the journal lacks.
    pub(crate) fn push(&mut self, entry: RunEntry) {
        self.arrived.push_back(entry);
    }

    /// Whether the queue has an entry that is expensive to obtain again (an attempt, a verdict, a role's answer, the result of
    /// a test case, a gain), or the start of the run, which reserves the run's id. Retrieval, scores and events are cheap.
    pub(crate) fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// Applies all added entries to the machine, and passes the resulting events to `on_event`.
    ///
    /// # Errors
    /// `Invalid` or `Corrupt` for an answer that the machine refuses.
    pub(crate) fn settle(
        &mut self,
        machine: &mut RunMachine,
        on_event: &mut (dyn FnMut(&Event) + Send),
    ) -> Result<()> {
        loop {
            let events = machine.take_events().into_iter();
            self.arrived.extend(events.map(|event| RunEntry::Happened {
                event: Box::new(event),
            }));
            let Some(entry) = self.arrived.pop_front() else {
                return Ok(());
            };
            let recorded = self.is_kept.then(|| recorded(&entry, machine));
            match entry {
                RunEntry::Answered { id, answer, .. } => machine.answer(id, *answer)?,
                RunEntry::TurnAsked { ask } => machine.ask_turn(*ask),
                RunEntry::Happened { event } => on_event(&event),
                RunEntry::Started { .. } => {}
            }
            if let Some(entry) = recorded {
                self.is_urgent |= is_urgent(&entry);
                self.queue.push(entry);
            }
        }
    }

    /// Writes all applied entries to the journal, if there is one.
    ///
    /// # Errors
    /// The journal's error.
    pub(crate) async fn keep(
        &mut self,
        journal: Option<&dyn Journal>,
        machine: &RunMachine,
    ) -> Result<()> {
        if let Some(journal) = journal.filter(|_| !self.queue.is_empty()) {
            let entries = (self.sequence..)
                .zip(&self.queue)
                .map(|(sequence, entry)| entry.to_entry(machine.run(), sequence))
                .collect::<Result<Vec<_>>>()?;
            journal.append(&entries).await?;
        }
        self.sequence += self.queue.len() as u64;
        self.queue.clear();
        self.is_urgent = false;
        Ok(())
    }
}

/// The entry as the journal keeps it: an answer with the digest of its question.
fn recorded(entry: &RunEntry, machine: &RunMachine) -> RunEntry {
    let mut entry = entry.clone();
    if let RunEntry::Answered { id, question, .. } = &mut entry {
        *question = machine.question(id);
    }
    entry
}

fn is_urgent(entry: &RunEntry) -> bool {
    match entry {
        RunEntry::Started { .. } => true,
        RunEntry::Answered { answer, .. } => matches!(
            **answer,
            Answer::Attempted(_)
                | Answer::Judged(_)
                | Answer::Played(_)
                | Answer::Tried(_)
                | Answer::Gained(_)
        ),
        RunEntry::TurnAsked { .. } | RunEntry::Happened { .. } => false,
    }
}

// Commits to the store, the performer's copy of the library, and the refresh of the retriever's index.

/// Maximum number of rebases of one commit when other writers commit first.
const REBASES: u32 = 16;

impl Performer {
    /// Makes a commit, at most once for its key, and refreshes the index. A task's commit that brings skills is not made on top
    /// of commits that its drafts were not compared with; one of maintenance, and one of a task that ends a trial in quarantine,
    /// not on top of a person's word about a skill that it decides about ([`CommitDone::overtaken`]).
    ///
    /// # Errors
    /// The store's error; `Conflict` if the key was committed before with other changes.
    pub(crate) async fn commit(&self, commit: &Commit) -> Result<CommitDone> {
        let store = self.store()?;
        let mut dated = commit.clone();
        dated.cause.at = self.components.clock.as_ref().map(|clock| clock.now());
        let committing = self.commit_compared(store.as_ref(), dated);
        let spans = telemetry::commit(&commit.changes);
        let made = self
            .bounded("SkillStore::commit", self.limits.commit, committing)
            .await;
        spans
            .iter()
            .for_each(|span| telemetry::finished(span, &made));
        drop(spans);
        let done = made?;
        if done.overtaken {
            return Ok(done);
        }
        // The store returns the existing commit for a known key. Other changes in it mean that another run has the same id.
        if done.committed.last().map(|last| &last.changes) != Some(&commit.changes) {
            return Err(Error::new(
                ErrorKind::Conflict,
                "SkillStore::commit",
                "another run of the same id has committed this step with other changes",
            )
            .with("key", &commit.key)
            .hint("give each session over one store a name of its own"));
        }
        self.refresh_index().await;
        Ok(done)
    }

    async fn commit_compared(
        &self,
        store: &dyn SkillStore,
        mut commit: Commit,
    ) -> Result<CommitDone> {
        let base = commit.base;
        let changes = || commit.changes.iter();
        let revises = changes().any(|change| matches!(change, LibraryChange::Revise(_)));
        let is_of_task = commit.cause.task.is_some();
        let compares = is_of_task && changes().any(brings_text);
        let ends_trial = changes().any(decides_by_evidence);
        // A new version is made of the one that its author saw: where another came first, it is passed over.
        let is_other = |change: &LibraryChange| match revises {
            true => takes_back(change),
            false => brings_text(change) || takes_back(change),
        };
        let mut rebased = 0;
        loop {
            match store.commit(&commit).await {
                Ok(done) => {
                    let mut committed = store.since(base).await?;
                    committed.retain(|commit| commit.revision <= done.revision);
                    return Ok(CommitDone {
                        committed,
                        rebased,
                        overtaken: false,
                    });
                }
                Err(error) if error.kind() == ErrorKind::Conflict && rebased < REBASES => {
                    let committed = store.since(base).await?;
                    let changes = committed.iter().flat_map(|one| &one.changes);
                    let overtaken = match is_of_task {
                        true => {
                            compares && changes.clone().any(is_other)
                                || ends_trial
                                    && (host_spoke(&committed, &commit)
                                        || revised(changes, &commit))
                        }
                        false => host_spoke(&committed, &commit),
                    };
                    if overtaken {
                        return Ok(CommitDone {
                            committed,
                            rebased: 0,
                            overtaken: true,
                        });
                    }
                    commit.base = committed.last().map_or(commit.base, |last| last.revision);
                    rebased += 1;
                }
                // Overtaken each time: another time it may be first.
                Err(error) if error.kind() == ErrorKind::Conflict => return Err(error.temporary()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Brings the retriever's index up to the store's revision. The index can be rebuilt from the store: a failure costs
    /// candidates, never a commit, and the next refresh continues from the last successful one.
    pub(crate) async fn refresh_index(&self) {
        let refreshing = async {
            // Needed without a retriever too: the findings are computed from the followed library.
            let library = self.library().await?;
            match &self.components.retriever {
                Some(retriever) => library.refresh(retriever.as_ref()).await,
                None => Ok(()),
            }
        };
        let refreshed = self.bounded("Performer::refresh_index", self.limits.commit, refreshing);
        if let Err(error) = refreshed.await {
            tracing::warn!(%error, "library and index could not be brought up to date");
        }
    }

    /// The library at the store's present revision: the last known library with the newer commits applied.
    ///
    /// # Errors
    /// The store's error.
    pub async fn library(&self) -> Result<SkillLibrary> {
        let mut library = self.follow().clone();
        let mut news = self.store()?.since(library.revision()).await?;
        if news.iter().any(Committed::erases) {
            library = SkillLibrary::new();
            news = self.store()?.load().await?.committed;
        }
        for committed in &news {
            library.apply(committed)?;
        }
        let mut followed = self.follow();
        if followed.revision() < library.revision() {
            *followed = library.clone();
        }
        Ok(library)
    }

    pub(crate) fn follow(&self) -> MutexGuard<'_, SkillLibrary> {
        // The library is replaced as a whole, so a poisoned lock can be used.
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn store(&self) -> Result<&Arc<dyn SkillStore>> {
        self.components.store.as_ref().ok_or_else(|| {
            Error::invalid("Performer::store", "the host gave no store").hint(
                "set `Components::store`, or let `Journeyman::open` keep the library in memory",
            )
        })
    }
}

/// Whether the host, or a person, decided about a skill that a run's commit decides about, too.
fn host_spoke(committed: &[Committed], commit: &Commit) -> bool {
    let decided = |skill: &SkillId| {
        commit.changes.iter().any(|change| match change {
            LibraryChange::Merge { sources, .. } => sources.contains(skill),
            change => change.decides_about() == Some(skill),
        })
    };
    let by_run = commit
        .cause
        .run
        .as_ref()
        .is_some_and(|run| !run.is_by_host());
    by_run
        && committed
            .iter()
            .flat_map(Committed::decided_by_host)
            .any(decided)
}

/// Whether a change brings a text that was compared with the library's.
fn brings_text(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::Add(_) | LibraryChange::Revise(_) | LibraryChange::Merge { .. }
    )
}

/// Whether a change decides about a skill by the evidence of a version.
fn decides_by_evidence(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::SetState { .. } | LibraryChange::Release { .. }
    )
}

/// Whether another commit brought a next version of a skill about whose version this one decides.
fn revised<'a>(mut changes: impl Iterator<Item = &'a LibraryChange>, commit: &Commit) -> bool {
    let decided = commit.changes.iter();
    let decided = decided.filter(|change| decides_by_evidence(change));
    let decided: Vec<&SkillId> = decided.filter_map(LibraryChange::decides_about).collect();
    changes.any(|change| match change {
        LibraryChange::Revise(skill) => decided.contains(&&skill.id),
        _ => false,
    })
}

/// Whether a change takes a skill out of use or back into it, so that drafts are decided otherwise.
fn takes_back(change: &LibraryChange) -> bool {
    matches!(
        change,
        LibraryChange::SetState { .. }
            | LibraryChange::RollBack { .. }
            | LibraryChange::Restore { .. }
            | LibraryChange::RetireRun { .. }
    )
}

// Decisions about skills, counted and within their budget of time.

impl Performer {
    /// A performer that counts what a decision costs, and gives retrieval and scoring no more than this time.
    pub(crate) fn deciding(&self, cost: &Deciding, within: Option<Duration>) -> Self {
        let now = self.components.clock.as_ref().map(|clock| clock.now());
        let until = now.zip(within).map(|(now, within)| {
            let within = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
            Timestamp(now.0.saturating_add(within))
        });
        Self {
            deciding: Some(Deciding {
                spent: Arc::clone(&cost.spent),
                until,
            }),
            ..self.clone()
        }
    }

    /// Runs a decision, and counts what it took.
    pub(crate) async fn decide<T>(&self, decision: impl Future<Output = T>) -> T {
        let before = self.milliseconds_now();
        let decided = decision.await;
        if let Some(deciding) = &self.deciding {
            let took = self.milliseconds_now().saturating_sub(before);
            deciding.spent.took.fetch_add(took, Ordering::Relaxed);
        }
        decided
    }

    /// [`bounded`](Self::bounded) for a part of a decision: within the decision's time too.
    pub(super) async fn bounded_decision<T>(
        &self,
        operation: &'static str,
        (part, limit): (DecidingPart, Duration),
        call: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(deciding) = &self.deciding else {
            return self.bounded(operation, limit, call).await;
        };
        let before = self.milliseconds_now();
        let left = deciding.until.map_or(limit, |until| {
            Duration::from_millis(until.0.saturating_sub(before)).min(limit)
        });
        let answer = self.bounded(operation, left, call).await;
        let took = self.milliseconds_now().saturating_sub(before);
        let counter = match part {
            DecidingPart::Retrieval => &deciding.spent.retrieval,
            DecidingPart::Gate => &deciding.spent.gate,
        };
        counter.fetch_add(took, Ordering::Relaxed);
        answer.map_err(|error| match left < limit {
            true => error
                .hint("the session's budget for a decision (`Options::decide_within`) was used up"),
            false => error,
        })
    }

    fn milliseconds_now(&self) -> u64 {
        let clock = self.components.clock.as_ref();
        clock.map_or(0, |clock| clock.now().0)
    }
}
