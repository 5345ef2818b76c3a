//! The rules of [`Environment`](journeyman::contract::Environment), [`Dialect`](journeyman::contract::Dialect) and
//! [`SkillWriter`](journeyman::contract::SkillWriter).
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;

use futures::executor::block_on;
use journeyman::{
    AttemptId, Result, Seed, SkillId, Version,
    conformance::{self, Report},
    contract::Environment,
    domain::{
        Action, EndReason, Kind, Origin, Provenance, Scope, Skill, SkillName, State, Step,
        StepResult, Taint, Task, ToolCall, Trajectory, Usage,
    },
};
use journeyman_toolworld::{
    dialect::{ApprenticeDialect, Mode},
    environment::Toolworld,
    policy::Policy,
    simulate::{Simulation, parse},
    stream::{StreamTask, Universe, UniverseSpec},
    writer::ApprenticeWriter,
};
use serde_json::Value;

const SEED: Seed = Seed(9);

fn call(line: &str) -> Action {
    let (name, settings) = parse(line).unwrap();
    Action::Call(vec![ToolCall {
        tool: format!("{}_{}", name.verb, name.noun),
        arguments: (settings.into_iter())
            .map(|setting| (setting.parameter, Value::from(setting.value)))
            .collect(),
    }])
}

fn tasks() -> (StreamTask, StreamTask) {
    let universe = Universe::make(UniverseSpec::default(), 1).unwrap();
    let stream = universe.stream(24);
    let of = |hidden| {
        stream
            .iter()
            .find(|task| task.world.is_hidden() == hidden)
            .cloned()
    };
    (of(true).unwrap(), of(false).unwrap())
}

/// The calls of an agent without a skill, until the task is done.
fn calls(task: &StreamTask) -> Vec<Action> {
    let mut simulation = Simulation::start(task.world.clone(), SEED.0);
    let trace = Policy::novice(&task.world)
        .unwrap()
        .run(&mut simulation, Toolworld::STEPS);
    trace.iter().map(|exchange| call(&exchange.call)).collect()
}

fn kept(report: &Report) -> Result<()> {
    assert_eq!(report.skipped().count(), 0, "{report}");
    report.clone().into_result().map(drop)
}

#[test]
fn environment() -> Result<()> {
    let (hidden, plain) = tasks();
    let fixture = conformance::environment::EnvironmentFixture {
        task: hidden.task()?,
        seed: SEED,
        actions: calls(&hidden),
        other: Some((plain.task()?, SEED, calls(&plain))),
        refused: Some(call("juggle nothing")),
        unknown: Some(Task::new("t", "a task without a world")),
    };
    kept(&block_on(conformance::environment::check(
        &Toolworld::default(),
        &fixture,
    )))
}

fn skill(body: &str) -> Skill {
    Skill {
        id: SkillId::new("s"),
        version: Version(1),
        name: SkillName::slug("unseal coffee").unwrap(),
        original_name: Some("unseal coffee".to_owned()),
        description: "How to unseal coffee".to_owned(),
        kind: Kind::Workflow,
        scope: Scope::General,
        state: State::Active,
        trigger: None,
        body: body.to_owned(),
        allowed_tools: Vec::new(),
        license: None,
        compatibility: None,
        metadata: BTreeMap::new(),
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Clean,
        proven_on: None,
    }
}

#[test]
fn dialect() -> Result<()> {
    let (hidden, _) = tasks();
    let task = hidden.task()?;
    let observation = block_on(Toolworld::default().reset(&task, SEED))?
        .observation()
        .clone();
    let usage = hidden.world.target().unwrap().tool.usage();
    for mode in [Mode::Model, Mode::Row, Mode::Host] {
        let fixture = conformance::dialect::DialectFixture {
            task: task.clone(),
            observation: observation.clone(),
            skills: vec![
                skill("1. `unseal bell`\n2. `unseal coffee tone off`\n"),
                skill("In free words."),
            ],
            replies: vec![
                usage.clone(),
                format!(" {usage}<use><call> {usage}"),
                "<call>".to_owned(),
            ],
        };
        kept(&block_on(conformance::dialect::check(
            &ApprenticeDialect::new(mode),
            &fixture,
        )))?;
    }
    Ok(())
}

/// The attempt of an agent that made these calls.
fn attempt(task: &Task, actions: &[Action]) -> Result<Trajectory> {
    block_on(async {
        let mut episode = Toolworld::default().reset(task, SEED).await?;
        let (mut steps, mut outcome) = (Vec::new(), None);
        for (index, action) in (0..).zip(actions) {
            let observation = episode.observation().clone();
            let after = episode.step(action).await?;
            outcome = after.outcome;
            steps.push(Step {
                index,
                turn: 0,
                actor: "agent".to_owned(),
                observation,
                action: action.clone(),
                result: StepResult {
                    text: after.observation.text,
                    is_error: after.is_error,
                    source: after.observation.source,
                },
                transcript: String::new(),
                generations: Vec::new(),
            });
        }
        episode.close().await?;
        Ok(Trajectory {
            schema: Trajectory::SCHEMA,
            attempt: AttemptId::new("a"),
            task: task.id.clone(),
            seed: SEED,
            steps,
            exposures: Vec::new(),
            outcome,
            end: EndReason::Finished,
            usage: Usage::default(),
        })
    })
}

#[test]
fn skill_writer() -> Result<()> {
    let (hidden, _) = tasks();
    let task = hidden.task()?;
    let name = &hidden.world.target().unwrap().tool.name;
    let fixture = conformance::skill_writer::SkillWriterFixture {
        attempts: vec![attempt(&task, &calls(&hidden))?],
        task,
        readable: vec![format!("{name}: {name}")],
        unreadable: vec![
            "no steps".to_owned(),
            "juggle nothing: juggle nothing".to_owned(),
        ],
    };
    kept(&block_on(conformance::skill_writer::check(
        &ApprenticeWriter,
        &fixture,
    )))
}
