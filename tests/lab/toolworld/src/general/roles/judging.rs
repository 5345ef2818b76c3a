//! Cases of the roles attribute and bundle.

use journeyman::contract::RoleTask;

use super::answer::Answer;
use super::credit::{Credit, credit_of};
use super::stage::{Drawn, Stage};
use super::writing::recipe_of;
use crate::general::recipe::Recipe;
use crate::general::thoughts::shown_name;
use crate::scene::Scene;
use crate::seed::Draws;
use crate::simulate::Outcome;
use crate::tool::{ToolName, wire_name};

pub(super) fn attribute(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let spec = stage.spec;
    let scene = match draws.weighted(&[22, 14, 25, 12, 17, 10]) {
        0 => Scene::right(spec, draws)?,
        1 => Scene::both(spec, draws)?,
        2 => Scene::failing(spec, draws)?,
        3 => Scene::misled(spec, draws)?,
        4 => Scene::irrelevant(spec, draws)?,
        _ => Scene::cut_off(spec, draws)?,
    };
    let asked = draws.below(scene.advice.len());
    let credit = credit_of(&scene, asked)?;
    let advised = &scene.advice.get(asked)?.service.tool.name;
    let attempt = stage.attempt(&scene, draws);
    let name = |at: Option<usize>| {
        at.and_then(|at| attempt.skills.get(at))
            .map_or("none", shown_name)
    };
    let (followed, judged) = (name(scene.used), name(Some(asked)));
    let reason = match credit {
        _ if scene.used != Some(asked) => "It was not followed.".to_owned(),
        Credit::Harmful if *advised != scene.world.goal.target => {
            format!("It is about {} and was followed.", wire_name(advised))
        }
        Credit::Harmful => "It was followed, and a refusal asked for something else.".to_owned(),
        Credit::Helpful => "It was followed, and nothing of it was refused.".to_owned(),
        Credit::Neutral => "It says no more than the task.".to_owned(),
        Credit::Uncertain => "It was followed, and the task was not done.".to_owned(),
    };
    // Which skill was followed comes first, so that the judgement can be read off.
    let reason = format!("The agent followed {followed}; this is {judged}. {reason}");
    let task = RoleTask::Attribute {
        attempt: Box::new(attempt.trace()),
        skill: asked,
    };
    let answer = Answer::object([
        ("reason", reason.into()),
        ("scope", "".into()),
        ("judgement", credit.word().into()),
    ]);
    Some((task, answer))
}

pub(super) fn bundle(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let spec = stage.spec;
    let (scene, at) = match draws.weighted(&[40, 20, 20, 20]) {
        0 => (Scene::right(spec, draws)?, Some(0)),
        1 => {
            let scene = Scene::both(spec, draws)?;
            let at = draws.below(2);
            (scene, Some(at))
        }
        2 => (Scene::irrelevant(spec, draws)?, Some(0)),
        _ => (Scene::alone(spec, draws)?, None),
    };
    if !scene.is_done() {
        return None;
    }
    let attempt = stage.attempt(&scene, draws);
    let target = scene.world.target()?;
    // Where the attempt had no skill, the case is of the skill that it showed.
    let (skill, advised) = match at {
        Some(at) => (
            attempt.skills.get(at)?.clone(),
            scene.advice.get(at)?.service.tool.name.clone(),
        ),
        None => {
            let recipe = recipe_of(&scene)?;
            let draft = crate::general::skills::draft(&recipe);
            (
                crate::general::skills::of_draft(&draft),
                target.tool.name.clone(),
            )
        }
    };
    let name = shown_name(&skill).to_owned();
    let cases = match advised == target.tool.name {
        true => fitting(
            &scene,
            &Recipe::of(target, &scene.world.given_names()),
            &name,
        ),
        false => vec![a_case("negative", 0, format!("{name} does no harm here."))],
    };
    let task = RoleTask::Bundle {
        skill: Box::new(skill),
        attempt: Box::new(attempt.trace()),
    };
    Some((task, Answer::object([("cases", cases.into())])))
}

/// The cases of a skill at an attempt that it fits: from the last unbroken run of its calls on, and the whole task.
fn fitting(scene: &Scene, recipe: &Recipe, name: &str) -> Vec<Answer> {
    let of_recipe = |call: &str| {
        let called = ToolName::parse(call);
        called.is_some_and(|called| called == recipe.tool || recipe.before.contains(&called))
    };
    let refused = |outcome: &Outcome| matches!(outcome, Outcome::Refused(_));
    let mut from = scene.exchanges.len();
    for (index, exchange) in scene.exchanges.iter().enumerate().rev() {
        if refused(&exchange.reply.outcome) || !of_recipe(&exchange.call) {
            break;
        }
        from = index;
    }
    let whole = a_case(
        "integration",
        0,
        format!("The whole task is done with {name}."),
    );
    match from {
        0 => vec![whole],
        from => vec![
            a_case("unit", from, format!("The calls of {name} are made.")),
            whole,
        ],
    }
}

fn a_case(kind: &str, from: usize, about: String) -> Answer {
    Answer::object([
        ("kind", kind.into()),
        ("from", from.into()),
        ("about", about.into()),
    ])
}
