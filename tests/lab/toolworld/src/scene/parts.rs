//! The skills of attempts, and the mistakes that agents make.

use crate::form::ContractForm;
use crate::lexicon::value_for;
use crate::policy::{Exchange, Policy};
use crate::rivals::{irrelevant_service, stale_service};
use crate::seed::Draws;
use crate::tool::{Demand, Service};
use crate::world::{World, WorldSpec, fresh_name};

/// What a skill in the prompt of an attempt says.
#[derive(Debug, Clone)]
pub(crate) struct Advice {
    /// The service that it describes.
    pub(crate) service: Service,
    /// The parameters whose values it takes from the task; `None` where it states the service's demands alone.
    pub(crate) given: Option<Vec<String>>,
    /// Whether it claims all tools of its verb.
    pub(crate) broad: bool,
}

impl Advice {
    /// How the tool is called.
    pub(crate) fn steps(service: Service, given: Vec<String>) -> Self {
        Self {
            service,
            given: Some(given),
            broad: false,
        }
    }

    /// How the tool is called, or sometimes its demands alone.
    fn any_form(service: Service, given: Vec<String>, draws: &mut Draws) -> Self {
        let demands_alone = service.is_hidden() && draws.chance(0.12);
        let mut advice = Self::steps(service, given);
        if demands_alone {
            advice.given = None;
        }
        advice
    }
}

pub(super) fn right(world: &World, draws: &mut Draws) -> Option<Advice> {
    let target = world.target()?.clone();
    Some(Advice::any_form(target, world.given_names(), draws))
}

pub(super) fn irrelevant(spec: &WorldSpec, world: &mut World, draws: &mut Draws) -> Advice {
    let (service, given) = irrelevant_service(spec, world, draws);
    Advice::any_form(service, given, draws)
}

pub(super) fn stale(spec: &WorldSpec, draws: &mut Draws) -> Option<(World, Advice)> {
    let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let old = stale_service(spec, &mut world, draws)?;
    let given = world.given_names();
    Some((world, Advice::steps(old, given)))
}

/// Both in random order, and the index of the first one.
pub(super) fn either_order(one: Advice, other: Advice, draws: &mut Draws) -> (Vec<Advice>, usize) {
    if draws.chance(0.5) {
        (vec![one, other], 0)
    } else {
        (vec![other, one], 1)
    }
}

/// A mistaken call: a wrong value, a wrong tool, the last call again, or a tool that does not exist.
pub(super) fn mistake(
    spec: &WorldSpec,
    world: &World,
    advice: &[Advice],
    policy: &Policy,
    exchanges: &[Exchange],
    draws: &mut Draws,
) -> String {
    let right = policy.target_call();
    match draws.below(4) {
        0 => {
            let wrong = world.goal.given.first().map(|setting| {
                let value = value_for(&setting.parameter, draws);
                right.replace(
                    &format!(" {} {}", setting.parameter, setting.value),
                    &format!(" {} {value}", setting.parameter),
                )
            });
            wrong.unwrap_or(right)
        }
        1 => {
            let contract = world.target().map_or(&[][..], |target| &target.contract);
            let helps = |service: &Service| {
                let name = Some(&service.tool.name);
                contract.iter().any(|demand| Demand::helper(demand) == name)
            };
            let named = |service: &Service| {
                let mut titles = advice.iter().map(|advice| &advice.service.tool.name);
                titles.any(|title| *title == service.tool.name)
            };
            let idle = |service: &&Service| {
                service.tool.name != world.goal.target && !helps(service) && !named(service)
            };
            let others: Vec<&Service> = world.services.iter().filter(idle).collect();
            draws
                .pick(&others)
                .map_or(right, |service| service.tool.usage())
        }
        2 if !exchanges.is_empty() => exchanges
            .last()
            .map_or(right, |exchange| exchange.call.clone()),
        _ => {
            let shown = world.services.iter();
            let mut taken: Vec<_> = shown.map(|service| service.tool.name.clone()).collect();
            fresh_name(spec, Some(&world.goal.target.verb), None, &mut taken, draws).to_string()
        }
    }
}
