//! Cases of the roles that write skills: summarize, extract, refactor, refine.

use std::num::NonZeroUsize;

use journeyman::contract::RoleTask;
use journeyman::domain::Skill;

use super::answer::Answer;
use super::rules;
use super::stage::{Drawn, Stage};
use crate::general::attempt::Attempt;
use crate::general::manner::Manner;
use crate::general::recipe::Recipe;
use crate::general::skills::{draft, skill};
use crate::general::styles::{Style, insight, method};
use crate::policy::{Exchange, Policy};
use crate::scene::{Advice, Scene};
use crate::seed::Draws;
use crate::simulate::{Outcome, Simulation};
use crate::tool::{Service, SkillText, wire_name};
use crate::world::World;

/// What ARISE shows of an attempt in a summary, in characters (D.1).
const PAPER_CHARS: NonZeroUsize = NonZeroUsize::new(400).expect("not 0");
/// Greatest number of calls of an attempt that is compared.
const COMPARED: usize = 8;

/// A skill as an answer.
pub(super) fn written(recipe: &Recipe) -> Answer {
    let draft = draft(recipe);
    Answer::object([
        ("name", draft.title.into()),
        ("kind", "workflow".into()),
        ("description", draft.description.into()),
        ("trigger", draft.trigger.unwrap_or_default().into()),
        ("body", draft.body.into()),
    ])
}

/// The service that a finished attempt shows, its demands in the order in which they were met, and the parameters that the task gives.
pub(super) fn shown(scene: &Scene) -> Option<(Service, Vec<String>)> {
    let mut service = scene.world.target()?.clone();
    service.contract.sort_by_key(|demand| {
        let name = demand.helper().map(ToString::to_string);
        let called = |exchange: &Exchange| Some(&exchange.call) == name.as_ref();
        scene.exchanges.iter().position(called)
    });
    Some((service, scene.world.given_names()))
}

/// The service of a stale skill as it is now: each demand at its earlier place, and a new one last.
pub(super) fn corrected_service(scene: &Scene, stale: &Advice) -> Option<Service> {
    let mut now = scene.world.target()?.clone();
    now.contract.sort_by_key(|demand| {
        let before = stale.service.contract.iter();
        let place = before.clone().position(|old| old.same_form(demand));
        place.unwrap_or(usize::MAX)
    });
    Some(now)
}

/// The recipe that a finished attempt shows, its calls in the order in which they were made.
pub(super) fn recipe_of(scene: &Scene) -> Option<Recipe> {
    let (service, given) = shown(scene)?;
    Some(Recipe::of(&service, &given))
}

pub(super) fn extract(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let spec = stage.spec;
    let scene = match draws.weighted(&[36, 8, 30, 14, 12]) {
        0 => Scene::alone(spec, draws)?,
        1 => Scene::passing(spec, draws)?,
        2 => Scene::recount(spec, draws)?,
        3 => Scene::right(spec, draws)?,
        _ => Scene::irrelevant(spec, draws)?,
    };
    if !scene.is_done() {
        return None;
    }
    let (service, given) = shown(&scene)?;
    let refused = |exchange: &Exchange| matches!(exchange.reply.outcome, Outcome::Refused(_));
    let told = scene.used.is_some() && !scene.advice.is_empty();
    let kept = rules::some(draws);
    let answer = if told && !scene.exchanges.iter().any(refused) {
        Answer::nothing("The skill above says it already.")
    } else if !service.is_hidden() {
        Answer::nothing("What the task gives is enough.")
    } else {
        match rules::under(&kept, &service, &given) {
            Some(recipe) => written(&recipe),
            None => Answer::nothing("No such skill keeps the rules."),
        }
    };
    let attempt = stage.attempt(&scene, draws);
    let task = RoleTask::Extract {
        attempt: Box::new(attempt.trace()),
        candidate: draws.below(2) as u32,
        rules: rules::shown(&kept),
    };
    Some((task, answer))
}

pub(super) fn summarize(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let world = World::make(stage.spec, draws);
    let manner = Manner::named(draws);
    let count = draws.between(1, 2);
    let shown_chars = draws.chance(0.3).then_some(PAPER_CHARS);
    let mut attempts = Vec::new();
    for number in 0..count {
        // What was refused would not fit into the paper's length.
        let novice = (number > 0 || shown_chars.is_none()) && draws.chance(0.4);
        let attempt = played(stage, &world, &world, novice, manner.clone(), draws)?;
        let words: usize = attempt
            .steps
            .iter()
            .map(|step| step.transcript.len() + step.result.text.len() + 10)
            .sum();
        if number == 0 && shown_chars.is_some_and(|most| words > most.get()) {
            return None;
        }
        attempts.push(attempt.trace());
    }
    let recipe = Recipe::of(world.target()?, &world.given_names());
    let tool = &recipe.tool;
    let answer = Answer::object([
        ("skill_name", wire_name(tool).into()),
        ("problem_type", "general".into()),
        ("key_insight", insight(&recipe).into()),
        ("method", method(&recipe).into()),
        (
            "check",
            format!("The {} took the {} call", tool.noun, tool.verb).into(),
        ),
    ]);
    let task = RoleTask::Summarize {
        attempts,
        shown_chars,
        keeps_reasoning: false,
    };
    Some((task, answer))
}

/// An attempt at the task of `met` by an agent that finds out the contract, or by one that knows that of `world`.
fn played(
    stage: Stage<'_>,
    world: &World,
    met: &World,
    novice: bool,
    manner: Manner,
    draws: &mut Draws,
) -> Option<Attempt> {
    let target = world.target()?;
    let policy = match novice {
        true => Policy::novice(met)?,
        false => Policy::follower(met, &SkillText::of(target, &world.given_names()))?,
    };
    let mut simulation = Simulation::start(met.clone(), draws.below(usize::MAX) as u64);
    let exchanges = policy.run(&mut simulation, COMPARED);
    let learned = vec![false; exchanges.len()];
    Some(Attempt::acted(
        met,
        manner,
        (Vec::new(), None),
        None,
        (&exchanges, &learned),
        stage.prompt_format,
    ))
}

pub(super) fn refactor(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let spec = stage.spec;
    let world = World::make(spec, draws);
    let count = draws.between(2, 3);
    let shares = draws.chance(0.8);
    let mut attempts = Vec::new();
    for number in 0..count {
        let next = if number == 0 {
            world.clone()
        } else if number + 1 == count && !shares {
            World::make(spec, draws)
        } else {
            world.again(spec, draws)?
        };
        // A passing demand of one attempt is not part of what they share.
        let met = match shares && draws.chance(0.25) {
            true => next.with_passing(spec, None, draws)?,
            false => next.clone(),
        };
        let novice = number == 0 && draws.chance(0.3);
        let manner = Manner::named(draws);
        attempts.push(played(stage, &next, &met, novice, manner, draws)?.trace());
    }
    let kept = rules::some(draws);
    let target = world.target()?;
    let given = world.given_names();
    let recipe = Recipe::of(target, &given);
    let skills: Vec<Skill> = match shares && draws.chance(0.3) {
        true => vec![skill(&recipe, Style::draw(&recipe.tool, draws), draws)],
        false => Vec::new(),
    };
    let answer = match (shares, rules::under(&kept, target, &given)) {
        (false, _) => Answer::nothing("The attempts share no call."),
        (true, Some(recipe)) => written(&recipe),
        _ => Answer::nothing("No such skill keeps the rules."),
    };
    let reasons = [
        "The attempts call the same tools.",
        "Their tasks are alike.",
        "the same calls",
    ];
    let task = RoleTask::Refactor {
        attempts,
        skills,
        reason: draws.word(&reasons).to_owned(),
        group: "group".to_owned(),
        rules: rules::shown(&kept),
    };
    Some((task, answer))
}

pub(super) fn refine(stage: Stage<'_>, draws: &mut Draws) -> Drawn {
    let spec = stage.spec;
    match draws.weighted(&[70, 18, 12]) {
        0 => {
            let scene = Scene::failing(spec, draws)?;
            let used = scene.used?;
            let now = corrected_service(&scene, scene.advice.get(used)?)?;
            let given = scene.world.given_names();
            let kept = rules::some(draws);
            let answer = match rules::under(&kept, &now, &given) {
                Some(recipe) => mended(&recipe, "A refusal asked for something else."),
                None => Answer::nothing("No such skill keeps the rules."),
            };
            refining(stage, &scene, used, rules::shown(&kept), answer, draws)
        }
        1 => {
            let scene = Scene::too_broad(spec, draws)?;
            let advice = scene.advice.first()?;
            // The skill claims all tools of its verb, and was followed for another one than it is about.
            let recipe = Recipe::of(&advice.service, &scene.world.given_names());
            let answer = mended(&recipe, "It was followed for another tool.");
            refining(stage, &scene, 0, Vec::new(), answer, draws)
        }
        _ => {
            let scene = Scene::cut_off(spec, draws)?;
            let answer = Answer::nothing("A value of the task was wrong, not the skill.");
            refining(stage, &scene, 0, Vec::new(), answer, draws)
        }
    }
}

fn mended(recipe: &Recipe, change: &str) -> Answer {
    let draft = draft(recipe);
    Answer::object([
        ("change", change.into()),
        ("description", draft.description.into()),
        ("trigger", draft.trigger.unwrap_or_default().into()),
        ("body", draft.body.into()),
    ])
}

fn refining(
    stage: Stage<'_>,
    scene: &Scene,
    used: usize,
    rules: Vec<journeyman::domain::RoleRule>,
    answer: Answer,
    draws: &mut Draws,
) -> Drawn {
    let attempt = stage.attempt(scene, draws);
    let failures = match !attempt.done || draws.chance(0.3) {
        true => vec!["unit case: the task was not done".to_owned()],
        false => Vec::new(),
    };
    let task = RoleTask::Refine {
        skill: Box::new(attempt.skills.get(used)?.clone()),
        attempts: vec![attempt.trace()],
        failures,
        rules,
        whole: false,
    };
    Some((task, answer))
}
