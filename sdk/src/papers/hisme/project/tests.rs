use serde_json::json;

use super::*;
use crate::{
    domain::{StepResult, ToolCall},
    id::SegmentId,
    testing::sample,
};

/// A step that makes a call.
fn call(turn: u32, tool: &str, arguments: Value, result: &str, is_error: bool) -> Step {
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let call = ToolCall {
        tool: tool.to_owned(),
        arguments,
    };
    Step {
        index: 0,
        turn,
        actor: "agent".to_owned(),
        observation: sample::observation("what now?"),
        action: Action::Call(vec![call]),
        result: StepResult {
            is_error,
            ..StepResult::new(result, sample::source(Trust::Trusted))
        },
        transcript: String::new(),
        generations: Vec::new(),
        notes: Vec::new(),
    }
}

fn attempt(task: &Task, steps: Vec<Step>) -> Trajectory {
    let numbered = (0..).zip(steps);
    let steps = numbered.map(|(index, step)| Step { index, ..step });
    Trajectory {
        steps: steps.collect(),
        ..sample::trajectory("run/0/1", task, &[], true)
    }
}

fn segments(task: &Task, steps: Vec<Step>) -> Vec<Segment> {
    project(task, &attempt(task, steps), Some(&Verdict::binary(true)))
}

#[test]
fn a_segment_for_each_turn() {
    let task = Task::new("trade", "Buy AAPL at the market price");
    let steps = vec![
        call(
            0,
            "stock_info",
            json!({"symbol": "AAPL"}),
            "price 227.16",
            false,
        ),
        call(
            0,
            "place_order",
            json!({"symbol": "AAPL", "price": 227}),
            "wrong price",
            true,
        ),
        call(
            0,
            "place_order",
            json!({"symbol": "AAPL", "price": 227.16, "kind": "Buy"}),
            "id 12446",
            false,
        ),
        call(
            1,
            "order_details",
            json!({"order_id": 12446}),
            "open",
            false,
        ),
    ];
    let found = segments(&task, steps);
    assert_eq!(found.len(), 2);
    let [first, second] = [&found[0], &found[1]];
    assert_eq!(first.id, SegmentId::new("run/0/1#0"));
    assert_eq!(second.id, SegmentId::new("run/0/1#3"));
    assert_eq!(first.fragment, "Buy AAPL at the market price");
    assert_eq!(second.fragment, "what now?");
    assert_eq!(first.errors, ["wrong price"]);
    assert_eq!(first.changes, ["price 227.16", "id 12446"]);
    assert_eq!(second.success, Some(true));
    assert_eq!(
        first.text(),
        "Buy AAPL at the market price\nstock_info symbol=AAPL\nplace_order price=227 symbol=AAPL\n\
         place_order kind=Buy price=227.16 symbol=AAPL\n=> price 227.16\n=> id 12446\n=> error: wrong price"
    );
    let words = |one: &Segment| one.ngrams().into_iter().collect::<Vec<_>>().join(", ");
    assert_eq!(
        words(second),
        "details, details order, id, now, open, order, order details, order id"
    );
}

/// Where the value of the last call's only argument is found.
fn check(steps: Vec<Step>, expect: ValueSource) {
    let task = Task::new("t", "Send 40 coins to Ann-Lee");
    let found = segments(&task, steps);
    let calls = &found.last().unwrap().calls;
    assert_eq!(calls.last().unwrap().arguments[0].source, expect);
}

#[test]
fn where_values_come_from() {
    let send = |value: Value| call(0, "send", json!({ "x": value }), "ok", false);
    let look = |turn, text: &str, is_error| call(turn, "look", json!({}), text, is_error);
    check(vec![send(json!(40))], ValueSource::Request);
    check(vec![send(json!("ann-lee"))], ValueSource::Request);
    // A part of a word is not the word, and nothing is nowhere.
    check(vec![send(json!("4"))], ValueSource::Agent);
    check(vec![send(json!(""))], ValueSource::Agent);
    let result = || ValueSource::Result {
        tool: "look".to_owned(),
    };
    check(
        vec![look(0, "code 7-X", false), send(json!("7-x"))],
        result(),
    );
    // What a refusal names is a rule of the world.
    check(
        vec![look(0, "needs tone off", true), send(json!("off"))],
        ValueSource::Agent,
    );
    // Also from an earlier turn.
    let later = Step {
        turn: 1,
        ..send(json!("abc"))
    };
    check(vec![look(0, "abc", false), later], result());
}

#[test]
fn a_users_answer_is_a_request() {
    let mut asks = call(0, "", json!({}), "the blue one", false);
    asks.action = Action::Message("Which one?".to_owned());
    let paint = call(0, "paint", json!({"colour": "blue"}), "ok", false);
    check(vec![asks, paint], ValueSource::Request);
}

#[test]
fn taint_goes_on_from_where_untrusted_words_were_read() {
    let task = Task::new("t", "do it");
    let steps = |untrusted: usize| {
        let step = |turn: usize| {
            let mut step = call(turn as u32, "a", json!({}), "ok", false);
            if turn == untrusted {
                step.result.source.trust = Trust::Untrusted;
            }
            step
        };
        (0..3).map(step).collect::<Vec<_>>()
    };
    let taints = |untrusted| -> Vec<Taint> {
        let found = segments(&task, steps(untrusted));
        found.iter().map(|segment| segment.taint).collect()
    };
    assert_eq!(taints(9), [Taint::Clean; 3]);
    assert_eq!(taints(1), [Taint::Clean, Taint::Tainted, Taint::Tainted]);
}

#[test]
fn everything_is_bounded() {
    let long = "word ".repeat(2_000);
    let task = Task::new("t", long.clone());
    let arguments: serde_json::Map<_, _> = (0..30)
        .map(|at| (format!("{at}-{long}"), json!(long)))
        .collect();
    let steps = (0..60)
        .map(|at| {
            call(
                0,
                &long,
                arguments.clone().into(),
                &format!("{at} {long}"),
                at % 2 == 0,
            )
        })
        .collect();
    let found = segments(&task, steps);
    let [segment] = found.as_slice() else {
        panic!("{} segments", found.len());
    };
    assert_eq!(segment.fragment.chars().count(), 600);
    assert_eq!(
        (segment.calls.len(), segment.calls[0].arguments.len()),
        (24, 12)
    );
    assert_eq!((segment.errors.len(), segment.changes.len()), (12, 12));
    assert!(segment.text().chars().count() < 24 * (64 + 12 * 147) + 24 * 211 + 601);
    // The same refusal again says nothing new.
    let again = vec![call(0, "a", json!({}), "no", true); 3];
    assert_eq!(segments(&task, again)[0].errors, ["no"]);
}

#[test]
fn no_steps_and_no_verdict() {
    let task = Task::new("t", "do it");
    assert_eq!(segments(&task, Vec::new()), []);
    let trajectory = attempt(&task, vec![call(0, "a", json!({}), "ok", false)]);
    let found = project(&task, &trajectory, None);
    assert_eq!(found[0].success, None);
    assert!(!found[0].is_true_instance());
    let failed = project(&task, &trajectory, Some(&Verdict::binary(false)));
    assert!(!failed[0].is_true_instance());
}

#[test]
fn a_skill_is_a_segment() {
    let mut skill = sample::skill("unseal-coffee");
    skill.trigger = Some("brewing".to_owned());
    skill.allowed_tools = vec!["unseal_coffee".to_owned()];
    skill.provenance.tasks = vec!["t1".into(), "t2".into()];
    skill.taint = Taint::Tainted;
    let segment = Segment::of_skill(&skill);
    assert_eq!(segment.id, Segment::id_of_skill(&skill.id));
    assert_eq!(
        segment.fragment,
        "unseal-coffee\nHow to do unseal-coffee.\nbrewing\nTo do unseal-coffee, say unseal-coffee."
    );
    assert_eq!(segment.tasks, skill.provenance.tasks);
    assert_eq!(segment.calls[0].tool, "unseal_coffee");
    assert_eq!((segment.success, segment.taint), (None, Taint::Tainted));
    assert!(!segment.is_true_instance());
    let json = serde_json::to_string(&segment).unwrap();
    assert_eq!(serde_json::from_str::<Segment>(&json).unwrap(), segment);
}
