//! Cases of the roles curate, tag, lesson and distil-bank.

use journeyman::Category;
use journeyman::contract::{Finding, RoleTask, Taught};
use journeyman::domain::{Lesson, Skill, SkillDraft, Task};

use super::answer::Answer;
use super::stage::{Drawn, Stage};
use super::writing::{corrected_service, recipe_of, shown};
use crate::general::recipe::Recipe;
use crate::general::skills::{draft, of_draft};
use crate::general::styles::insight;
use crate::refusal::Refusal;
use crate::scene::{Advice, Scene};
use crate::seed::Draws;
use crate::simulate::Outcome;
use crate::tool::{Setting, ToolName, wire_name};
use crate::world::World;

pub(super) fn curate(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let spec = stage.spec;
    let scene = match draws.weighted(&[22, 15, 25, 20, 10, 8]) {
        0 => Scene::alone(spec, draws)?,
        1 => Scene::irrelevant(spec, draws)?,
        2 => Scene::stale(spec, draws)?,
        3 => Scene::rivals(spec, draws)?,
        4 => Scene::right(spec, draws)?,
        _ => Scene::both(spec, draws)?,
    };
    if !scene.is_done() {
        return None;
    }
    let target = scene.world.target()?;
    let about_target = |advice: &&Advice| advice.service.tool.name == target.tool.name;
    let out_of_date = |advice: &Advice| {
        advice.service.tool.name == target.tool.name && advice.service.contract != target.contract
    };
    let relevant = scene.advice.iter().filter(about_target).count();
    let stale = scene.advice.iter().position(out_of_date);
    let attempt = stage.attempt(&scene, draws);
    let name = |at: usize| {
        attempt
            .skills
            .get(at)
            .map(|skill| skill.name.as_str().to_owned())
    };
    let call = match (stale, relevant) {
        (Some(at), 2) => Some(called(
            "delete_skill",
            Answer::object([
                ("skill", name(at)?.into()),
                ("reason", "A refusal speaks against it.".into()),
            ]),
        )),
        (Some(at), _) => {
            let now = corrected_service(&scene, scene.advice.get(at)?)?;
            let written = draft(&Recipe::of(&now, &scene.world.given_names()));
            Some(called(
                "update_skill",
                Answer::object([
                    ("skill", name(at)?.into()),
                    ("description", written.description.into()),
                    ("body", written.body.into()),
                ]),
            ))
        }
        (None, 0) if target.is_hidden() => {
            let written = draft(&recipe_of(&scene)?);
            Some(called(
                "insert_skill",
                Answer::object([
                    ("name", written.title.into()),
                    ("description", written.description.into()),
                    ("body", written.body.into()),
                ]),
            ))
        }
        _ => None,
    };
    let task = RoleTask::Curate {
        correct: [Some(true), None].get(draws.weighted(&[80, 20])).copied()?,
        skills: attempt.skills.clone(),
        attempt: Box::new(attempt.trace()),
    };
    let calls: Vec<Answer> = call.into_iter().collect();
    Some((task, Answer::object([("calls", calls.into())])))
}

fn called(tool: &str, arguments: Answer) -> Answer {
    Answer::object([("tool", tool.into()), ("arguments", arguments)])
}

pub(super) fn tag(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let world = World::make(stage.spec, draws);
    let ToolName { verb, noun } = &world.goal.target;
    let mut tags = vec![format!("{verb} {noun}")];
    tags.extend(world.given_names());
    let task = RoleTask::Tag {
        task: Box::new(Task::new("task", world.query.clone())),
    };
    Some((task, Answer::object([("tags", tags.into())])))
}

pub(super) fn lesson(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let scene = match draws.chance(0.75) {
        true => Scene::failed(stage.spec, draws)?,
        false => Scene::stopped(stage.spec, draws)?,
    };
    let lesson = lesson_of(&scene)?;
    let task = RoleTask::Lesson {
        attempt: Box::new(stage.attempt(&scene, draws).trace()),
    };
    let answer = Answer::object([
        ("step", lesson.step.into()),
        ("flawed", lesson.flawed.into()),
        ("should", lesson.should.into()),
        ("principle", lesson.principle.into()),
    ]);
    Some((task, answer))
}

/// What the refusal teaches at which an attempt ended.
fn lesson_of(scene: &Scene) -> Option<Lesson> {
    let Outcome::Refused(refusal) = &scene.exchanges.last()?.reply.outcome else {
        return None;
    };
    let tool = wire_name(&scene.world.target()?.tool.name);
    let (flawed, should, principle) = match refusal {
        Refusal::NeedsCall(helper) => {
            let helper = wire_name(helper);
            (
                format!("{tool} was called without {helper}."),
                format!("Call {helper}, then {tool}."),
                format!("{tool} needs {helper} first."),
            )
        }
        Refusal::NeedsValue(Setting { parameter, value }) => (
            format!("{tool} was called without {parameter} {value}."),
            format!("Call {tool} with {parameter} {value}."),
            format!("{tool} needs {parameter} {value}."),
        ),
        Refusal::NeedsResult { parameter, source } => {
            let source = wire_name(source);
            (
                format!("{tool} was called without the {parameter} of {source}."),
                format!("Call {source}, then {tool} with its {parameter}."),
                format!("{tool} needs {parameter} from {source}."),
            )
        }
        Refusal::WrongValue(parameter) => (
            format!("{tool} was called with another {parameter} than the task gives."),
            format!("Call {tool} with the {parameter} of the task."),
            format!("{tool} needs {parameter} from the task."),
        ),
        _ => return None,
    };
    Some(Lesson::new(
        scene.exchanges.len() - 1,
        flawed,
        should,
        principle,
    ))
}

pub(super) fn distil_bank(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let mut findings = Vec::new();
    let mut skills: Vec<Skill> = Vec::new();
    let mut answers = Vec::new();
    for _ in 0..draws.between(1, 3) {
        let (scene, principle, taught) = finding(stage, draws)?;
        let tool = &scene.world.goal.target;
        findings.push(Finding::new(scene.world.query.clone(), taught));
        let title = format!("{} {}", tool.verb, tool.noun);
        let when = format!("A task asks to {} the {}.", tool.verb, tool.noun);
        let refines = match draws.weighted(&[60, 20, 20]) {
            0 => None,
            // A skill that says it already, and one that a finding speaks against.
            1 => {
                skills.push(bank_skill(&title, &principle, &when));
                continue;
            }
            _ => {
                let vague = format!("{} needs nothing first.", wire_name(tool));
                skills.push(bank_skill(&title, &vague, &when));
                Some(skills.len())
            }
        };
        answers.push(Answer::object([
            ("title", title.into()),
            ("principle", principle.into()),
            ("when_to_apply", when.into()),
            (
                "refines",
                refines.map_or(Answer::Value(serde_json::Value::Null), Answer::from),
            ),
        ]));
    }
    let task = RoleTask::DistilBank {
        category: draws.chance(0.5).then(|| Category::new("services")),
        findings,
        skills,
    };
    Some((task, Answer::object([("skills", answers.into())])))
}

/// A scene with the principle that it teaches, as a pattern or a lesson.
fn finding(stage: Stage<'_>, draws: &mut Draws) -> Option<(Scene, String, Taught)> {
    if draws.chance(0.5) {
        let scene = Scene::failed(stage.spec, draws)?;
        let lesson = lesson_of(&scene)?;
        return Some((scene, lesson.principle.clone(), Taught::Lesson(lesson)));
    }
    let scene = Scene::alone(stage.spec, draws)?;
    let (service, given) = shown(&scene)?;
    if !scene.is_done() || !service.is_hidden() {
        return None;
    }
    let pattern = format!("{}.", insight(&Recipe::of(&service, &given)));
    Some((scene, pattern.clone(), Taught::Pattern(pattern)))
}

/// A skill of a bank: its principle is its body.
fn bank_skill(title: &str, principle: &str, when: &str) -> Skill {
    let mut draft = SkillDraft::new(title, when, principle);
    draft.kind = journeyman::domain::Kind::Knowledge;
    let mut made = of_draft(&draft);
    made.original_name = Some(title.to_owned());
    made
}
