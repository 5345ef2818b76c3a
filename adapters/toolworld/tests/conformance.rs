//! The rules of the contracts that toolworld implements.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use journeyman::admit::{Admittance, to_skill};
use journeyman::builtin::{ModelExecutor, ModelExecutorOptions};
use journeyman::conformance;
use journeyman::conformance::dialect::DialectFixture;
use journeyman::conformance::environment::EnvironmentFixture;
use journeyman::conformance::skill_writer::SkillWriterFixture;
use journeyman::contract::{Attempt, Environment, Executor, FixedGuidance};
use journeyman::domain::{Action, Injection, Origin, Provenance, Task, ToolCall, Trajectory};
use journeyman::testing::ScriptedModel;
use journeyman::{AttemptId, Seed, Version};
use journeyman_toolworld::dialect::{ApprenticeDialect, Mode};
use journeyman_toolworld::environment::Toolworld;
use journeyman_toolworld::policy::Policy;
use journeyman_toolworld::simulate::{Simulation, parse};
use journeyman_toolworld::skill_form::to_draft;
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use journeyman_toolworld::writer::ApprenticeWriter;
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
    let arguments = set
        .map(|setting| (setting.parameter, Value::from(setting.value)))
        .collect();
    Action::Call(vec![ToolCall {
        tool: format!("{}_{}", name.verb, name.noun),
        arguments,
    }])
}

/// The same through the SDK's executor, with a model that writes what the policy does.
fn trajectory(task: &StreamTask, seed: Seed) -> Trajectory {
    let mut simulation = Simulation::start(task.world.clone(), seed.0);
    let trace = Policy::novice(&task.world).unwrap().run(&mut simulation, 8);
    let mut answers = vec![format!(" {}", task.world.goal.target)];
    for (number, exchange) in trace.iter().enumerate() {
        let decided = if number == 0 { "<skip><call>" } else { "" };
        answers.push(format!("{decided} {}", exchange.call));
    }
    let model = Arc::new(ScriptedModel::answers(answers));
    let dialect = Arc::new(ApprenticeDialect::new(Mode::Row));
    let executor = ModelExecutor::new(model, dialect, ModelExecutorOptions::default()).unwrap();
    let (task, guidance) = (task.task().unwrap(), FixedGuidance::new(Injection::NONE));
    let attempt = Attempt {
        id: AttemptId::new("a"),
        task: &task,
        seed,
        temperature: 0.0,
        injection: &Injection::NONE,
        guidance: &guidance,
        time_limit: Duration::from_secs(10),
        plan: None,
        prefix: &[],
    };
    let mut episode = block_on(Toolworld::default().reset(&task, seed)).unwrap();
    block_on(executor.execute(attempt, episode.as_mut())).unwrap()
}

#[test]
fn environment() {
    let (task, other) = tasks();
    let unknown = Task::new("elsewhere", "do something else");
    let fixture = EnvironmentFixture {
        task: task.task().unwrap(),
        seed: Seed(3),
        actions: actions(&task, Seed(3)),
        other: Some((other.task().unwrap(), Seed(4), actions(&other, Seed(4)))),
        refused: Some(action("unseal nothing")),
        unknown: Some(unknown),
    };
    let report = block_on(conformance::environment::check(
        &Toolworld::default(),
        &fixture,
    ));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn dialect() {
    let (task, other) = tasks();
    let episode = block_on(Toolworld::default().reset(&task.task().unwrap(), Seed(1))).unwrap();
    let universe = Universe::make(UniverseSpec::default(), 2).unwrap();
    let skill = |number: usize, body: Option<&str>| {
        let mut draft = to_draft(&universe.members()[number].skill());
        draft.body = body.map_or(draft.body, str::to_owned);
        let provenance = Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        };
        let admittance = Admittance {
            id: "s".into(),
            version: Version(1),
            provenance,
            taint: Default::default(),
            parents: Vec::new(),
        };
        to_skill(&draft, admittance).unwrap()
    };
    for mode in [Mode::Row, Mode::Model, Mode::Host] {
        let fixture = DialectFixture {
            task: task.task().unwrap(),
            observation: episode.observation().clone(),
            skills: vec![skill(0, None), skill(1, Some("Do it  well.\n\nAlways."))],
            replies: vec![
                format!(
                    " {}<use><call> {}",
                    task.world.goal.target, task.world.goal.target
                ),
                format!(" {}", other.world.goal.target),
            ],
        };
        let report = block_on(conformance::dialect::check(
            &ApprenticeDialect::new(mode),
            &fixture,
        ));
        let report = report.into_result().unwrap();
        assert_eq!(report.skipped().count(), 0, "{report}");
    }
}

#[test]
fn skill_writer() {
    let (task, _) = tasks();
    let done = trajectory(&task, Seed(5));
    assert!(done.outcome.as_ref().unwrap().success, "{done:?}");
    let universe = Universe::make(UniverseSpec::default(), 2).unwrap();
    let right = universe
        .members()
        .iter()
        .find(|member| Some(&member.service) == task.world.target());
    let fixture = SkillWriterFixture {
        task: task.task().unwrap(),
        attempts: vec![done.clone(), done],
        readable: vec![format!(" {}", right.unwrap().skill())],
        unreadable: vec![
            "unseal".into(),
            "lift moon: lift moon".into(),
            "a b: c".into(),
        ],
    };
    let report = block_on(conformance::skill_writer::check(
        &ApprenticeWriter,
        &fixture,
    ));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}
