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
use journeyman::conformance::roles::{RoleSample, RolesFixture};
use journeyman::contract::{Attempt, Environment, Executor, Experience, FixedGuidance, RoleTask};
use journeyman::domain::{
    Action, InjectedSkill, Injection, Origin, Provenance, Role, RoleRule, Skill, Task, ToolCall,
    Trace,
};
use journeyman::testing::ScriptedModel;
use journeyman::{AttemptId, Seed, Version};
use journeyman_toolworld::dialect::{ApprenticeDialect, Mode};
use journeyman_toolworld::environment::Toolworld;
use journeyman_toolworld::policy::Policy;
use journeyman_toolworld::simulate::{Simulation, parse};
use journeyman_toolworld::skill_form::{of_skill, to_draft};
use journeyman_toolworld::stream::{StreamTask, Universe, UniverseSpec};
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::writer::ApprenticeRoles;
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

/// The same through the SDK's executor, with a model that writes what the policy does and says that it follows the
/// first skill.
fn attempt(task: &StreamTask, seed: Seed, skills: &[&Skill]) -> Trace {
    let mut simulation = Simulation::start(task.world.clone(), seed.0);
    let trace = Policy::novice(&task.world).unwrap().run(&mut simulation, 8);
    let mut answers = vec![format!(" {}", task.world.goal.target)];
    for (number, exchange) in trace.iter().enumerate() {
        let decided = match (number, skills) {
            (0, []) => "<skip><call>",
            (0, _) => "<use><call>",
            _ => "",
        };
        answers.push(format!("{decided} {}", exchange.call));
    }
    let model = Arc::new(ScriptedModel::answers(answers));
    let dialect = Arc::new(ApprenticeDialect::new(Mode::Row));
    let executor = ModelExecutor::new(model, dialect, ModelExecutorOptions::default()).unwrap();
    let injected = skills.iter().map(|skill| InjectedSkill {
        skill: skill.reference(),
        text: format!(" {}", of_skill(skill)),
        sha256: String::new(),
    });
    let injection = Injection {
        skills: injected.collect(),
    };
    let (task, guidance) = (task.task().unwrap(), FixedGuidance::new(injection.clone()));
    let attempt = Attempt {
        id: AttemptId::new("a"),
        task: &task,
        seed,
        temperature: 0.0,
        injection: &injection,
        guidance: &guidance,
        time_limit: Duration::from_secs(10),
        prefix: &[],
    };
    let mut episode = block_on(Toolworld::default().reset(&task, seed)).unwrap();
    let mut trajectory = block_on(executor.execute(attempt, episode.as_mut())).unwrap();
    trajectory.injection = injection;
    Trace {
        task,
        trajectory,
        verdict: None,
        world_seed: seed,
    }
}

fn skill(id: &str, text: &SkillText) -> Skill {
    let provenance = Provenance {
        origin: Origin::Human,
        runs: Vec::new(),
        tasks: Vec::new(),
    };
    let admittance = Admittance {
        id: id.into(),
        version: Version(1),
        provenance,
        taint: Default::default(),
        parents: Vec::new(),
    };
    to_skill(&to_draft(text), admittance).unwrap()
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
    let mut plain = skill("plain", &universe.members()[1].skill());
    plain.body = "Do it  well.\n\nAlways.".to_owned();
    for mode in [Mode::Row, Mode::Model, Mode::Host] {
        let fixture = DialectFixture {
            task: task.task().unwrap(),
            observation: episode.observation().clone(),
            skills: vec![skill("s", &universe.members()[0].skill()), plain.clone()],
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

/// All roles that it plays, of two attempts at the same task that met a refusal.
fn samples(task: &StreamTask) -> Vec<RoleSample> {
    let universe = Universe::make(UniverseSpec::default(), 2).unwrap();
    let mut members = universe.members().iter();
    let right = members.find(|member| Some(&member.service) == task.world.target());
    let right = right.unwrap().skill();
    let stale = skill(
        "s",
        &SkillText::parse(&format!("{0}: {0}", right.title)).unwrap(),
    );
    let done = attempt(task, Seed(5), &[&stale]);
    assert!(
        done.trajectory.outcome.as_ref().unwrap().success,
        "{done:?}"
    );
    let attempts = vec![done.clone(), attempt(task, Seed(6), &[])];
    let rules = vec![RoleRule::new("be brief").unwrap()];
    let steps = done.trajectory.steps.len();
    let sample = |task, readable: &[&str], unreadable: &[&str]| RoleSample {
        task,
        readable: readable.iter().map(|text| (*text).to_owned()).collect(),
        unreadable: unreadable.iter().map(|text| (*text).to_owned()).collect(),
    };
    let (written, attempt) = (format!(" {right}"), Box::new(done));
    let writes = |task| {
        sample(
            task,
            &[&written, "none"],
            &["unseal", "lift moon: lift moon", "a b: c"],
        )
    };
    vec![
        writes(RoleTask::Summarize {
            attempts: attempts.clone(),
        }),
        writes(RoleTask::Extract {
            attempt: attempt.clone(),
            candidate: 1,
            rules: rules.clone(),
        }),
        writes(RoleTask::Refactor {
            attempts: attempts.clone(),
            skills: Vec::new(),
            reason: "one tool".into(),
            group: "g".into(),
            rules: rules.clone(),
        }),
        writes(RoleTask::Refine {
            skill: Box::new(stale.clone()),
            attempts,
            failures: Vec::new(),
            rules,
        }),
        sample(
            RoleTask::Attribute {
                attempt: attempt.clone(),
                skill: 0,
            },
            &["harmful", " neutral"],
            &["none", "harmless"],
        ),
        sample(
            RoleTask::Bundle {
                skill: Box::new(stale.clone()),
                attempt: attempt.clone(),
            },
            &[&format!("probe 1 1; finish 2 {steps}")],
            &["finish 1 99", "finish"],
        ),
        sample(
            RoleTask::Curate {
                attempt: attempt.clone(),
                correct: Some(true),
                skills: vec![stale.clone()],
            },
            &["keep", "delete 1", &format!("insert{written}")],
            &["delete 2", "insert", "I would keep it."],
        ),
        sample(
            RoleTask::Tag {
                task: Box::new(attempt.task.clone()),
            },
            &["unseal coffee; power", "unseal coffee"],
            &["unseal", "unseal coffee; the power"],
        ),
        sample(
            RoleTask::Evolve {
                role: Role::Extract,
                rules: Vec::new(),
                rows: vec![Experience {
                    skill: stale,
                    helpful: 0,
                    harmful: 1,
                    other: 0,
                    bundle: None,
                    before: None,
                    fate: "active".into(),
                }],
            },
            &["avoid first", "none"],
            &["avoid rain", "good"],
        ),
    ]
}

#[test]
fn roles() {
    let (task, _) = tasks();
    let played = samples(&task);
    let lone = played[0].task.attempts()[..1].to_vec();
    let fixture = RolesFixture {
        // Compares attempts, and does not write one up with a skill.
        unplayed: vec![
            RoleTask::Refactor {
                attempts: lone,
                skills: Vec::new(),
                reason: "alone".into(),
                group: "g".into(),
                rules: Vec::new(),
            },
            RoleTask::DistilBank {
                category: None,
                findings: Vec::new(),
                skills: Vec::new(),
            },
        ],
        played,
    };
    let report = block_on(conformance::roles::check(&ApprenticeRoles, &fixture));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}
