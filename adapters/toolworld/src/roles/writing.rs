//! Cases of the roles that write skills and lessons, and that decide on library changes.

use super::parts::{CaseParts, Drawn, NOTHING, Twist};
use super::rules::{self, reasoned_answer, with_rule_notes};
use crate::policy::{Exchange, Policy};
use crate::refusal::Refusal;
use crate::scene::{Advice, Scene};
use crate::script::Script;
use crate::seed::Draws;
use crate::simulate::{Outcome, Simulation, parse};
use crate::tool::{ANY_NOUN, Demand, RESULT_SLOT, Service, Setting, SkillText, TASK_SLOT};
use crate::world::{World, WorldSpec};

pub(super) fn extract(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let scene = match draws.weighted(&[50, 10, 40]) {
        0 => Scene::alone(spec, draws)?,
        1 => Scene::passing(spec, draws)?,
        _ => Scene::recount(spec, draws)?,
    };
    let said = shown(&scene)?;
    let done = scene.is_done();
    done.then(|| under_rules(scene.script, 0.35, Some(said), draws))
}

/// Adds rules with probability `share`, and writes the answer: the skill for a service, step by step under rules;
/// `none` without a service.
fn under_rules(
    script: Script,
    share: f64,
    service: Option<(Service, Vec<String>)>,
    draws: &mut Draws,
) -> CaseParts {
    let rules = if draws.chance(share) {
        rules::draw(draws)
    } else {
        Vec::new()
    };
    let answer = match service {
        None => NOTHING.to_owned(),
        Some((service, given)) if rules.is_empty() => SkillText::of(&service, &given).to_string(),
        Some((service, given)) => reasoned_answer(&rules, &service, &given),
    };
    let parts = CaseParts::of(with_rule_notes(script, &rules), answer);
    parts.with((!rules.is_empty()).then_some(Twist::Rules))
}

/// The skill that a finished attempt demonstrates, its calls in the order in which they were made.
pub(super) fn written(scene: &Scene) -> Option<SkillText> {
    let (service, given) = shown(scene)?;
    Some(SkillText::of(&service, &given))
}

pub(crate) fn shown(scene: &Scene) -> Option<(Service, Vec<String>)> {
    let mut service = scene.world.target()?.clone();
    service.contract.sort_by_key(|demand| {
        let name = demand.helper().map(ToString::to_string);
        let called = |exchange: &Exchange| Some(&exchange.call) == name.as_ref();
        scene.exchanges.iter().position(called)
    });
    Some((service, scene.world.given_names()))
}

pub(super) fn lesson(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let scene = if draws.chance(0.75) {
        Scene::failed(spec, draws)?
    } else {
        Scene::stopped(spec, draws)?
    };
    let last = scene.exchanges.last()?;
    let Outcome::Refused(refusal) = &last.reply.outcome else {
        return None;
    };
    let target = scene.world.target()?;
    let name = &target.tool.name;
    let flawed = abstracted(&scene, &last.call);
    let with = |parameter: &str, value: &str| {
        let (_, settings) = parse(&flawed).ok()?;
        let known = |name: &str| settings.iter().find(|setting| setting.parameter == name);
        Some(target.tool.call(|name| {
            if name == parameter {
                return Some(value);
            }
            known(name).map(|setting| setting.value.as_str())
        }))
    };
    let (should, principle) = match refusal {
        Refusal::NeedsCall(helper) => (
            helper.to_string(),
            Demand::Before(helper.clone()).note(name),
        ),
        Refusal::NeedsValue(setting) => (
            with(&setting.parameter, &setting.value)?,
            Demand::Exact(setting.clone()).note(name),
        ),
        Refusal::NeedsResult { parameter, source } => {
            let demand = Demand::Carried {
                parameter: parameter.clone(),
                source: source.clone(),
            };
            (source.to_string(), demand.note(name))
        }
        Refusal::WrongValue(parameter) => (
            with(parameter, TASK_SLOT)?,
            format!("{name} needs {parameter} {TASK_SLOT}"),
        ),
        _ => return None,
    };
    let number = scene.exchanges.len();
    let answer = format!("{number}: {flawed}; {should}; {principle}");
    Some(CaseParts::of(scene.script, answer))
}

/// A call whose values from the task or a result are replaced by slots.
fn abstracted(scene: &Scene, call: &str) -> String {
    let Ok((name, settings)) = parse(call) else {
        return call.to_owned();
    };
    let given = |wanted: &Setting| scene.world.goal.given.contains(wanted);
    let result = |wanted: &Setting| {
        scene.exchanges.iter().any(|exchange| {
            matches!(&exchange.reply.outcome, Outcome::Accepted(Some(setting)) if setting == wanted)
        })
    };
    let mut line = name.to_string();
    for setting in &settings {
        let value = match setting.value.as_str() {
            _ if given(setting) => TASK_SLOT,
            _ if result(setting) => RESULT_SLOT,
            value => value,
        };
        line.push_str(&format!(" {} {value}", setting.parameter));
    }
    line
}

pub(super) fn compare(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let mut world = World::make(spec, draws);
    if draws.chance(0.3) {
        world.add_parameter(draws);
    }
    let count = draws.between(2, 3);
    let shares = draws.chance(0.8);
    let mut script = Script::default().control("<s>", false);
    let mut disagree = false;
    let mut first = None;
    for number in 0..count {
        let next = if number == 0 {
            world.clone()
        } else if number + 1 == count && !shares {
            World::make(spec, draws)
        } else {
            world.again(spec, draws)?
        };
        let target = next.target()?.clone();
        // A passing demand of one attempt is not part of the shared skill.
        let passes = shares && draws.chance(0.3);
        disagree |= passes;
        let met = if passes {
            next.with_passing(spec, None, draws)?
        } else {
            next.clone()
        };
        let policy = if number == 0 && draws.chance(0.3) {
            Policy::novice(&met)?
        } else {
            Policy::follower(&met, &SkillText::of(&target, &next.given_names()))?
        };
        let mut simulation = Simulation::start(met, draws.below(usize::MAX) as u64);
        let exchanges = policy.run(&mut simulation, 8);
        let calls = exchanges.iter();
        let calls = calls.map(|exchange| (exchange.call.as_str(), exchange.reply.text.as_str()));
        script = script.compared(&next.query, calls);
        first.get_or_insert(Scene {
            world: next,
            advice: Vec::new(),
            used: None,
            exchanges,
            learned: Vec::new(),
            script: Script::default(),
        });
    }
    let shared = if shares { Some(shown(&first?)?) } else { None };
    let parts = under_rules(script, 0.3, shared, draws);
    Some(parts.with(disagree.then_some(Twist::Disagreement)))
}

pub(super) fn repair(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    if draws.chance(0.2) {
        let scene = Scene::too_broad(spec, draws)?;
        let advice = scene.advice.first()?;
        let name = &advice.service.tool.name;
        let broad = format!("{} {ANY_NOUN}", name.verb);
        let answer = advice.text.replacen(&broad, &name.to_string(), 1);
        return Some(CaseParts::of(scene.script, answer).about(0));
    }
    let scene = Scene::failing(spec, draws)?;
    let used = scene.used?;
    let stale = scene.advice.get(used)?;
    let now = corrected_service(&scene, stale)?;
    let given = scene.world.given_names();
    let outlived = scene.outlived(stale);
    let parts = under_rules(scene.script, 0.3, Some((now, given)), draws).about(used);
    Some(parts.with(outlived.then_some(Twist::Outlived)))
}

/// The corrected skill: each step at its earlier place, and a new one just before the last.
pub(super) fn corrected(scene: &Scene, stale: &Advice) -> Option<SkillText> {
    let now = corrected_service(scene, stale)?;
    Some(SkillText::of(&now, &scene.world.given_names()))
}

pub(crate) fn corrected_service(scene: &Scene, stale: &Advice) -> Option<Service> {
    let mut now = scene.world.target()?.clone();
    now.contract.sort_by_key(|demand| {
        let before = stale.service.contract.iter();
        let place = before.clone().position(|old| old.same_form(demand));
        place.unwrap_or(usize::MAX)
    });
    Some(now)
}

pub(super) fn curate(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let kind = draws.weighted(&[22, 15, 25, 20, 10, 8]);
    let scene = match kind {
        0 => Scene::alone(spec, draws)?,
        1 => Scene::irrelevant(spec, draws)?,
        2 => Scene::stale(spec, draws)?,
        3 => Scene::rivals(spec, draws)?,
        4 => Scene::right(spec, draws)?,
        _ => Scene::both(spec, draws)?,
    };
    let target = scene.world.target()?;
    let about_target = |advice: &&Advice| advice.service.tool.name == target.tool.name;
    let out_of_date = |advice: &Advice| {
        advice.service.tool.name == target.tool.name && advice.service.contract != target.contract
    };
    let relevant = scene.advice.iter().filter(about_target).count();
    let stale = scene.advice.iter().position(out_of_date);
    let answer = match (stale, relevant) {
        (Some(at), 2) => format!("delete {}", at + 1),
        (Some(at), _) => {
            let skill = corrected(&scene, scene.advice.get(at)?)?;
            format!("update {} {skill}", at + 1)
        }
        (None, 0) if target.is_hidden() => format!("insert {}", written(&scene)?),
        _ => "keep".to_owned(),
    };
    scene.is_done().then(|| CaseParts::of(scene.script, answer))
}
