//! Skills that do not fit a task: about another tool, or about an earlier state of a service.

use crate::extra::extra_demand;
use crate::form::ContractForm;
use crate::lexicon::{NOUNS, value_for};
use crate::seed::Draws;
use crate::tool::{Demand, Service, Setting, SkillText, ToolName};
use crate::world::{World, WorldSpec, bare, fresh_name, make_target};

/// `count` skills about tools that are not the world's target and are hard to tell from it. Of each four, two share its
/// verb, one shares its noun, and one calls the target as a step towards something else. Where the task's text names
/// another noun, the first of the four acts on it. Half of them use the parameters that the task gives.
#[must_use]
pub fn rivals(spec: &WorldSpec, world: &World, count: usize, draws: &mut Draws) -> Vec<SkillText> {
    let target = &world.goal.target;
    let mut taken = vec![target.clone()];
    let named = |word: &&str| NOUNS.contains(word) && **word != target.noun;
    let bystander = world.query.split_whitespace().find(named);
    let rival = |number: usize| {
        let near = bystander
            .filter(|_| number.is_multiple_of(4))
            .and_then(|noun| beside(target, noun, &mut taken));
        let name = near.unwrap_or_else(|| match number % 4 {
            0 | 1 => fresh_name(spec, Some(&target.verb), None, &mut taken, draws),
            2 => fresh_name(spec, None, Some(&target.noun), &mut taken, draws),
            _ => fresh_name(spec, None, bystander, &mut taken, draws),
        });
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

/// The target's verb with a noun of the task's text. The name may lie on either side of the split: it belongs to a
/// candidate skill, not to a tool.
fn beside(target: &ToolName, noun: &str, taken: &mut Vec<ToolName>) -> Option<ToolName> {
    let name = ToolName::new(&target.verb, noun);
    let free = !taken.contains(&name);
    taken.push(name.clone());
    free.then_some(name)
}

/// Renames the parameters that the tool's tasks give to the `wanted` ones, where those names are free.
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

/// A skill about another tool with its own contract. More than half of these tools are visible or share a word with the
/// target. The usage line of a visible one is changed to fit.
#[must_use]
pub fn irrelevant_skill(spec: &WorldSpec, world: &mut World, draws: &mut Draws) -> SkillText {
    let (service, given) = irrelevant_service(spec, world, draws);
    SkillText::of(&service, &given)
}

/// Another tool with its own contract, and the parameters that its tasks give. More than half of these tools are
/// visible or share a word with the target. The usage line of a visible one is changed to fit.
pub(crate) fn irrelevant_service(
    spec: &WorldSpec,
    world: &mut World,
    draws: &mut Draws,
) -> (Service, Vec<String>) {
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
    if let Some(shown) = place.and_then(|at| world.services.get_mut(at)) {
        *shown = Service::plain(service.tool.clone());
    }
    (service, given)
}

/// The target before one of its demands was changed, added or removed, with that demand's helper. `None` for a target
/// without demands.
#[must_use]
pub fn stale_service(spec: &WorldSpec, world: &mut World, draws: &mut Draws) -> Option<Service> {
    let mut taken: Vec<_> = world
        .services
        .iter()
        .map(|service| service.tool.name.clone())
        .collect();
    let mut old = world.target()?.clone();
    // With both a first call and a carried value, changing the source would make both helpers answer alike, and the
    // answers would not show which demand is out of date; so the first call is changed.
    let firsts = old
        .contract
        .iter()
        .position(|demand| matches!(demand, Demand::Before(_)));
    let carries = |demand: &Demand| matches!(demand, Demand::Carried { .. });
    let at = match firsts {
        Some(first) if old.contract.iter().any(carries) => first,
        _ if old.contract.is_empty() => return None,
        _ => draws.below(old.contract.len()),
    };
    if draws.chance(0.25) {
        old.contract.remove(at);
        return Some(old);
    }
    if draws.chance(0.25) {
        if draws.chance(0.4) {
            world.add_parameter(draws);
            old.tool = world.target()?.tool.clone();
        }
        // The tool of the removed demand is not visible any more: calling it shows that the skill is out of date.
        // Beside a helper of another form this demand comes last; otherwise an attempt that stops there would not show
        // which of the two gave the value.
        let gone = extra_demand(spec, &old, &world.given_names(), None, &mut taken, draws);
        let other = |known: &Demand| known.helper().is_some() && !known.same_form(&gone);
        let at = if old.contract.iter().any(other) {
            old.contract.len()
        } else {
            draws.below(old.contract.len() + 1)
        };
        old.contract.insert(at, gone);
        return Some(old);
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
    Some(old)
}
