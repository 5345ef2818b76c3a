mod curating;
mod judging;
mod lessons;
mod rules;
mod truth;

use std::collections::BTreeSet;

use journeyman::admit::{Admittance, to_skill};
use journeyman::contract::{CaseDraft, Experience, FailedAnswer};
use journeyman::domain::{
    Action, CaseKind, EndReason, Exposure, InjectedSkill, Judgement, Observation, Origin,
    Provenance, Role as Part, Skill, SkillUse, Source, Step, StepResult, Task, ToolCall,
    Trajectory, Trust, Usage, Verdict,
};
use journeyman::{AttemptId, ErrorKind, Seed, SkillId, TaskId, Version};
use serde_json::Value;

use super::*;
use crate::environment::define;
use crate::policy::Exchange;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::simulate::{Outcome, parse};
use crate::skill_form::{read_body, to_draft};
use crate::tool::{DEFAULT_SLOT, SkillText, wire_name};
use crate::world::WorldSpec;

fn scenes(
    kind: fn(&WorldSpec, &mut Draws) -> Option<Scene>,
    count: u64,
) -> impl Iterator<Item = Scene> {
    let draws = (0..count).map(|number| Draws::new("attempts", &[number]));
    draws.filter_map(move |mut draws| kind(&WorldSpec::wide(&mut draws), &mut draws))
}

fn skill_of(id: &str, text: &str) -> Skill {
    let admittance = Admittance {
        id: id.into(),
        version: Version(1),
        provenance: Provenance {
            origin: Origin::Human,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Default::default(),
        parents: Vec::new(),
    };
    to_skill(&to_draft(&SkillText::parse(text).unwrap()), admittance).unwrap()
}

fn action(line: &str) -> Action {
    let (name, settings) = parse(line).unwrap();
    let set = settings
        .into_iter()
        .filter(|setting| setting.value != DEFAULT_SLOT);
    let arguments = set.map(|setting| {
        let number = setting.value.parse::<u64>().map(Value::from);
        (
            setting.parameter,
            number.unwrap_or(Value::from(setting.value)),
        )
    });
    Action::Call(vec![ToolCall {
        tool: wire_name(&name),
        arguments: arguments.collect(),
    }])
}

/// A call with its answer as a step, without a transcript.
fn step_of(observation: &Observation, index: usize, exchange: &Exchange) -> Step {
    Step {
        index: index as u32,
        turn: 0,
        actor: "agent".into(),
        observation: observation.clone(),
        action: action(&exchange.call),
        result: StepResult {
            is_error: matches!(exchange.reply.outcome, Outcome::Refused(_)),
            ..StepResult::new(exchange.reply.text.clone(), observation.source.clone())
        },
        transcript: String::new(),
        generations: Vec::new(),
        notes: Vec::new(),
    }
}

/// The scene as a trace of a run; its skills are called `skill-0` and `skill-1`.
fn trace_of(scene: &Scene) -> Trace {
    let source = Source {
        name: "toolworld".into(),
        trust: Trust::Trusted,
    };
    let services = scene.world.services.iter();
    let tools = services.map(|service| define(&service.tool)).collect();
    let observation = Observation::new(scene.world.query.clone(), source.clone()).with_tools(tools);
    let readable = scene.script.readable();
    let (_, said) = readable.split_once("<plan>").unwrap();
    let (begun, _) = said.split_once("<call>").unwrap();
    let step = |(index, exchange): (usize, &Exchange)| {
        let begun = if index == 0 { begun } else { "" };
        Step {
            transcript: format!("{begun}<call> {}<obs>", exchange.call),
            ..step_of(&observation, index, exchange)
        }
    };
    let skills = scene.advice.iter().enumerate().map(|(at, advice)| {
        let skill = skill_of(&format!("skill-{at}"), "cut rope: cut rope").reference();
        InjectedSkill {
            skill,
            text: format!(" {}", advice.text),
            sha256: String::new(),
        }
    });
    let injection = Injection {
        skills: skills.collect(),
    };
    let exposures = injection.skills.iter().enumerate();
    let exposures = exposures.map(|(at, injected)| Exposure {
        skill: injected.skill.clone(),
        used: match scene.used == Some(at) {
            true => SkillUse::Followed,
            false => SkillUse::NotFollowed,
        },
        since: 0,
    });
    let exposures: Vec<Exposure> = exposures.collect();
    Trace {
        task: Task::new("t", scene.world.query.as_str()),
        trajectory: Trajectory {
            schema: Trajectory::SCHEMA,
            attempt: AttemptId::new("a"),
            task: TaskId::new("t"),
            seed: Seed(1),
            steps: scene.exchanges.iter().enumerate().map(step).collect(),
            exposures,
            injection,
            left_out: Vec::new(),
            undecided: None,
            unread: None,
            compaction: journeyman::domain::Compaction::NONE,
            outcome: None,
            end: EndReason::Finished,
            usage: Usage::default(),
        },
        verdict: Some(Verdict::binary(scene.is_done())),
        world_seed: Seed(1),
    }
}

fn rules(texts: &[&str]) -> Vec<RoleRule> {
    texts
        .iter()
        .map(|text| RoleRule::new(*text).unwrap())
        .collect()
}

fn request(task: &RoleTask) -> RoleRequest<'_> {
    RoleRequest::new(task, Seed(3))
}

fn prompt(task: &RoleTask) -> String {
    let generate = ApprenticeRoles.prompt(&request(task)).unwrap();
    assert_eq!(generate.sampling, Sampling::GREEDY);
    generate.prompt.text()
}

fn read(task: &RoleTask, text: &str) -> Result<RoleAnswer> {
    ApprenticeRoles.read(&request(task), text)
}

/// Checks that the answer is refused as the model's fault, with these words.
fn check_unusable(task: &RoleTask, text: &str, words: &str) {
    let error = read(task, text).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn check_refused(task: &RoleTask, kind: ErrorKind, words: &str) {
    let error = ApprenticeRoles.prompt(&request(task)).unwrap_err();
    assert_eq!(error.kind(), kind, "{error}");
    assert!(error.to_string().contains(words), "{error}");
}

fn extract(attempt: &Trace, texts: &[&str]) -> RoleTask {
    RoleTask::Extract {
        attempt: Box::new(attempt.clone()),
        candidate: 0,
        rules: rules(texts),
    }
}

fn refactor(attempts: Vec<Trace>, texts: &[&str]) -> RoleTask {
    RoleTask::Refactor {
        attempts,
        skills: Vec::new(),
        reason: "one task family".into(),
        group: "g".into(),
        rules: rules(texts),
    }
}

fn refine(skill: &str, attempts: Vec<Trace>) -> RoleTask {
    RoleTask::Refine {
        skill: Box::new(skill_of(skill, "cut rope: cut rope")),
        attempts,
        failures: vec!["unit-1: not done".into()],
        rules: rules(&["avoid first", "keep it short"]),
    }
}

fn attribute(attempt: &Trace, skill: usize) -> RoleTask {
    RoleTask::Attribute {
        attempt: Box::new(attempt.clone()),
        skill,
    }
}

fn bundle(attempt: &Trace) -> RoleTask {
    RoleTask::Bundle {
        skill: Box::new(skill_of("s", "cut rope: cut rope")),
        attempt: Box::new(attempt.clone()),
    }
}

#[test]
fn roles_are_asked_about_an_attempt_as_they_were_trained() {
    for scene in scenes(Scene::alone, 60) {
        let (attempt, shown) = (trace_of(&scene), scene.script.readable());
        assert_eq!(prompt(&extract(&attempt, &[])), format!("{shown}<extract>"));
        let summary = RoleTask::Summarize {
            attempts: vec![attempt.clone()],
            shown_chars: None,
            keeps_reasoning: false,
        };
        assert_eq!(prompt(&summary), format!("{shown}<extract>"));
        assert_eq!(
            prompt(&extract(
                &attempt,
                &["avoid first", "be brief", "prefer given"]
            )),
            format!("{shown}<note> avoid first<note> prefer given<extract>")
        );
        // The model was trained on at most three rules.
        let four = [
            "avoid first",
            "avoid fixed",
            "be brief",
            "prefer given",
            "avoid long",
        ];
        assert_eq!(
            prompt(&extract(&attempt, &four)),
            format!("{shown}<note> avoid first<note> avoid fixed<note> prefer given<extract>")
        );
        assert_eq!(prompt(&bundle(&attempt)), format!("{shown}<segment>"));
    }
    let mut second = 0;
    for kind in [Scene::failing, Scene::both, Scene::right] {
        for scene in scenes(kind, 60) {
            let (attempt, shown) = (trace_of(&scene), scene.script.readable());
            let used = scene.used.unwrap();
            let (place, name) = [("<use>", "skill-0"), ("<use2>", "skill-1")][used];
            second += used;
            assert_eq!(
                prompt(&refine(name, vec![attempt.clone()])),
                format!("{shown}<note> avoid first<repair>{place}")
            );
            assert_eq!(
                prompt(&attribute(&attempt, used)),
                format!("{shown}<credit>{place}")
            );
            assert_eq!(prompt(&bundle(&attempt)), format!("{shown}<segment>"));
            let alone = prompt(&extract(&attempt, &[]));
            assert!(
                !alone.contains("<skill") && alone.contains(place),
                "{alone}"
            );
        }
    }
    assert!(second > 20, "{second}");
}

#[test]
fn attempts_are_compared_as_they_were_trained_without_calls_of_tools_they_lacked() {
    let mut lacked = 0;
    let all: Vec<Scene> = scenes(Scene::alone, 40)
        .chain(scenes(Scene::failing, 40))
        .collect();
    for scenes in all.chunks(4) {
        let attempts: Vec<Trace> = scenes.iter().map(trace_of).collect();
        let mut script = Script::default().control("<s>", false);
        for scene in scenes.iter().rev().take(3).rev() {
            let (lack, calls): (Vec<_>, Vec<_>) = (scene.exchanges.iter())
                .partition(|exchange| exchange.reply.text.starts_with("error no tool"));
            lacked += lack.len();
            let calls = calls.into_iter();
            let calls =
                calls.map(|exchange| (exchange.call.as_str(), exchange.reply.text.as_str()));
            script = script.compared(&scene.world.query, calls);
        }
        let shown = script.readable();
        let task = refactor(attempts, &["prefer carried"]);
        assert_eq!(
            prompt(&task),
            format!("{shown}<note> prefer carried<compare>")
        );
    }
    assert!(lacked > 0);
    let lone: Vec<Trace> = all.iter().take(1).map(trace_of).collect();
    check_refused(
        &refactor(lone, &[]),
        ErrorKind::Unsupported,
        "fewer than two attempts",
    );
}

/// An attempt that needed a first call, with the skill of that call in the prompt.
fn done() -> (Scene, Trace) {
    let mut all = scenes(Scene::right, 400);
    let scene = all.find(|scene| scene.exchanges.len() == 2 && scene.advice[0].text.contains("; "));
    let scene = scene.unwrap();
    let attempt = trace_of(&scene);
    (scene, attempt)
}

#[test]
fn a_written_skill_is_read_and_what_breaks_a_rule_or_names_other_tools_is_refused() {
    for scene in scenes(Scene::alone, 80) {
        let attempt = trace_of(&scene);
        let target = scene.world.target().unwrap();
        let right = SkillText::of(target, &scene.world.given_names());
        let RoleAnswer::Draft(draft) = read(&extract(&attempt, &[]), &format!(" {right}")).unwrap()
        else {
            panic!("{right}")
        };
        assert_eq!(read_body(&draft.body), Some(right.clone()));
        assert_eq!(draft.title, right.title.to_string().replace(' ', "-"));
        for rule in crate::roles::Feature::ALL.into_iter().flat_map(Rule::about) {
            let task = extract(&attempt, &[&rule.to_string()]);
            let stands = |word: &str| format!(" power given\n {right}\n {word}");
            assert!(matches!(
                read(&task, &stands("bad")),
                Ok(RoleAnswer::Nothing(_))
            ));
            if rule.allows(&right) {
                assert!(matches!(
                    read(&task, &stands("good")),
                    Ok(RoleAnswer::Draft(_))
                ));
                assert!(matches!(
                    read(&task, &right.to_string()),
                    Ok(RoleAnswer::Draft(_))
                ));
            } else {
                let why = format!("the rule `{rule}`");
                check_unusable(&task, &right.to_string(), &why);
                check_unusable(&task, &stands("good"), &why);
            }
            assert!(matches!(read(&task, " none"), Ok(RoleAnswer::Nothing(_))));
        }
    }
    let (scene, attempt) = done();
    let name = &scene.world.goal.target;
    let task = extract(&attempt, &[]);
    check_unusable(&task, "cut moon: cut moon", "did not have");
    check_unusable(&task, &format!("{name}: {name} wire 3"), "does not have");
    for garbage in ["", "none of it", "cut", "cut moon", "\u{202e}: ;", "<end>"] {
        check_unusable(&task, garbage, "verb noun: step; step");
    }
    // A shared skill only has tools that each attempt had.
    let other = trace_of(&scenes(Scene::alone, 9).last().unwrap());
    check_unusable(
        &refactor(vec![attempt, other], &[]),
        &scene.advice[0].text,
        "did not have",
    );
}

#[test]
fn further_candidates_and_repairs_are_drawn_otherwise() {
    let (_, attempt) = done();
    let sampling = |candidate, failed| {
        let task = RoleTask::Extract {
            attempt: Box::new(attempt.clone()),
            candidate,
            rules: Vec::new(),
        };
        let request = RoleRequest {
            failed,
            ..request(&task)
        };
        ApprenticeRoles.prompt(&request).unwrap().sampling
    };
    let failed = Some(FailedAnswer {
        text: "cut",
        reason: "no skill",
    });
    let all = [
        sampling(0, None),
        sampling(1, None),
        sampling(2, None),
        sampling(0, failed),
        sampling(1, failed),
    ];
    for (at, one) in all.iter().enumerate() {
        assert!(all.iter().skip(at + 1).all(|other| other != one));
        let drawn = (one.temperature, one.top_p) == (0.7, 0.95);
        assert!(drawn || *one == Sampling::GREEDY && at == 0);
    }
}

#[test]
fn a_summary_has_a_fallback_from_the_attempt_and_nothing_else_has_one() {
    for scene in scenes(Scene::alone, 60) {
        let attempt = trace_of(&scene);
        let summary = RoleTask::Summarize {
            attempts: vec![attempt.clone()],
            shown_chars: None,
            keeps_reasoning: false,
        };
        let Some(RoleAnswer::Draft(draft)) = ApprenticeRoles.fallback(&summary) else {
            panic!("no draft")
        };
        let skill = read_body(&draft.body).unwrap();
        assert_eq!(skill.title, scene.world.goal.target);
        assert_eq!(ApprenticeRoles.fallback(&extract(&attempt, &[])), None);
        assert_eq!(ApprenticeRoles.fallback(&attribute(&attempt, 0)), None);
    }
    let (scene, attempt) = done();
    let summary = |attempts| RoleTask::Summarize {
        attempts,
        shown_chars: None,
        keeps_reasoning: false,
    };
    let Some(RoleAnswer::Draft(draft)) = ApprenticeRoles.fallback(&summary(vec![attempt])) else {
        panic!("no draft")
    };
    assert_eq!(
        read_body(&draft.body).unwrap().to_string(),
        scene.advice[0].text
    );
    let empty = ApprenticeRoles.fallback(&summary(Vec::new()));
    assert!(matches!(empty, Some(RoleAnswer::Draft(_))));
    check_refused(&summary(Vec::new()), ErrorKind::Invalid, "no attempt");
}

#[test]
fn a_skill_is_mended_from_an_attempt_in_which_it_stood() {
    let scene = scenes(Scene::failing, 20).next().unwrap();
    let attempt = trace_of(&scene);
    let other = trace_of(&scenes(Scene::alone, 9).last().unwrap());
    let both = vec![other.clone(), attempt.clone()];
    assert_eq!(
        prompt(&refine("skill-0", both)),
        prompt(&refine("skill-0", vec![attempt.clone()]))
    );
    check_refused(
        &refine("skill-0", vec![other]),
        ErrorKind::Invalid,
        "none of the attempts",
    );
    let mut third = attempt.clone();
    let skills = &mut third.trajectory.injection.skills;
    let front: Vec<InjectedSkill> = (0..2)
        .map(|at| InjectedSkill {
            skill: skill_of(&format!("other-{at}"), "cut rope: cut rope").reference(),
            ..skills[0].clone()
        })
        .collect();
    skills.splice(0..0, front);
    let unsupported = ErrorKind::Unsupported;
    check_refused(
        &refine("skill-0", vec![third.clone()]),
        unsupported,
        "first two",
    );
    assert_eq!(
        prompt(&refine("skill-0", vec![third.clone(), attempt.clone()])),
        prompt(&refine("skill-0", vec![attempt.clone()]))
    );
    check_refused(&attribute(&third, 2), unsupported, "first two");
    check_refused(&attribute(&attempt, 7), ErrorKind::Invalid, "no such skill");
    // An unchanged skill is not a new version.
    let name = &scene.world.goal.target;
    let same = RoleTask::Refine {
        skill: Box::new(Skill {
            id: SkillId::new("skill-0"),
            ..skill_of("skill-0", &format!("{name}: {name}"))
        }),
        attempts: vec![attempt],
        failures: Vec::new(),
        rules: Vec::new(),
    };
    let answer = read(&same, &format!("{name}: {name}")).unwrap();
    assert!(matches!(answer, RoleAnswer::Nothing(_)), "{answer:?}");
}
