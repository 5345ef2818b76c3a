//! A program as whoever runs it holds it: its answers, and its future while it is running.

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
    Ask, Dialogue, Place,
    ask::{Answered, Board, Events, Shared, fault, lock},
};
use crate::error::{Error, ErrorKind, Result};

/// Maximum number of questions of a program, and of wakes within one poll. A program that exceeds it loops.
const MOST_QUESTIONS: usize = 100_000;

/// A program's future.
pub type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

struct Run<D: Dialogue, T> {
    board: Shared<D>,
    events: Events<D>,
    /// How many of the coming events were taken before the program was suspended.
    skip: usize,
    future: Running<T>,
}

/// A program: suspended, or under way.
///
/// It is saved as its answers, and a copy of it is suspended. [`poll`](Self::poll) starts it where it is suspended, over the
/// answers that it has.
pub struct Program<D: Dialogue, T> {
    /// The number of the first question.
    first: u32,
    /// The answers with which it is suspended. While it is under way, its board has them.
    answers: BTreeMap<Place, Answered<D::Answer>>,
    /// How many events were taken.
    told: usize,
    run: Mutex<Option<Run<D, T>>>,
}

/// What is saved of a program.
#[derive(Serialize, Deserialize)]
struct Saved<A> {
    first: u32,
    answers: BTreeMap<Place, Answered<A>>,
    told: usize,
}

fn none<R>() -> Mutex<Option<R>> {
    Mutex::new(None)
}

impl<D: Dialogue, T> fmt::Debug for Program<D, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("first", &self.first)
            .field("told", &self.told)
            .finish_non_exhaustive()
    }
}

impl<D: Dialogue, T> Clone for Program<D, T> {
    fn clone(&self) -> Self {
        Self {
            first: self.first,
            answers: self.answers(),
            told: self.told,
            run: none(),
        }
    }
}

impl<D: Dialogue, T> Serialize for Program<D, T>
where
    D::Answer: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let Self { first, told, .. } = *self;
        let answers = self.answers();
        Saved {
            first,
            answers,
            told,
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
            told: saved.told,
            run: none(),
        })
    }
}

/// Two programs are the same that have the same answers, whether they are under way or not.
impl<D: Dialogue, T> PartialEq for Program<D, T>
where
    D::Answer: PartialEq,
{
    fn eq(&self, other: &Self) -> bool {
        (self.first, self.told) == (other.first, other.told) && self.answers() == other.answers()
    }
}

impl<D: Dialogue, T> Program<D, T> {
    /// A program that asked nothing yet. Its first question in the outermost scope has the number `first`: a program that
    /// follows others counts on.
    pub fn new(first: u32) -> Self {
        Self {
            first,
            answers: BTreeMap::new(),
            told: 0,
            run: none(),
        }
    }

    /// Runs the program as far as its answers go; `start` makes its future where it is suspended.
    ///
    /// # Errors
    /// `Invalid`, with the place, where it asks something else than it did before, asks without end, or waits for something
    /// else than an answer; `Panicked` where it panics. It is of no use afterwards.
    pub fn poll(&mut self, start: impl FnOnce(Ask<D>) -> Running<T>) -> Poll<Result<T>> {
        let mut run = lock(&self.run);
        let resumed = run.is_none();
        let under_way = run.get_or_insert_with(|| self.begin(start));
        under_way.poll(resumed)
    }

    /// The open questions, in the order of the program, each as `of` gives it. A program that is suspended is started first;
    /// there are none where that fails, and [`poll`](Self::poll) says why.
    pub fn questions<R>(
        &self,
        start: impl FnOnce(Ask<D>) -> Running<T>,
        mut of: impl FnMut(&Place, &D::Question) -> Option<R>,
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

    /// Takes an answer in, to be used at the next [`poll`](Self::poll); whether the question was open, which none is while the
    /// program is suspended. An answer that came before stays.
    pub fn answer(&mut self, place: &Place, answer: D::Answer) -> bool {
        let run = lock(&self.run);
        run.as_ref()
            .is_some_and(|run| lock(&run.board).answered(place, answer))
    }

    /// SHA-256 of the open question at a place, as JSON, in hexadecimal digits; none where no question is open, and while the
    /// program is suspended.
    pub fn digest(&self, place: &Place) -> Option<String> {
        let run = lock(&self.run);
        let board = lock(&run.as_ref()?.board);
        board.open.get(place).map(|open| open.digest.clone())
    }

    /// Whether a question at a place is answered or given up, or is of a program before this one.
    pub fn is_past(&self, place: &Place) -> bool {
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

    /// The number of the next question in the outermost scope, once the program is through.
    pub fn next_number(&self) -> u32 {
        let after = |last: Option<&Place>| {
            let last = last.and_then(|place| place.path().first());
            last.map_or(self.first, |last| last.saturating_add(1))
        };
        // Places are in order of their first numbers.
        match &*lock(&self.run) {
            Some(run) => after(lock(&run.board).asked.last()),
            None => after(self.answers.keys().next_back()),
        }
    }

    /// The events since the last call, in the order of the program. Empty while the program is suspended.
    pub fn take_events(&mut self) -> Vec<D::Event> {
        let mut run = lock(&self.run);
        let Some(run) = &mut *run else {
            return Vec::new();
        };
        let mut events = lock(&run.events);
        let all = events.len();
        let new = events.drain(..).skip(run.skip).collect();
        run.skip = run.skip.saturating_sub(all);
        self.told += Vec::len(&new);
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
            skip: self.told,
        }
    }

    fn answers(&self) -> BTreeMap<Place, Answered<D::Answer>> {
        match &*lock(&self.run) {
            Some(run) => lock(&run.board).answers.clone(),
            None => self.answers.clone(),
        }
    }
}

impl<D: Dialogue, T> Run<D, T> {
    /// Polls the future until it is woken no more: a combinator of many futures hands back control in between.
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

    /// Polls the future; `resumed` where it was begun over answers.
    fn poll(&mut self, resumed: bool) -> Poll<Result<T>> {
        let polled = self.poll_future();
        let board = lock(&self.board);
        if let Some(fault) = &board.fault {
            return Poll::Ready(Err(fault.clone()));
        }
        // An answer that was not asked for: the first run asked it.
        let passed = |place: &&Place| !board.asked.contains(*place);
        if resumed && let Some(place) = board.answers.keys().find(passed) {
            let reason = "the program does not ask what it asked in its first run";
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
            .hint("a program awaits what its `Ask` gives, and nothing else"))),
            Ok(Poll::Pending) if board.asked.len() > MOST_QUESTIONS => {
                Poll::Ready(Err(Error::new(
                    ErrorKind::Invalid,
                    "Program::poll",
                    format!("the program asked more than {MOST_QUESTIONS} questions"),
                )
                .hint("bound its loop")))
            }
            Ok(Poll::Pending) => Poll::Pending,
        }
    }
}

/// Whether a future was woken.
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
