//! [`Program`], the caller's side of a program: its answers, and its future while it runs.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    Ask, Dialogue, QuestionPath,
    ask::{Answered, Board, Events, Shared, fault, lock},
};
use crate::error::{Error, ErrorKind, Result};

/// Maximum number of questions of a program, and of wakes within one poll. A program that exceeds it is taken for an
/// endless loop.
const MOST_QUESTIONS: usize = 100_000;

/// A program's future.
pub type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

struct Run<D: Dialogue, T> {
    board: Shared<D>,
    events: Events<D>,
    /// Number of the next events to drop: they were taken before the program was suspended, and the rerun emits them again.
    skip: usize,
    future: Running<T>,
}

/// A program, either suspended or running.
///
/// A program is saved as its answers. A clone or a deserialized program is suspended; [`poll`](Self::poll) then starts it
/// anew over its answers.
pub struct Program<D: Dialogue, T> {
    /// The number of the first question.
    first: u32,
    /// The answers of the suspended program. While it runs, its board has the current ones.
    answers: BTreeMap<QuestionPath, Answered<D::Answer>>,
    /// Number of events that were taken.
    events_taken: usize,
    run: Mutex<Option<Run<D, T>>>,
}

/// The serialized form of a program.
#[derive(Serialize, Deserialize)]
struct Saved<A> {
    first: u32,
    answers: BTreeMap<QuestionPath, Answered<A>>,
    #[serde(rename = "told")]
    events_taken: usize,
}

fn none<R>() -> Mutex<Option<R>> {
    Mutex::new(None)
}

impl<D: Dialogue, T> fmt::Debug for Program<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("first", &self.first)
            .field("events_taken", &self.events_taken)
            .finish_non_exhaustive()
    }
}

impl<D: Dialogue, T> Clone for Program<D, T> {
    fn clone(&self) -> Self {
        Self {
            first: self.first,
            answers: self.answers(),
            events_taken: self.events_taken,
            run: none(),
        }
    }
}

impl<D: Dialogue, T> Serialize for Program<D, T>
where
    D::Answer: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        Saved {
            first: self.first,
            answers: self.answers(),
            events_taken: self.events_taken,
        }
        .serialize(serializer)
    }
}

impl<'de, D: Dialogue, T> Deserialize<'de> for Program<D, T>
where
    D::Answer: Deserialize<'de>,
{
    fn deserialize<S: Deserializer<'de>>(deserializer: S) -> std::result::Result<Self, S::Error> {
        let saved = Saved::deserialize(deserializer)?;
        Ok(Self {
            first: saved.first,
            answers: saved.answers,
            events_taken: saved.events_taken,
            run: none(),
        })
    }
}

/// Compares the saved forms: a running program equals a suspended one with the same answers.
impl<D: Dialogue, T> PartialEq for Program<D, T>
where
    D::Answer: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        (self.first, self.events_taken) == (other.first, other.events_taken)
            && self.answers() == other.answers()
    }
}

impl<D: Dialogue, T> Program<D, T> {
    /// A program before its first question, which gets the number `first` in the outermost scope. A program that follows
    /// another one continues its numbers, so that no two of their places are equal.
    pub fn new(first: u32) -> Self {
        Self {
            first,
            answers: BTreeMap::new(),
            events_taken: 0,
            run: none(),
        }
    }

    /// Runs the program until it waits for an answer or ends. `start` creates its future if it is suspended.
    ///
    /// # Errors
    /// `Invalid` where the program asks a different question than in its first run (with the place), asks without end, or
    /// waits for something else than an answer; `Panicked` where it panics. Discard a program that failed.
    pub fn poll(&mut self, start: impl FnOnce(Ask<D>) -> Running<T>) -> Poll<Result<T>> {
        let mut run = lock(&self.run);
        let resumed = run.is_none();
        let under_way = run.get_or_insert_with(|| self.begin(start));
        under_way.poll(resumed)
    }

    /// The open questions in program order, mapped and filtered by `of`. A suspended program is started first; if that
    /// fails, the list is empty and [`poll`](Self::poll) returns the error.
    pub fn questions<R>(
        &self,
        start: impl FnOnce(Ask<D>) -> Running<T>,
        mut of: impl FnMut(&QuestionPath, &D::Question) -> Option<R>,
    ) -> Vec<R> {
        let mut run = lock(&self.run);
        if run.is_none() {
            let mut begun = self.begin(start);
            if begun.poll(true).is_pending() {
                *run = Some(begun);
            }
        }
        let Some(run) = &*run else {
            return Vec::new();
        };
        let board = lock(&run.board);
        let open = board.open.iter();
        open.filter_map(|(place, open)| of(place, &open.question))
            .collect()
    }

    /// Stores an answer for the next [`poll`](Self::poll). Returns whether the question was open; a suspended program has no
    /// open questions. A second answer to a question is ignored.
    pub fn answer(&mut self, place: &QuestionPath, answer: D::Answer) -> bool {
        let run = lock(&self.run);
        run.as_ref()
            .is_some_and(|run| lock(&run.board).answered(place, answer))
    }

    /// SHA-256 of the [`Dialogue::identity`] of the open question at a place, in hexadecimal digits; none where no question is open there, and
    /// while the program is suspended.
    pub fn digest(&self, place: &QuestionPath) -> Option<String> {
        let run = lock(&self.run);
        let board = lock(&run.as_ref()?.board);
        board.open.get(place).map(|open| open.digest.clone())
    }

    /// Whether the question at a place is answered or withdrawn, or belongs to a program before this one.
    pub fn is_past(&self, place: &QuestionPath) -> bool {
        if place
            .path()
            .first()
            .is_some_and(|first| *first < self.first)
        {
            return true;
        }
        match &*lock(&self.run) {
            Some(run) => {
                let board = lock(&run.board);
                board.asked.contains(place) && !board.open.contains_key(place)
            }
            None => self.answers.contains_key(place),
        }
    }

    /// After the program has ended: the next free number in the outermost scope.
    pub fn next_number(&self) -> u32 {
        let after = |last: Option<&QuestionPath>| {
            let last = last.and_then(|place| place.path().first());
            last.map_or(self.first, |last| last.saturating_add(1))
        };
        // Places sort by their first number, so the last place has the greatest one.
        match &*lock(&self.run) {
            Some(run) => after(lock(&run.board).asked.last()),
            None => after(self.answers.keys().next_back()),
        }
    }

    /// The events since the last call, in program order. Empty while the program is suspended.
    pub fn take_events(&mut self) -> Vec<D::Event> {
        let mut run = lock(&self.run);
        let Some(run) = &mut *run else {
            return Vec::new();
        };
        let mut events = lock(&run.events);
        let all = events.len();
        let new = events.drain(..).skip(run.skip).collect();
        run.skip = run.skip.saturating_sub(all);
        self.events_taken += Vec::len(&new);
        new
    }

    fn begin(&self, start: impl FnOnce(Ask<D>) -> Running<T>) -> Run<D, T> {
        let board = Arc::new(Mutex::new(Board {
            answers: self.answers.clone(),
            open: BTreeMap::new(),
            asked: BTreeSet::new(),
            fault: None,
        }));
        let events = Events::<D>::default();
        let ask = Ask::new(Arc::clone(&board), Arc::clone(&events), self.first);
        Run {
            future: start(ask),
            board,
            events,
            skip: self.events_taken,
        }
    }

    fn answers(&self) -> BTreeMap<QuestionPath, Answered<D::Answer>> {
        match &*lock(&self.run) {
            Some(run) => lock(&run.board).answers.clone(),
            None => self.answers.clone(),
        }
    }
}

impl<D: Dialogue, T> Run<D, T> {
    /// Polls the future until a poll neither completes nor wakes it: a combinator of many futures may yield in between.
    fn poll_future(&mut self) -> std::result::Result<Poll<T>, Box<dyn Any + Send>> {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        for _ in 0..MOST_QUESTIONS {
            let future = self.future.as_mut();
            let polled = catch_unwind(AssertUnwindSafe(|| future.poll(&mut context)));
            if !matches!(polled, Ok(Poll::Pending)) || !woken.0.swap(false, Ordering::Relaxed) {
                return polled;
            }
        }
        Ok(Poll::Pending)
    }

    /// Polls the future and checks the rules of programs; `resumed` on the first poll after a start over saved answers.
    fn poll(&mut self, resumed: bool) -> Poll<Result<T>> {
        let polled = self.poll_future();
        let board = lock(&self.board);
        if let Some(fault) = &board.fault {
            return Poll::Ready(Err(fault.clone()));
        }
        // A resumed program has to ask every question that its first run had answered.
        let passed = |place: &&QuestionPath| !board.asked.contains(*place);
        if resumed && let Some(place) = board.answers.keys().find(passed) {
            let reason = "the program does not ask a question that it asked in its first run";
            return Poll::Ready(Err(fault(place, reason)));
        }
        match polled {
            Err(panic) => Poll::Ready(Err(panicked(panic.as_ref()))),
            Ok(Poll::Ready(result)) => Poll::Ready(Ok(result)),
            Ok(Poll::Pending) if board.open.is_empty() => Poll::Ready(Err(Error::new(
                ErrorKind::Invalid,
                "Program::poll",
                "the program waits for something else than an answer",
            )
            .hint("a program may await only the futures of its `Ask`"))),
            Ok(Poll::Pending) if board.asked.len() > MOST_QUESTIONS => {
                Poll::Ready(Err(Error::new(
                    ErrorKind::Invalid,
                    "Program::poll",
                    format!("the program asked more than {MOST_QUESTIONS} questions"),
                )
                .hint("limit the number of iterations of its loops")))
            }
            Ok(Poll::Pending) => Poll::Pending,
        }
    }
}

/// A waker that records whether it was called.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn panicked(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("without a message");
    Error::new(
        ErrorKind::Panicked,
        "Program::poll",
        format!("the program panicked: {text}"),
    )
}
