//! [`Program`] and [`Ask`], the two sides of a program: the caller's, with its answers, and the handle through which it asks.
//! [`QuestionPath`] is the identity of a question.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use futures::future::join_all;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    error::{Error, ErrorKind, Result},
    id::sha256_hex,
};

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

/// The types of the questions, answers and events of one kind of program.
pub trait Dialogue: Send + Sync + 'static {
    /// A question. Its [`identity`](Self::identity) is hashed, so that a resumed program that asks something else is detected.
    type Question: Serialize + Send;
    /// An answer. It has to hold failures too: a program cannot receive an error in another way.
    type Answer: Clone + Send;
    /// An event that a program emits.
    type Event: Send;

    /// The bytes that are hashed to compare a question with the one of the first run: its JSON, unless a shorter form
    /// identifies it too.
    ///
    /// # Errors
    /// For a question that cannot be written as JSON.
    fn identity(question: &Self::Question) -> serde_json::Result<Vec<u8>> {
        serde_json::to_vec(question)
    }
}

/// An answer, with the digest of its question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Answered<A> {
    /// SHA-256 of the question's [`Dialogue::identity`].
    pub(super) to: String,
    pub(super) answer: A,
}

/// A question without an answer.
pub(super) struct Open<Q> {
    pub(super) digest: String,
    pub(super) question: Q,
    waker: Waker,
}

/// The state that a running program shares with its [`Program`](super::Program).
pub(super) struct Board<D: Dialogue> {
    pub(super) answers: BTreeMap<QuestionPath, Answered<D::Answer>>,
    pub(super) open: BTreeMap<QuestionPath, Open<D::Question>>,
    /// The places of all questions so far.
    pub(super) asked: BTreeSet<QuestionPath>,
    /// Set when a question cannot be written as JSON, or differs from the one asked at its place in the first run.
    pub(super) fault: Option<Error>,
}

impl<D: Dialogue> Board<D> {
    pub(super) fn answered(&mut self, place: &QuestionPath, answer: D::Answer) -> bool {
        let Some(open) = self.open.remove(place) else {
            return false;
        };
        let to = open.digest;
        self.answers.insert(place.clone(), Answered { to, answer });
        open.waker.wake();
        true
    }
}

pub(super) type Shared<D> = Arc<Mutex<Board<D>>>;
pub(super) type Events<D> = Arc<Mutex<Vec<<D as Dialogue>::Event>>>;

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // The guarded state is consistent between any two statements, so a poisoned lock can be used.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The handle through which a program asks questions and emits events.
///
/// ```
/// use std::task::Poll;
/// use journeyman::policy::program::{Ask, Dialogue, Program};
///
/// struct Sums;
/// impl Dialogue for Sums {
///     type Question = (u32, u32);
///     type Answer = u32;
///     type Event = String;
/// }
///
/// async fn total(mut ask: Ask<Sums>) -> u32 {
///     let rows = ask.each([1, 2], async |mut ask, row| ask.one((row, row)).await).await;
///     ask.tell("the rows are summed".to_owned());
///     ask.one((rows[0], rows[1])).await
/// }
///
/// let mut program = Program::<Sums, u32>::new(0);
/// let total = loop {
///     match program.poll(|ask| Box::pin(total(ask))) {
///         Poll::Ready(total) => break total?,
///         Poll::Pending => {}
///     }
///     let open = program.questions(|ask| Box::pin(total(ask)), |place, sum| Some((place.clone(), *sum)));
///     for (place, (left, right)) in open {
///         program.answer(&place, left + right);
///     }
/// };
/// assert_eq!(total, 6);
/// assert_eq!(program.take_events(), ["the rows are summed"]);
/// # Ok::<(), journeyman::Error>(())
/// ```
pub struct Ask<D: Dialogue> {
    board: Shared<D>,
    events: Events<D>,
    scope: QuestionPath,
    next: u32,
}

impl<D: Dialogue> fmt::Debug for Ask<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("scope", &self.scope)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl<D: Dialogue> Ask<D> {
    pub(super) fn new(board: Shared<D>, events: Events<D>, first: u32) -> Self {
        Self {
            board,
            events,
            scope: QuestionPath::default(),
            next: first,
        }
    }

    /// Asks one question and waits for its answer.
    pub async fn one(&mut self, question: D::Question) -> D::Answer {
        self.asking(question).await
    }

    /// Asks all questions at once and waits for all answers, in the order of the questions. The iterator has to be finite.
    pub async fn all(
        &mut self,
        questions: impl IntoIterator<Item = D::Question>,
    ) -> Vec<D::Answer> {
        let questions = questions.into_iter();
        let asking: Vec<_> = questions.map(|question| self.asking(question)).collect();
        join_all(asking).await
    }

    /// Runs `run` for each item, each in a scope of its own, so that the questions of all items are open at once. Returns the
    /// results in the order of the items. The items' events are emitted in the same order, after the last item is finished.
    pub async fn each<T, R, F: Future<Output = R>>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        run: impl Fn(Self, T) -> F,
    ) -> Vec<R> {
        let place = self.place();
        let mut events_of_items = Vec::new();
        let mut running = Vec::new();
        for (number, item) in (0..).zip(items) {
            let events = Events::<D>::default();
            events_of_items.push(Arc::clone(&events));
            let scope = Self {
                board: Arc::clone(&self.board),
                events,
                scope: place.within(number),
                next: 0,
            };
            running.push(run(scope, item));
        }
        let results = join_all(running).await;
        for events in events_of_items {
            lock(&self.events).append(&mut lock(&events));
        }
        results
    }

    /// A handle for the next `count` questions of this scope, so that they can be asked beside those of this handle, whose numbers
    /// follow them.
    pub(crate) fn reserved(&mut self, count: usize) -> Self {
        let next = self.next;
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        self.next = next.saturating_add(count);
        Self {
            board: Arc::clone(&self.board),
            events: Arc::clone(&self.events),
            scope: self.scope.clone(),
            next,
        }
    }

    /// Emits an event.
    pub fn tell(&mut self, event: D::Event) {
        lock(&self.events).push(event);
    }

    fn place(&mut self) -> QuestionPath {
        let place = self.scope.within(self.next);
        self.next = self.next.saturating_add(1);
        place
    }

    fn asking(&mut self, question: D::Question) -> Asking<D> {
        let place = self.place();
        let digest = D::identity(&question).map(sha256_hex);
        let mut board = lock(&self.board);
        board.asked.insert(place.clone());
        let fault = match (&digest, board.answers.get(&place)) {
            (Err(error), _) => Some(
                Error::invalid(
                    "Program::poll",
                    format!("the program's question cannot be written as JSON: {error}"),
                )
                .with("place", &place),
            ),
            (Ok(now), Some(known)) if *now != known.to => Some(fault(
                &place,
                "the program asks something else than in its first run",
            )),
            _ => None,
        };
        if let Some(fault) = fault {
            board.fault.get_or_insert(fault);
        }
        drop(board);
        Asking {
            board: Arc::clone(&self.board),
            place,
            question: digest.ok().map(|digest| (digest, question)),
        }
    }
}

pub(super) fn fault(place: &QuestionPath, reason: &str) -> Error {
    Error::new(ErrorKind::Invalid, "Program::poll", reason)
        .with("place", place)
        .hint("a resumed program is run again over its saved answers: it may depend only on them and on its inputs")
}

/// The future of one question's answer.
struct Asking<D: Dialogue> {
    board: Shared<D>,
    place: QuestionPath,
    question: Option<(String, D::Question)>,
}

// No field is structurally pinned.
impl<D: Dialogue> Unpin for Asking<D> {}

impl<D: Dialogue> Future for Asking<D> {
    type Output = D::Answer;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<D::Answer> {
        let this = &mut *self;
        let mut board = lock(&this.board);
        if board.fault.is_some() {
            return Poll::Pending;
        }
        if let Some(known) = board.answers.get(&this.place) {
            return Poll::Ready(known.answer.clone());
        }
        if let Some((digest, question)) = this.question.take() {
            let waker = context.waker().clone();
            let open = Open {
                digest,
                question,
                waker,
            };
            board.open.insert(this.place.clone(), open);
        } else if let Some(open) = board.open.get_mut(&this.place) {
            open.waker.clone_from(context.waker());
        }
        Poll::Pending
    }
}

impl<D: Dialogue> Drop for Asking<D> {
    /// Withdraws the question: nothing waits for its answer.
    fn drop(&mut self) {
        lock(&self.board).open.remove(&self.place);
    }
}

/// The place of a question in a program: the counters of its scopes, the outermost first. Places sort in program order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct QuestionPath(Vec<u32>);

impl QuestionPath {
    /// The place of a question in the outermost scope.
    pub fn at(number: u32) -> Self {
        Self(vec![number])
    }

    /// The place with this number in the scope that this place opens.
    #[must_use]
    pub fn within(&self, number: u32) -> Self {
        let mut path = self.0.clone();
        path.push(number);
        Self(path)
    }

    /// The place `inner`, which is relative to this place's scope, as seen from the outermost scope.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        Self([self.path(), inner.path()].concat())
    }

    /// This place relative to `scope`; none where it is not inside `scope`. The inverse of [`join`](Self::join).
    pub fn behind(&self, scope: &Self) -> Option<Self> {
        let inner = self.0.strip_prefix(scope.path())?;
        (!inner.is_empty()).then(|| Self(inner.to_vec()))
    }

    /// The next place in the same scope.
    #[must_use]
    pub fn next(&self) -> Self {
        let mut path = self.0.clone();
        if let Some(last) = path.last_mut() {
            *last = last.saturating_add(1);
        }
        Self(path)
    }

    /// The number in the outermost scope.
    pub fn number(&self) -> u32 {
        self.0.first().copied().unwrap_or_default()
    }

    /// The counters, the outermost first.
    pub fn path(&self) -> &[u32] {
        &self.0
    }
}

/// The counters with dots between them, such as `3` or `3.0.1`.
impl fmt::Display for QuestionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, number) in self.0.iter().enumerate() {
            let dot = if depth > 0 { "." } else { "" };
            write!(f, "{dot}{number}")?;
        }
        Ok(())
    }
}

impl From<QuestionPath> for String {
    fn from(place: QuestionPath) -> Self {
        place.to_string()
    }
}

/// # Errors
/// `Invalid` for a text that is not a list of numbers with dots between them.
impl TryFrom<String> for QuestionPath {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let numbers = text.split('.').map(str::parse);
        let path = numbers.collect::<std::result::Result<_, _>>();
        path.map(Self).map_err(|_| {
            Error::invalid(
                "QuestionPath::try_from",
                "a place is numbers with dots between them, such as 3.0.1",
            )
            .with("place", text)
        })
    }
}
