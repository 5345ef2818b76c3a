//! The rules of the contract that toolworld implements.

use futures::executor::block_on;
use journeyman::Seed;
use journeyman::domain::{Action, Task};
use journeyman::testing::conformance;
use journeyman::testing::conformance::environment::EnvironmentFixture;
use journeyman_toolworld::environment::Toolworld;
use journeyman_toolworld::policy::Policy;
use journeyman_toolworld::simulate::{Simulation, parse};
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use serde_json::Value;

fn tasks() -> (StreamTask, StreamTask) {
    let universe = Universe::make(UniverseSpec::default(), 2).unwrap();
    let mut hidden = universe
        .stream(24)
        .into_iter()
        .filter(|task| task.world.is_hidden());
    (hidden.next().unwrap(), hidden.next().unwrap())
}

/// What a rule-bound policy does until the task is done.
fn actions(task: &StreamTask, seed: Seed) -> Vec<Action> {
    let mut simulation = Simulation::start(task.world.clone(), seed.0);
    let trace = Policy::novice(&task.world).unwrap().run(&mut simulation, 8);
    trace
        .iter()
        .map(|exchange| action(&exchange.call))
        .collect()
}

fn action(line: &str) -> Action {
    let (name, settings) = parse(line).unwrap();
    let set = settings.into_iter().filter(|setting| setting.value != "#");
    let arguments: Value = set
        .map(|setting| (setting.parameter, Value::from(setting.value)))
        .collect();
    Action::call(format!("{}_{}", name.verb, name.noun), arguments)
}

#[test]
fn environment() {
    let (task, other) = tasks();
    let unknown = Task::new("elsewhere", "do something else");
    let fixture = EnvironmentFixture::new(task.task().unwrap(), Seed(3), actions(&task, Seed(3)))
        .with_other((other.task().unwrap(), Seed(4), actions(&other, Seed(4))))
        .with_refused(action("unseal nothing"))
        .with_unknown(unknown);
    let report = block_on(conformance::environment::check(
        &Toolworld::default(),
        &fixture,
    ));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}
