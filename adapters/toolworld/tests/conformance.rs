//! The rules of the contracts that toolworld implements.
#![allow(clippy::unwrap_used, missing_docs)]

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use journeyman::admit::{Admittance, to_skill};
use journeyman::builtin::{ModelExecutor, ModelExecutorOptions};
use journeyman::conformance;
use journeyman::conformance::dialect::{DialectFixture, UseSample};
use journeyman::conformance::environment::EnvironmentFixture;
use journeyman::conformance::roles::{RoleSample, RolesFixture};
use journeyman::contract::{
    Attempt, Environment, Executor, Experience, FixedGuidance, RoleRequest, RoleTask, Roles,
    SegmentPrompt, SubgoalInAttempt,
};
use journeyman::domain::{
    Action, InjectedSkill, Injection, Origin, Provenance, Role, RoleRule, Rubric, Skill, SkillUse,
    Subgoal, Task, ToolCall, Trace,
};
use journeyman::testing::{ScriptedModel, sample};
use journeyman::{AttemptId, ErrorKind, Seed, Version};
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
    let plain_text = of_skill(&plain);
    let plain_title = plain_text.split(':').next().unwrap().trim().to_owned();
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
            uses: uses(mode, &task.world.goal.target.to_string(), &plain_title),
        };
        let report = block_on(conformance::dialect::check(
            &ApprenticeDialect::new(mode),
            &fixture,
        ));
        let report = report.into_result().unwrap();
        assert_eq!(report.skipped().count(), 0, "{report}");
    }
}

/// What the model says of two skills, the second of which has this title.
fn uses(mode: Mode, call: &str, title: &str) -> Vec<UseSample> {
    use SkillUse::{Followed, NotFollowed, Unknown};
    let sample = |replies: Vec<String>, used: [SkillUse; 2]| UseSample {
        replies,
        used: used.into(),
    };
    let said = |choice: &str, used| {
        let act = format!("{choice}<call> {call}");
        match mode {
            Mode::Model => sample(vec![format!(" {call}{act}")], used),
            _ => sample(vec![format!(" {call}"), act], used),
        }
    };
    match mode {
        // The host chooses the skill that is about the named tool.
        Mode::Host => {
            let replies = vec![format!(" {title}"), format!("<call> {call}")];
            vec![sample(replies, [NotFollowed, Followed])]
        }
        _ => vec![
            said("<use>", [Followed, NotFollowed]),
            said("<use2>", [NotFollowed, Followed]),
            said("<skip>", [NotFollowed, NotFollowed]),
            said("", [Unknown, Unknown]),
        ],
    }
}

/// All roles that are played, of two attempts at the same task that met a refusal.
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
    let assessing = assessing_samples(&attempts, &right.title.to_string(), &right.to_string());
    let (written, attempt) = (format!(" {right}"), Box::new(done));
    let writes = |task| {
        sample(
            task,
            &[&written, "none"],
            &["unseal", "lift moon: lift moon", "a b: c"],
        )
    };
    let mut samples = vec![
        writes(RoleTask::Summarize {
            attempts: attempts.clone(),
            shown_chars: None,
            keeps_reasoning: false,
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
    ];
    samples.extend(assessing);
    samples
}

/// The roles that the bundled model does not play.
const UNTRAINED: [Role; 3] = [Role::Route, Role::DistilBank, Role::Review];

/// Tasks of roles that are not played, and a comparison with nothing.
fn unplayed(lone: Vec<Trace>) -> Vec<RoleTask> {
    // Compares attempts, and does not write one up with a skill.
    let alone = RoleTask::Refactor {
        attempts: lone,
        skills: Vec::new(),
        reason: "alone".into(),
        group: "g".into(),
        rules: Vec::new(),
    };
    let untrained = UNTRAINED.map(sample::role_task);
    untrained.into_iter().chain([alone]).collect()
}

#[test]
fn a_role_that_is_not_played_reads_nothing() {
    for role in Role::ALL {
        assert_eq!(ApprenticeRoles.plays(role), !UNTRAINED.contains(&role));
    }
    for task in UNTRAINED.map(sample::role_task) {
        let request = RoleRequest::new(&task, Seed(1));
        for text in ["none", "avoid first", "harmful"] {
            let error = ApprenticeRoles.read(&request, text).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        }
    }
}

/// The roles of SCRIBE that are played, of these attempts at a task that calls this tool.
fn assessing_samples(attempts: &[Trace], tool: &str, skill: &str) -> Vec<RoleSample> {
    let mut attempts = attempts.to_vec();
    attempts[1].trajectory.attempt = AttemptId::new("another");
    let last = |attempt: &Trace| attempt.trajectory.steps.len() - 1;
    let subgoal = |attempt: &Trace| SubgoalInAttempt {
        attempt: attempt.clone(),
        subgoal: Subgoal {
            subgoal: "finish".to_owned(),
            skill: tool.to_owned(),
            first: last(attempt),
            last: last(attempt),
        },
    };
    let sample = |task, readable: &[String], unreadable: &[&str]| RoleSample {
        task,
        readable: readable.to_vec(),
        unreadable: unreadable.iter().map(|text| (*text).to_owned()).collect(),
    };
    let score = |rubric| RoleTask::Score {
        subgoal: Box::new(subgoal(&attempts[0])),
        rubric,
        repeat: 0,
    };
    let rubric = Rubric {
        pattern: skill.to_owned(),
        ..sample::prototype("a").rubric
    };
    let scores = ["lift good 3".to_owned(), "other 0".to_owned()];
    let no_scores = ["lift good", "lift good 7", "good"];
    vec![
        sample(
            RoleTask::Segment {
                attempt: Box::new(attempts[0].clone()),
                prompt: SegmentPrompt::Main,
            },
            &[
                format!("probe 1 1; finish 2 {}", last(&attempts[0]) + 1),
                "probe 1 1; finish 9 9".to_owned(),
            ],
            &["finish", "dance 1 2", "finish 99 99"],
        ),
        sample(
            RoleTask::DistilPrototype {
                members: attempts.iter().map(subgoal).collect(),
            },
            &[format!(" {skill}")],
            &["none", "lift moon: lift moon"],
        ),
        sample(score(Some(Box::new(rubric))), &scores, &no_scores),
        sample(score(None), &scores, &no_scores),
    ]
}

#[test]
fn roles() {
    let (task, _) = tasks();
    let played = samples(&task);
    let lone = played[0].task.attempts()[..1].to_vec();
    let fixture = RolesFixture {
        unplayed: unplayed(lone),
        played,
    };
    let report = block_on(conformance::roles::check(&ApprenticeRoles, &fixture));
    let report = report.into_result().unwrap();
    assert_eq!(report.skipped().count(), 0, "{report}");
}
