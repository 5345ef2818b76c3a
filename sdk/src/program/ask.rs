//! [`Ask`], the handle through which a program asks questions and emits events.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures::future::join_all;
use serde::{Deserialize, Serialize};

use super::QuestionPath;
use crate::{
    error::{Error, ErrorKind},
    id::sha256_hex,
};

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
/// use journeyman::program::{Ask, Dialogue, Program};
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
