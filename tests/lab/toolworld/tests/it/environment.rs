//! Toolworld as the SDK's environment.

use futures::executor::block_on;
use journeyman::contract::{Environment, Episode};
use journeyman::domain::{Action, Task, Transition, Trust};
use journeyman::{ErrorKind, Seed};
use journeyman_toolworld::environment::Toolworld;
use journeyman_toolworld::simulate::parse;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use serde_json::{Map, Value, json};

fn hidden_task() -> StreamTask {
    let universe = Universe::make(UniverseSpec::default(), 1).unwrap();
    universe
        .stream(24)
        .into_iter()
        .find(|task| task.world.is_hidden())
        .unwrap()
}

fn begin(task: &Task) -> Box<dyn Episode> {
    block_on(Toolworld::default().reset(task, Seed(9))).unwrap()
}

fn call(line: &str) -> Action {
    let (name, settings) = parse(line).unwrap();
    let arguments: Value = settings
        .into_iter()
        .map(|setting| (setting.parameter, Value::from(setting.value)))
        .collect();
    Action::call(format!("{}_{}", name.verb, name.noun), arguments)
}

fn step(episode: &mut dyn Episode, action: &Action) -> Transition {
    block_on(episode.step(action)).unwrap()
}

#[test]
fn an_observation_shows_the_task_and_the_tools_and_no_contract() {
    let task = hidden_task();
    let episode = begin(&task.task().unwrap());
    let seen = episode.observation();
    assert_eq!(seen.text, task.world.query);
    assert_eq!(
        (seen.source.name.as_str(), seen.source.trust),
        ("toolworld", Trust::Trusted)
    );
    let names: Vec<String> = task
        .world
        .services
        .iter()
        .map(|s| s.tool.name.to_string().replace(' ', "_"))
        .collect();
    assert_eq!(
        seen.tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect::<Vec<_>>(),
        names
    );
}

#[test]
fn the_same_task_seed_and_actions_give_the_same_transitions() {
    let task = hidden_task();
    let target = task.world.target().unwrap();
    let mut lines: Vec<String> = target
        .contract
        .iter()
        .filter_map(|demand| demand.helper())
        .map(ToString::to_string)
        .collect();
    lines.push(target.tool.usage().replace(" #", " 7"));
    let run = || {
        let mut episode = begin(&task.task().unwrap());
        lines
            .iter()
            .map(|line| step(episode.as_mut(), &call(line)))
            .collect::<Vec<_>>()
    };
    assert_eq!(run(), run());
}

#[test]
fn the_budget_ends_an_episode_with_its_outcome_and_no_step_comes_after() {
    let task = hidden_task().task().unwrap();
    let environment = Toolworld::new(2).unwrap();
    let mut episode = block_on(environment.reset(&task, Seed(1))).unwrap();
    let nonsense = call("unseal nothing");
    let first = step(episode.as_mut(), &nonsense);
    assert!(first.is_error && first.outcome.is_none());
    let last = step(episode.as_mut(), &nonsense).outcome.unwrap();
    assert!(!last.success);
    assert_eq!(
        (
            last.parts["calls"],
            last.parts["refusals"],
            last.parts["hidden"]
        ),
        (2.0, 2.0, 1.0)
    );
    assert_eq!(
        block_on(episode.step(&nonsense)).unwrap_err().kind(),
        ErrorKind::Invalid
    );
}

#[test]
fn messages_are_refused_and_an_ended_turn_ends_the_episode_without_success() {
    let task = hidden_task().task().unwrap();
    let mut episode = begin(&task);
    assert!(step(episode.as_mut(), &Action::Message("done".into())).is_error);
    assert!(step(episode.as_mut(), &Action::Call(Vec::new())).is_error);
    assert!(
        !step(episode.as_mut(), &Action::EndTurn)
            .outcome
            .unwrap()
            .success
    );
}

#[test]
fn several_calls_in_one_action_run_in_order_until_one_is_refused() {
    let task = hidden_task();
    let other = task
        .world
        .services
        .iter()
        .find(|s| s.tool.name != task.world.goal.target)
        .unwrap();
    let Action::Call(mut calls) = call(&other.tool.name.to_string()) else {
        unreachable!()
    };
    let Action::Call(refused) = call("unseal nothing") else {
        unreachable!()
    };
    calls.extend(refused);
    calls.extend(calls.clone());
    let mut episode = begin(&task.task().unwrap());
    let transition = step(episode.as_mut(), &Action::Call(calls));
    assert!(transition.is_error);
    assert_eq!(transition.observation.text.lines().count(), 2);
}

#[test]
fn arguments_of_any_type_are_answered() {
    let task = hidden_task();
    let target = task.world.target().unwrap();
    let mut episode = block_on(
        Toolworld::new(100)
            .unwrap()
            .reset(&task.task().unwrap(), Seed(1)),
    )
    .unwrap();
    for value in [
        json!(null),
        json!(true),
        json!([1]),
        json!({"a": 1}),
        json!(""),
        json!("1 power 2"),
        json!(1e9),
    ] {
        let tool = target.tool.name.to_string().replace(' ', "_");
        let arguments = Map::from_iter(
            target
                .tool
                .parameters
                .iter()
                .map(|name| (name.clone(), value.clone())),
        );
        if arguments.is_empty() {
            continue;
        }
        let transition = step(
            episode.as_mut(),
            &Action::call(tool, Value::Object(arguments)),
        );
        assert!(transition.is_error, "{value} was taken");
    }
}

#[test]
fn a_budget_of_zero_and_tasks_of_other_worlds_are_invalid() {
    assert_eq!(Toolworld::new(0).unwrap_err().kind(), ErrorKind::Invalid);
    let reset = |payload: Value| {
        let mut task = hidden_task().task().unwrap();
        task.payload = payload;
        block_on(Toolworld::default().reset(&task, Seed(1)))
            .unwrap_err()
            .kind()
    };
    let mut other_version = hidden_task().task().unwrap().payload;
    other_version["schema"] = json!(99);
    let mut no_target = hidden_task().task().unwrap().payload;
    no_target["world"]["services"] = json!([]);
    for payload in [Value::Null, json!({"schema": 1}), other_version, no_target] {
        assert_eq!(reset(payload.clone()), ErrorKind::Invalid, "{payload}");
    }
}
