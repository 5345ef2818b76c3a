//! Cases of the roles that judge: the effect of a skill, the purpose of a step, the quality of a call, the subject of a
//! task, the rule behind outcomes.

use super::parts::{CaseParts, Drawn, NOTHING, Twist};
use super::role::Credit;
use super::rules::{Feature, Rule, outcomes_script};
use crate::lexicon::value_for;
use crate::policy::{Exchange, Policy};
use crate::refusal::Refusal;
use crate::scene::Scene;
use crate::script::Script;
use crate::seed::Draws;
use crate::simulate::{Outcome, Simulation};
use crate::tool::{DEFAULT_SLOT, Demand, Service, SkillText, ToolName};
use crate::world::{World, WorldSpec};

pub(super) fn credit(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let scene = match draws.weighted(&[22, 14, 25, 12, 17, 10]) {
        0 => Scene::right(spec, draws)?,
        1 => Scene::both(spec, draws)?,
        2 => Scene::failing(spec, draws)?,
        3 => Scene::misled(spec, draws)?,
        4 => Scene::irrelevant(spec, draws)?,
        _ => Scene::cut_off(spec, draws)?,
    };
    let asked = draws.below(scene.advice.len());
    let answer = credit_of(&scene, asked)?.word().to_owned();
    let outlived = scene.used == Some(asked) && scene.outlived(scene.advice.get(asked)?);
    let parts = CaseParts::of(scene.script, answer).about(asked);
    Some(parts.with(outlived.then_some(Twist::Outlived)))
}

/// The true effect of a skill on an attempt.
pub(crate) fn credit_of(scene: &Scene, asked: usize) -> Option<Credit> {
    let advised = &scene.advice.get(asked)?.service;
    let target = scene.world.target()?;
    if scene.used != Some(asked) {
        return Some(Credit::Neutral);
    }
    if advised.tool.name != target.tool.name {
        return Some(Credit::Harmful);
    }
    let stale = |demand: &&Demand| !target.contract.contains(demand);
    let mut contradictions = advised.contract.iter().filter(stale);
    let refused = |wanted: &Demand| {
        scene.exchanges.iter().any(|exchange| {
            let Outcome::Refused(refusal) = &exchange.reply.outcome else {
                return false;
            };
            match (refusal, wanted) {
                (Refusal::NeedsCall(_), Demand::Before(_)) => true,
                (Refusal::NeedsValue(now), Demand::Exact(old)) => now.parameter == old.parameter,
                (
                    Refusal::NeedsResult { parameter: now, .. },
                    Demand::Carried { parameter, .. },
                ) => now == parameter,
                (Refusal::UnknownTool(gone), wanted) => Some(gone) == wanted.helper(),
                _ => false,
            }
        })
    };
    Some(if !advised.is_hidden() {
        Credit::Neutral
    } else if contradictions.any(refused) {
        Credit::Harmful
    } else if scene.is_done() {
        Credit::Helpful
    } else {
        Credit::Uncertain
    })
}

pub(super) fn segment(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let scene = match draws.weighted(&[50, 25, 25]) {
        0 => Scene::alone(spec, draws)?,
        1 => Scene::right(spec, draws)?,
        _ => Scene::irrelevant(spec, draws)?,
    };
    if scene.exchanges.len() == 1 && draws.chance(0.8) {
        return None;
    }
    let contract = &scene.world.target()?.contract;
    let mut spans: Vec<(&str, usize, usize)> = Vec::new();
    for (number, exchange) in (1..).zip(&scene.exchanges) {
        let kind = subgoal(contract, exchange);
        match spans.last_mut() {
            Some((before, _, last)) if *before == kind => *last = number,
            _ => spans.push((kind, number, number)),
        }
    }
    let spans = spans
        .iter()
        .map(|(kind, first, last)| format!("{kind} {first} {last}"));
    let answer = spans.collect::<Vec<_>>().join("; ");
    Some(CaseParts::of(scene.script, answer))
}

/// The purpose of a step.
pub(crate) fn subgoal(contract: &[Demand], exchange: &Exchange) -> &'static str {
    match &exchange.reply.outcome {
        Outcome::Done => "finish",
        Outcome::Accepted(Some(_)) => "collect",
        Outcome::Accepted(None) => {
            let called = ToolName::parse(&exchange.call);
            let needed = contract
                .iter()
                .any(|demand| demand.helper() == called.as_ref());
            if needed { "prepare" } else { "stray" }
        }
        Outcome::Refused(
            Refusal::NeedsCall(_) | Refusal::NeedsValue(_) | Refusal::NeedsResult { .. },
        ) => "probe",
        Outcome::Refused(_) => "stray",
    }
}

pub(super) fn tag(spec: &WorldSpec, draws: &mut Draws) -> CaseParts {
    let world = World::make(spec, draws);
    let mut tags = vec![world.goal.target.to_string()];
    tags.extend(world.given_names());
    CaseParts::of(Script::task(&world.query), tags.join("; "))
}

pub(super) fn score(spec: &WorldSpec, draws: &mut Draws) -> Drawn {
    let world = World::make(spec, draws);
    let target = world.target()?;
    let skill = SkillText::of(target, &world.given_names());
    let before = target.contract.iter().find_map(|demand| match demand {
        Demand::Before(name) => Some(name.to_string()),
        _ => None,
    });
    let demanded = target.contract.iter().find_map(|demand| match demand {
        Demand::Before(_) => None,
        Demand::Exact(setting) => Some(("fixed", setting.parameter.as_str())),
        Demand::Carried { parameter, .. } => Some(("carried", parameter.as_str())),
    });
    let given = world.goal.given.first();
    let given = given.map(|setting| ("given", setting.parameter.as_str()));
    let mut flaws: Vec<&str> = Vec::new();
    flaws.extend(before.is_some().then_some("first"));
    flaws.extend(demanded.map(|(flaw, _)| flaw));
    flaws.extend(given.map(|(flaw, _)| flaw));
    draws.shuffle(&mut flaws);
    let wanted = draws.below(4);
    flaws.truncate(3 - wanted.max(1));
    let points = 3 - flaws.len();
    if wanted == 0 {
        flaws.clear();
    }
    let mut simulation = Simulation::start(world.clone(), draws.below(usize::MAX) as u64);
    let mut policy = Policy::follower(&world, &skill)?;
    let mut script = Script::task(&world.query).note(&skill.to_string());
    for step in skill.steps.split_last()?.1 {
        if flaws.contains(&"first") && before.as_ref() == Some(step) {
            continue;
        }
        let reply = simulation.call(step);
        policy.hear(&reply);
        script = script.call(step, false).reply(&reply.text);
    }
    let mut call = policy.target_call();
    if wanted == 0 {
        let idle = world.services.iter();
        let idle: Vec<&Service> = idle
            .filter(|service| service.tool.name != world.goal.target)
            .collect();
        call = draws.pick(&idle)?.tool.usage();
    }
    for (flaw, parameter) in demanded.into_iter().chain(given) {
        if flaws.contains(&flaw) {
            call = flawed_call(&call, parameter, draws)?;
        }
    }
    let script = script.control("<call>", false).text(&call, false);
    if wanted == 0 {
        return Some(CaseParts::of(script, "other 0".to_owned()));
    }
    let word = |bad: bool| if bad { "bad" } else { "good" };
    let first = word(flaws.contains(&"first"));
    let first = before.map(|_| format!("first {first}"));
    let items = target.tool.parameters.iter().map(|parameter| {
        let mut judged = demanded.into_iter().chain(given);
        let bad = judged.any(|(flaw, name)| name == parameter && flaws.contains(&flaw));
        format!("{parameter} {}", word(bad))
    });
    let items = first.into_iter().chain(items);
    let items: Vec<String> = items.chain([points.to_string()]).collect();
    Some(CaseParts::of(script, items.join(" ")))
}

/// The call with a wrong value for a parameter, or with its default.
fn flawed_call(call: &str, parameter: &str, draws: &mut Draws) -> Option<String> {
    let mut words: Vec<String> = call.split_whitespace().map(str::to_owned).collect();
    let at = words
        .iter()
        .skip(2)
        .step_by(2)
        .position(|word| word == parameter)?;
    let value = words.get_mut(2 * at + 3)?;
    let old = value.clone();
    while *value == old {
        *value = if draws.chance(0.3) {
            DEFAULT_SLOT.to_owned()
        } else {
            value_for(parameter, draws)
        };
    }
    Some(words.join(" "))
}

pub(super) fn rule(draws: &mut Draws) -> Drawn {
    let draw_rule = |draws: &mut Draws| Rule {
        feature: *draws.pick(&Feature::ALL).unwrap_or(&Feature::First),
        prefer: draws.chance(0.5),
    };
    let truth = draw_rule(draws);
    let lawless = draws.chance(0.18);
    let count = draws.between(5, 8);
    let rows: Vec<(Vec<Feature>, bool)> = (0..count)
        .map(|_| {
            let mut has = Feature::ALL.to_vec();
            has.retain(|_| draws.chance(0.4));
            let good = if lawless {
                draws.chance(0.5)
            } else {
                truth.fits(&has)
            };
            (has, good)
        })
        .collect();
    // Exactly one possible rule must fit, or none at all, and both outcomes must occur.
    let both = rows.iter().any(|(_, good)| *good) && rows.iter().any(|(_, good)| !*good);
    let rules = Feature::ALL.into_iter().flat_map(Rule::about);
    let fitting: Vec<Rule> = rules
        .filter(|rule| rows.iter().all(|(has, good)| rule.fits(has) == *good))
        .collect();
    let answer = match (fitting.as_slice(), lawless) {
        ([rule], false) => rule.to_string(),
        ([], true) => NOTHING.to_owned(),
        _ => return None,
    };
    both.then(|| CaseParts::of(outcomes_script(&rows), answer))
}
