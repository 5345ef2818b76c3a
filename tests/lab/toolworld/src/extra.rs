//! Extra demands: worlds whose target makes one demand beyond its lasting contract.

use crate::lexicon::{NUMBER_PARAMETERS, WORD_PARAMETERS};
use crate::passing::PassingKind;
use crate::seed::Draws;
use crate::tool::{Demand, Service, Tool, ToolName};
use crate::world::{World, WorldSpec, bare, fresh_name};

impl World {
    /// The same world with one extra demand of its target; the tool that the demand names is visible. `None` for a
    /// world without its target.
    #[must_use]
    pub fn with_passing(
        &self,
        spec: &WorldSpec,
        kind: Option<PassingKind>,
        draws: &mut Draws,
    ) -> Option<Self> {
        let mut world = self.clone();
        let names = world.services.iter().map(|service| &service.tool.name);
        let mut taken: Vec<ToolName> = names.cloned().collect();
        let given = world.given_names();
        let name = world.goal.target.clone();
        let target = world
            .services
            .iter_mut()
            .find(|service| service.tool.name == name)?;
        let extra = extra_demand(spec, target, &given, kind, &mut taken, draws);
        let helper = extra.helper().cloned();
        target
            .contract
            .insert(draws.below(target.contract.len() + 1), extra);
        let helper = helper.map(|name| Service::plain(bare(name)));
        world.services.extend(helper);
        draws.shuffle(&mut world.services);
        Some(world)
    }

    /// Gives the target a parameter that no task sets, so that a passing demand can ask for its value.
    pub(crate) fn add_parameter(&mut self, draws: &mut Draws) {
        let name = &self.goal.target;
        let mut services = self.services.iter_mut();
        if let Some(target) = services.find(|service| service.tool.name == *name) {
            add_parameter(&mut target.tool, draws);
        }
    }
}

/// Adds a parameter that no task and no contract sets.
pub(crate) fn add_parameter(tool: &mut Tool, draws: &mut Draws) {
    let names = NUMBER_PARAMETERS.iter().chain(WORD_PARAMETERS);
    let free = names.filter(|name| !tool.parameters.iter().any(|known| known == *name));
    let free: Vec<&&str> = free.collect();
    if let Some(name) = draws.pick(&free) {
        let at = draws.below(tool.parameters.len() + 1);
        tool.parameters.insert(at, (**name).to_owned());
    }
}

/// A new demand for the service: a call of a new tool; or a value from that tool's result, where the service has no
/// carried value yet and has a parameter that no task sets.
pub(crate) fn extra_demand(
    spec: &WorldSpec,
    service: &Service,
    given: &[String],
    kind: Option<PassingKind>,
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> Demand {
    let helper = fresh_name(spec, None, None, taken, draws);
    let mut carries = service.contract.iter();
    let carries = carries.any(|demand| matches!(demand, Demand::Carried { .. }));
    let demanded = |name: &str| {
        let mut contract = service.contract.iter();
        contract.any(|demand| demand.parameter() == Some(name))
    };
    let parameters = service.tool.parameters.iter();
    let free = parameters.filter(|name| !given.contains(name) && !demanded(name));
    let free: Vec<&String> = free.collect();
    let wanted = match kind {
        Some(kind) => kind == PassingKind::Value,
        // Few tools have a parameter that no task sets.
        None => draws.chance(0.8),
    };
    match draws.pick(&free) {
        Some(parameter) if wanted && !carries => Demand::Carried {
            parameter: (*parameter).clone(),
            source: helper,
        },
        _ => Demand::Before(helper),
    }
}
