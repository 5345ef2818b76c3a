//! Tests of programs: many orders of answers, saving at every question, and programs that break the rules.

use std::task::Poll;

use super::{Ask, Dialogue, Program, QuestionPath, Running};
use crate::error::ErrorKind;

#[derive(Debug)]
struct Numbers;

impl Dialogue for Numbers {
    type Question = u32;
    type Answer = u32;
    type Event = String;
}

type Numbered = Program<Numbers, Vec<u32>>;
type Start = fn(Ask<Numbers>) -> Running<Vec<u32>>;

/// A program with nested scopes, some of them without a question, and with events in every scope.
async fn nested(mut ask: Ask<Numbers>) -> Vec<u32> {
    let mut all = vec![ask.one(1).await];
    ask.tell("begun".to_owned());
    let rows = ask.each(0..4, async |mut ask, row| {
        ask.tell(format!("row {row}"));
        let first = ask.one(10 * row).await;
        let more = if row % 2 == 0 {
            ask.all([first, first + 1]).await
        } else {
            Vec::new()
        };
        let inner = ask
            .each([1, 2], async |mut ask, n| ask.one(first + n).await)
            .await;
        ask.tell(format!("row {row} is through"));
        first + more.iter().sum::<u32>() + inner.iter().sum::<u32>()
    });
    all.extend(rows.await);
    all.push(ask.one(all.iter().sum()).await);
    ask.tell("through".to_owned());
    all
}

fn start(ask: Ask<Numbers>) -> Running<Vec<u32>> {
    Box::pin(nested(ask))
}

/// A program that asks its first two questions beside its third.
async fn beside(mut ask: Ask<Numbers>) -> Vec<u32> {
    let mut first = ask.reserved(2);
    let (mut all, third) = futures::future::join(first.all([1, 2]), ask.one(3)).await;
    all.push(third);
    all
}

fn open(program: &Numbered, start: Start) -> Vec<(QuestionPath, u32)> {
    program.questions(start, |place, asked| Some((place.clone(), *asked)))
}

/// Runs a program to its end and answers each question with the question plus 1. `pick` chooses the index of the next open
/// question to answer; `pass` replaces the program before each answer, for example by a saved and reloaded copy.
fn run(
    start: Start,
    mut pick: impl FnMut(usize) -> usize,
    pass: impl Fn(Numbered) -> Numbered,
) -> (Vec<u32>, Vec<String>, Vec<QuestionPath>) {
    let mut program = Numbered::new(0);
    let (mut events, mut places) = (Vec::new(), Vec::new());
    loop {
        let polled = program.poll(start);
        events.extend(program.take_events());
        if let Poll::Ready(result) = polled {
            return (result.expect("it is a program"), events, places);
        }
        program = pass(program);
        let open = open(&program, start);
        let (place, asked) = &open[pick(open.len())];
        assert!(program.answer(place, asked + 1));
        assert!(!program.answer(place, 99), "the first answer stays");
        assert!(program.is_past(place));
        places.push(place.clone());
    }
}

#[test]
fn questions_with_reserved_numbers_are_open_beside_the_later_ones() {
    let start: Start = |ask| Box::pin(beside(ask));
    let mut program = Numbered::new(0);
    assert!(program.poll(start).is_pending());
    let places = open(&program, start).into_iter();
    let places: Vec<_> = places
        .map(|(place, asked)| (place.to_string(), asked))
        .collect();
    let expect = [(0, 1), (1, 2), (2, 3)].map(|(place, asked)| (place.to_string(), asked));
    assert_eq!(places, expect);
    let (result, ..) = run(start, |open| open - 1, |program| program);
    assert_eq!(result, [2, 3, 4]);
}

#[test]
fn the_order_of_answers_changes_nothing() {
    let (result, events, mut places) = run(start, |_| 0, |program| program);
    places.sort();
    assert!(
        events.len() == 10 && places.len() == 18,
        "{events:?} {places:?}"
    );
    for seed in 0..50_u64 {
        let mut state = seed;
        let pick = |count: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).unwrap_or_default() % count
        };
        let (other, other_events, mut asked) = run(start, pick, |program| program);
        asked.sort();
        assert_eq!(
            (&other, &other_events, &asked),
            (&result, &events, &places),
            "{seed}"
        );
    }
}

#[test]
fn a_program_that_is_saved_at_every_question_ends_the_same() {
    let (result, events, _) = run(start, |_| 0, |program| program);
    let saved = |program: Numbered| {
        let json = serde_json::to_string(&program).expect("it is saved");
        let again: Numbered = serde_json::from_str(&json).expect("it is read");
        assert_eq!(again, program);
        again
    };
    for pick in [|_| 0, |count: usize| count - 1] {
        let (other, other_events, _) = run(start, pick, saved);
        assert_eq!((&other, &other_events), (&result, &events));
        let (other, other_events, _) = run(start, pick, |program| program.clone());
        assert_eq!((other, other_events), (result.clone(), events.clone()));
    }
}

#[test]
fn questions_count_on_from_the_first_number() {
    let start: Start = |mut ask| Box::pin(async move { ask.all([7, 8]).await });
    let mut program = Numbered::new(5);
    assert!(program.poll(start).is_pending());
    let places: Vec<String> = open(&program, start)
        .iter()
        .map(|(place, _)| place.to_string())
        .collect();
    assert_eq!(places, ["5", "6"]);
    program.answer(&QuestionPath::at(6), 0);
    program.answer(&QuestionPath::at(5), 0);
    assert!(program.poll(start).is_ready());
    assert_eq!(program.next_number(), 7);
}

/// Resumes a program as `again` after its first question was answered, and checks the error text; `None` expects no error.
fn check_again(again: Start, expect: Option<&str>) {
    let first: Start = |mut ask| {
        Box::pin(async move {
            let one = ask.one(1).await;
            vec![one, ask.one(2).await]
        })
    };
    let mut program = Numbered::new(0);
    assert!(program.poll(first).is_pending());
    assert!(program.answer(&QuestionPath::at(0), 1));
    let mut program = program.clone();
    match (program.poll(again), expect) {
        (Poll::Pending, None) => {}
        (Poll::Ready(Err(error)), Some(expect)) => {
            let text = error.to_string();
            assert!(text.contains(expect), "{text}");
            assert!(
                error.hint_text().is_some() || error.kind() == ErrorKind::Panicked,
                "{text}"
            );
        }
        (polled, _) => panic!("{polled:?}"),
    }
}

#[test]
fn a_program_that_asks_something_else_on_the_second_run_is_found_out() {
    check_again(
        |mut ask| Box::pin(async move { vec![ask.one(1).await, ask.one(3).await] }),
        None,
    );
    let other: Start = |mut ask| Box::pin(async move { vec![ask.one(2).await] });
    check_again(other, Some("asks something else than in its first run"));
    let elsewhere: Start =
        |mut ask| Box::pin(async move { ask.each([1], async |mut ask, n| ask.one(n).await).await });
    check_again(
        elsewhere,
        Some("does not ask a question that it asked in its first run"),
    );
    check_again(
        |_| Box::pin(async { Vec::new() }),
        Some("does not ask a question that it asked"),
    );
    check_again(
        |_| Box::pin(std::future::pending()),
        Some("does not ask a question that it asked"),
    );
}

#[test]
fn a_program_that_breaks_the_rules_fails_with_its_reason() {
    let fails = |start: Start| {
        let mut program = Numbered::new(0);
        match program.poll(start) {
            Poll::Ready(Err(error)) => (error.kind(), error.to_string()),
            polled => panic!("{polled:?}"),
        }
    };
    let (kind, text) = fails(|_| Box::pin(std::future::pending()));
    assert_eq!(kind, ErrorKind::Invalid);
    assert!(
        text.contains("waits for something else than an answer"),
        "{text}"
    );
    let (kind, text) = fails(|_| Box::pin(async { panic!("out of ideas") }));
    assert_eq!(kind, ErrorKind::Panicked);
    assert!(text.contains("out of ideas"), "{text}");
    let endless: Start = |mut ask| Box::pin(async move { ask.all(0..100_001).await });
    let (kind, text) = fails(endless);
    assert_eq!(kind, ErrorKind::Invalid);
    assert!(text.contains("more than 100000 questions"), "{text}");
}

/// Many scopes with many questions each: more than any combinator polls at once.
fn wide(mut ask: Ask<Numbers>) -> Running<Vec<u32>> {
    Box::pin(async move {
        ask.each(0..40, async |mut ask, row| {
            ask.all((0..40).map(|n| 40 * row + n)).await.iter().sum()
        })
        .await
    })
}

#[test]
fn all_questions_of_many_scopes_are_open_at_once_and_again_when_it_is_resumed() {
    let mut program = Numbered::new(0);
    assert!(program.poll(wide).is_pending());
    let all = open(&program, wide);
    assert_eq!(all.len(), 1_600);
    for (place, asked) in all.iter().rev().take(800) {
        assert!(program.answer(place, *asked));
    }
    let mut program = program.clone();
    assert!(program.poll(wide).is_pending(), "it goes on");
    assert_eq!(open(&program, wide).len(), 800);
    for (place, asked) in &all[..800] {
        assert!(program.answer(place, *asked));
    }
    let Poll::Ready(Ok(rows)) = program.poll(wide) else {
        panic!("it is through");
    };
    assert_eq!(rows.iter().sum::<u32>(), (0..1_600).sum::<u32>());
    assert_eq!(program.next_number(), 1);
}

#[test]
fn a_question_that_is_given_up_is_past() {
    let start: Start = |mut ask| {
        Box::pin(async move {
            let first = Box::pin(ask.all([1, 2]));
            let _ = futures::poll!(first);
            vec![ask.one(3).await]
        })
    };
    let mut program = Numbered::new(0);
    assert!(program.poll(start).is_pending());
    assert_eq!(open(&program, start), [(QuestionPath::at(2), 3)]);
    assert!(program.is_past(&QuestionPath::at(0)) && !program.is_past(&QuestionPath::at(2)));
    assert!(
        !program.answer(&QuestionPath::at(0), 9),
        "nobody waits for it"
    );
    assert_eq!(program.next_number(), 3);
}
