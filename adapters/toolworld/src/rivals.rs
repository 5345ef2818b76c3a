//! Skills that do not fit: about another tool, or about a service as it once was.

use crate::lexicon::{NOUNS, value_for};
use crate::seed::Draws;
use crate::split::Split;
use crate::tool::{Demand, Service, Setting, SkillText, ToolName};
use crate::world::{ContractForm, World, WorldSpec, bare, fresh_name, make_target};

/// `count` skills about tools that are not the world's target, hard to tell from it. Of four, one shares its verb and
/// acts on another noun that the task's text names, one shares its verb, one shares its noun, and one calls the target
/// on the way to something else. Half of them take the parameters that the task gives.
#[must_use]
pub fn rivals(spec: &WorldSpec, world: &World, count: usize, draws: &mut Draws) -> Vec<SkillText> {
    let target = &world.goal.target;
    let mut taken = vec![target.clone()];
    let named = |word: &&str| NOUNS.contains(word) && **word != target.noun;
    let bystander = world.query.split_whitespace().find(named);
    let rival = |number: usize| {
        let other = bystander.filter(|_| matches!(number % 4, 0 | 3));
        let name = match (number % 4, other) {
            (0, Some(noun)) => beside(spec, target, noun, &mut taken, draws),
            (0 | 1, _) => fresh_name(spec, Some(&target.verb), None, &mut taken, draws),
            (2, _) => fresh_name(spec, None, Some(&target.noun), &mut taken, draws),
            (_, noun) => fresh_name(spec, None, noun, &mut taken, draws),
        };
        let form = ContractForm::draw_hidden(draws);
        let (mut service, mut given) = make_target(spec, name, form, &mut taken, draws);
        if number % 4 == 3 {
            service.contract.retain(|demand| demand.helper().is_none());
            service.contract.push(Demand::Before(target.clone()));
        }
        if draws.chance(0.5) {
            given = take_parameters(&mut service, given, &world.given_names());
        }
        SkillText::of(&service, &given)
    };
    (0..count).map(rival).collect()
}

/// The target's verb with a noun that the task's text names, or else that noun with another verb.
fn beside(
    spec: &WorldSpec,
    target: &ToolName,
    noun: &str,
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> ToolName {
    let name = ToolName::new(&target.verb, noun);
    if Split::of(&name.verb, &name.noun) != spec.split || taken.contains(&name) {
        return fresh_name(spec, None, Some(noun), taken, draws);
    }
    taken.push(name.clone());
    name
}

/// Renames the parameters that the tool's tasks give to those of another task, where the names are free.
fn take_parameters(service: &mut Service, given: Vec<String>, wanted: &[String]) -> Vec<String> {
    let mut names = Vec::new();
    for (number, old) in given.into_iter().enumerate() {
        let parameters = &mut service.tool.parameters;
        let new = wanted.get(number).filter(|new| !parameters.contains(new));
        if let (Some(new), Some(at)) = (new, parameters.iter().position(|name| *name == old)) {
            parameters.splice(at..=at, [new.clone()]);
            names.push(new.clone());
        } else {
            names.push(old);
        }
    }
    names
}

/// A skill about another tool; more than half are about one that is visible or shares a word with the target. The
/// row of a visible one is changed to fit.
#[must_use]
pub fn irrelevant_skill(spec: &WorldSpec, world: &mut World, draws: &mut Draws) -> SkillText {
    let mut taken: Vec<_> = world
        .services
        .iter()
        .map(|service| service.tool.name.clone())
        .collect();
    let target = world.goal.target.clone();
    let helpers: Vec<_> = world
        .target()
        .map(|service| {
            service
                .contract
                .iter()
                .filter_map(Demand::helper)
                .cloned()
                .collect()
        })
        .unwrap_or_default();
    let form = if draws.chance(0.85) {
        ContractForm::draw_hidden(draws)
    } else {
        ContractForm::Plain
    };
    let visible: Vec<usize> = (0..world.services.len())
        .filter(|&at| {
            world.services.get(at).is_some_and(|service| {
                service.tool.name != target && !helpers.contains(&service.tool.name)
            })
        })
        .collect();
    let (name, place) = match draws.weighted(&[30, 15, 15, 40]) {
        0 => match draws
            .pick(&visible)
            .and_then(|&at| Some((world.services.get(at)?.tool.name.clone(), at)))
        {
            Some((name, at)) => (name, Some(at)),
            None => (fresh_name(spec, None, None, &mut taken, draws), None),
        },
        1 => (
            fresh_name(spec, Some(&target.verb), None, &mut taken, draws),
            None,
        ),
        2 => (
            fresh_name(spec, None, Some(&target.noun), &mut taken, draws),
            None,
        ),
        _ => (fresh_name(spec, None, None, &mut taken, draws), None),
    };
    let (service, given) = make_target(spec, name, form, &mut taken, draws);
    let skill = SkillText::of(&service, &given);
    if let Some(shown) = place.and_then(|at| world.services.get_mut(at)) {
        *shown = Service::plain(service.tool);
    }
    skill
}

/// The skill of the service as it was before one of its demands changed or came up.
#[must_use]
pub fn stale_skill(spec: &WorldSpec, world: &mut World, draws: &mut Draws) -> Option<SkillText> {
    let mut taken: Vec<_> = world
        .services
        .iter()
        .map(|service| service.tool.name.clone())
        .collect();
    let given = world.given_names();
    let mut old = world.target()?.clone();
    let at = draws.below(old.contract.len());
    if draws.chance(0.25) {
        old.contract.remove(at);
        return Some(SkillText::of(&old, &given));
    }
    let mut gone = None;
    match old.contract.get_mut(at)? {
        Demand::Before(name) | Demand::Carried { source: name, .. } => {
            *name = fresh_name(spec, None, None, &mut taken, draws);
            gone = Some(name.clone());
        }
        Demand::Exact(Setting { parameter, value }) => {
            let now = value.clone();
            while *value == now {
                *value = value_for(parameter, draws);
            }
        }
    }
    if let Some(name) = gone {
        world.services.push(Service::plain(bare(name)));
        draws.shuffle(&mut world.services);
    }
    Some(SkillText::of(&old, &given))
}
