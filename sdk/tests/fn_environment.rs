//! An environment from tools and a function: the conformance suite, what it refuses, and a function that panics.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Error, ErrorKind, Seed,
    agent::{EnvironmentJudge, FnEnvironment, Reply},
    contract::{Components, Environment, EnvironmentCapabilities},
    domain::{
        Action, EndReason, ObservationKind, Outcome, Source, Task, ToolCall, ToolDefinition,
        Transition, Trust,
    },
    recipe,
    run::{Journeyman, Options},
    testing::{
        Play, ScriptedExecutor,
        conformance::{self, environment::EnvironmentFixture},
    },
};
use serde_json::{Value, json};

fn tool(name: &str, argument: &str) -> ToolDefinition {
    let schema = json!({"type": "object", "properties": {argument: {"type": "integer"}}, "required": [argument]});
    ToolDefinition::new(name, name, schema)
}

fn room_tools() -> [ToolDefinition; 2] {
    [
        ToolDefinition::new("weigh", "Weighs the parcel.", json!({})),
        tool("stamp", "cents"),
    ]
}

/// A parcel: its weight from the seed, and whether it was weighed.
#[derive(Debug)]
struct Parcel {
    grams: u64,
    is_weighed: bool,
}

/// A parcel is weighed, then given the one right stamp.
fn parcel_room() -> FnEnvironment<Parcel> {
    let room = FnEnvironment::from_task(
        Source::trusted("parcel room"),
        room_tools(),
        |task, seed| match task.payload.get("to") {
            Some(_) => Ok(Parcel {
                grams: 100 * (1 + seed.derive("grams", 0).0 % 19),
                is_weighed: false,
            }),
            None => Err(Error::invalid("parcel room", "the payload has no `to`")),
        },
        |parcel: &mut Parcel, call| match (call.tool.as_str(), parcel.is_weighed) {
            ("weigh", _) => {
                parcel.is_weighed = true;
                Reply::next(format!("It weighs {} g.", parcel.grams))
            }
            (_, false) => Reply::refused("Weigh the parcel first."),
            (_, true) => {
                let is_right = call.arguments["cents"] == parcel.grams / 2;
                Reply::end("The parcel is on its way.", is_right)
            }
        },
    );
    room.unwrap()
}

fn task() -> Task {
    Task::new("parcel-1", "Send the parcel.").with_payload(json!({"to": "Bern"}))
}

fn weigh() -> Action {
    Action::call("weigh", json!({}))
}

fn stamp(cents: u64) -> Action {
    Action::call("stamp", json!({ "cents": cents }))
}

/// The transitions of an episode.
fn played<S: Send + 'static>(world: &FnEnvironment<S>, actions: &[Action]) -> Vec<Transition> {
    block_on(async {
        let mut episode = world.reset(&task(), Seed(7)).await.unwrap();
        let mut transitions = Vec::new();
        for action in actions {
            transitions.push(episode.step(action).await.unwrap());
            let last = transitions.last().map(|last| &last.observation);
            assert_eq!(Some(episode.observation()), last);
        }
        episode.close().await.unwrap();
        transitions
    })
}

#[test]
fn it_keeps_every_rule_of_the_contract() {
    let fixture = EnvironmentFixture::new(task(), Seed(7), vec![stamp(1), weigh(), stamp(50)])
        .with_other((task(), Seed(8), vec![weigh(), weigh(), Action::EndTurn]))
        .with_refused(stamp(1))
        .with_unknown(Task::new("parcel-2", "Send it."));
    let report = block_on(conformance::environment::check(&parcel_room(), &fixture));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn the_first_observation_is_the_instruction_with_the_tools() {
    block_on(async {
        let world = parcel_room();
        assert_eq!(
            world.capabilities(),
            EnvironmentCapabilities::deterministic()
        );
        let episode = world.reset(&task(), Seed(7)).await.unwrap();
        let seen = episode.observation();
        assert_eq!(seen.text, "Send the parcel.");
        assert_eq!(seen.source.trust, Trust::Trusted);
        assert_eq!(seen.tools, room_tools());
    });
}

/// A transition's refusal, whose action does not reach the function.
fn refused(actions: &[Action], expect: &str) {
    let world = FnEnvironment::new(
        Source::trusted("room"),
        room_tools(),
        |_: &mut (), call: &ToolCall| -> Reply { panic!("{call:?}") },
    );
    let transition = played(&world.unwrap(), actions).remove(0);
    assert!(transition.is_error && transition.outcome.is_none());
    assert_eq!(transition.observation.text, expect);
}

#[test]
fn what_no_tool_and_no_schema_allows_is_refused_with_the_reason() {
    refused(
        &[Action::call("burn", json!({}))],
        "There is no tool of this name. The tools are `stamp`, `weigh`.",
    );
    refused(
        &[Action::call("stamp", json!({}))],
        "The arguments of `stamp` do not obey its schema: the whole: \"cents\" is a required property.",
    );
    refused(
        &[Action::call("stamp", json!({"cents": "secret"}))],
        "The arguments of `stamp` do not obey its schema: at /cents: it is not of type \"integer\".",
    );
    refused(&[Action::Call(Vec::new())], "No tool was called.");
    let names = (0..30).map(|n| ToolDefinition::new(format!("t{n:02}"), "", Value::Null));
    let world = FnEnvironment::new(Source::default(), names, |_: &mut (), _| "made");
    let said = played(&world.unwrap(), &[Action::call("x", json!({}))]).remove(0);
    let said = said.observation.text;
    assert!(said.ends_with("`t19` and 10 more."), "{said}");
}

#[test]
fn several_calls_are_made_up_to_the_first_that_is_refused_or_ends() {
    let call = |tool: &str| ToolCall::new(tool, json!({"cents": 1}));
    let all = |tools: &[&str]| Action::Call(tools.iter().map(|tool| call(tool)).collect());
    let one = |tools: &[&str]| played(&parcel_room(), &[all(tools)]).remove(0);

    let both = one(&["weigh", "weigh"]);
    assert!(!both.is_error && both.outcome.is_none());
    assert_eq!(both.observation.text.lines().count(), 2);

    let first = one(&["stamp", "weigh"]);
    assert!(first.is_error);
    assert_eq!(
        first.observation.text,
        "Weigh the parcel first.\nThe calls after this one were not made."
    );

    let last = one(&["weigh", "stamp", "stamp"]);
    assert_eq!(last.outcome, Some(Outcome::failure()));
    assert!(
        last.observation
            .text
            .ends_with("\nThe parcel is on its way.")
    );
}

#[test]
fn a_turn_that_ends_has_failed_unless_the_host_says_otherwise() {
    let said = Action::Message("Done.".to_owned());
    for action in [&said, &Action::EndTurn] {
        let last = played(&parcel_room(), std::slice::from_ref(action)).remove(0);
        assert_eq!(last.outcome, Some(Outcome::failure()));
        assert!(!last.is_error);
    }
    let asking = || {
        parcel_room().at_end_of_turn(|parcel, said| match (said, parcel.is_weighed) {
            ("", is_weighed) => Reply::end("It is evening.", Outcome::scored(is_weighed, 0.5)),
            (_, true) => Reply::done("Thank you."),
            (_, false) => Reply::next("And what does it weigh?"),
        })
    };
    let went = played(&asking(), &[said.clone(), weigh(), said]);
    assert_eq!(went[0].observation.text, "And what does it weigh?");
    assert_eq!(went[0].outcome, None);
    let kinds: Vec<ObservationKind> = went.iter().map(|one| one.observation.kind).collect();
    let of_result = ObservationKind::Result;
    assert_eq!(kinds, [ObservationKind::User, of_result, of_result]);
    assert_eq!(went[2].outcome, Some(Outcome::success()));
    let went = played(&asking(), &[Action::EndTurn]);
    assert_eq!(went[0].outcome, Some(Outcome::scored(false, 0.5)));
}

#[test]
fn tools_that_cannot_be_used_are_an_error_of_the_constructor() {
    let tried = |tools: Vec<ToolDefinition>, why: &str| {
        let world = FnEnvironment::new(Source::default(), tools, |_: &mut (), _| "made");
        let error = world.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(why), "{error}");
        assert!(error.hint_text().is_some(), "{error}");
    };
    tried(Vec::new(), "there is no tool");
    tried(
        vec![tool("stamp", "a"), tool("stamp", "b")],
        "two tools are named `stamp`",
    );
    tried(vec![tool(" ", "a")], "a tool has no name");
    for no_schema in [
        json!({"type": "array", "items": {"type": "integer"}}),
        json!({"type": ["array", "null"]}),
        json!({"type": "objekt"}),
        json!({"type": "number"}),
        json!({"type": "object", "required": "cents"}),
        json!("cents"),
    ] {
        let tools = vec![ToolDefinition::new("stamp", "", no_schema)];
        tried(tools, "the schema of tool `stamp`");
    }
}

#[test]
fn a_host_can_promise_less() {
    let world = parcel_room().with_capabilities(EnvironmentCapabilities::default());
    assert!(!world.capabilities().resettable);
    assert!(format!("{world:?}").contains("stamp"));
}

#[test]
fn the_error_of_a_result_is_a_refusal() {
    let world = FnEnvironment::new(Source::default(), room_tools(), |_: &mut (), call| {
        match call.tool == "weigh" {
            true => Ok("It weighs 100 g."),
            false => Err(Error::invalid("stamp", "there are no stamps")
                .with("drawer", "secret")
                .hint("weigh it first")),
        }
    });
    let went = played(&world.unwrap(), &[weigh(), stamp(1)]);
    assert!(!went[0].is_error && went[1].is_error);
    assert_eq!(
        went[1].observation.text,
        "there are no stamps; weigh it first"
    );
    let tried: Result<Reply, String> = Err("It is locked.".to_owned());
    assert_eq!(Reply::from(tried), Reply::refused("It is locked."));
}

/// A panic costs its attempt, says whose it was, and the next task goes on.
#[test]
fn a_function_that_panics_ends_its_attempt_alone() {
    let world = FnEnvironment::from_task(
        Source::trusted("room"),
        room_tools(),
        |task, _| Ok(task.id.as_str() == "bad"),
        |is_bad: &mut bool, _| {
            assert!(!*is_bad, "the scales are broken");
            Reply::done("It is done.")
        },
    );
    let agent = ScriptedExecutor::acting(|_, _| Play::Give(Some(weigh())));
    let components = Components::new(
        Arc::new(agent),
        Arc::new(world.unwrap()),
        Arc::new(EnvironmentJudge),
    );
    block_on(async {
        let options = Options::new("room", Seed(7));
        let session = Journeyman::open(components, recipe::standard(), options);
        let session = session.await.unwrap();
        let tasks = ["bad", "good"].map(|id| Task::new(id, "Weigh the parcel."));
        let report = session.evaluate(tasks.into()).await.unwrap();
        let [bad, good] = report.tasks.as_slice() else {
            panic!("{report:?}");
        };
        assert_eq!(good.attempts[0].success, Some(true));
        assert_eq!(bad.attempts[0].success, None);
        let told = bad.attempts[0].error.clone();
        let error = told.or_else(|| match &bad.attempts[0].end {
            Some(EndReason::Failed(error)) => Some(error.clone()),
            _ => None,
        });
        let error = error.unwrap();
        assert_eq!(error.kind(), ErrorKind::Panicked);
        assert!(error.message().contains("the scales are broken"), "{error}");
    });
}
