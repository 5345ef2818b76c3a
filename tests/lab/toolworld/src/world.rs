//! Making worlds: a target tool with its contract, its helpers, and distractors that share its verb or its noun.

use serde::{Deserialize, Serialize};

use crate::form::ContractForm;
use crate::lexicon::{
    NOUNS, NUMBER_PARAMETERS, VERBS, WORD_PARAMETERS, foreign_words, invented_noun, value_for,
};
use crate::refusal::Wording;
use crate::request::{Goal, Request};
use crate::seed::Draws;
use crate::split::Split;
use crate::tool::{Demand, Service, Setting, Tool, ToolName};

/// How worlds are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorldSpec {
    /// The side of the split that tools come from.
    pub split: Split,
    /// Minimum number of visible tools; a contract with two helpers shows at least three.
    pub fewest_tools: usize,
    /// Maximum number of visible tools.
    pub most_tools: usize,
    /// The share of invented nouns, from 0 to 1.
    pub invented_nouns: f64,
    /// The share of worlds whose target has a hidden contract, from 0 to 1.
    pub hidden: f64,
    /// The weights of tasks that give no value, one, two, three and four values; only their ratios count.
    pub given: [u32; 5],
    /// The share of tasks whose text begins or ends with words outside all lists, from 0 to 1.
    pub foreign_words: f64,
    /// How services word their refusals.
    pub wording: Wording,
}

impl Default for WorldSpec {
    fn default() -> Self {
        Self {
            split: Split::HeldOut,
            fewest_tools: 3,
            most_tools: 5,
            invented_nouns: 0.05,
            hidden: 0.8,
            given: [25, 50, 25, 0, 0],
            foreign_words: 0.0,
            wording: Wording::Needs,
        }
    }
}

impl WorldSpec {
    /// Worlds of 3 to 8 tools with a quarter of their nouns invented, refusals in any of the wordings.
    #[must_use]
    pub fn wide(draws: &mut Draws) -> Self {
        Self {
            fewest_tools: 3,
            most_tools: 8,
            invented_nouns: 0.25,
            wording: draws.pick(&Wording::ALL).copied().unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// A world: services, a goal and the task's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct World {
    /// The visible tools with their contracts, in the order shown.
    pub services: Vec<Service>,
    /// The goal of the task.
    pub goal: Goal,
    /// The task's text.
    pub query: String,
    /// How services word their refusals.
    pub wording: Wording,
}

impl World {
    /// Makes a world; the same draws give the same world.
    #[must_use]
    pub fn make(spec: &WorldSpec, draws: &mut Draws) -> Self {
        let form = if draws.chance(spec.hidden) {
            ContractForm::draw_hidden(draws)
        } else {
            ContractForm::Plain
        };
        Self::with_form(spec, form, draws)
    }

    /// Makes a world whose target has a contract of the given form.
    #[must_use]
    pub fn with_form(spec: &WorldSpec, form: ContractForm, draws: &mut Draws) -> Self {
        let mut taken = Vec::new();
        let name = fresh_name(spec, None, None, &mut taken, draws);
        let (target, given) = make_target(spec, name, form, &mut taken, draws);
        Self::around(spec, target, &given, &mut taken, draws)
    }

    /// Another task about the same service, with other words, values and visible tools. `None` for a world without its
    /// target.
    #[must_use]
    pub fn again(&self, spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let target = self.target()?.clone();
        let mut taken = vec![target.tool.name.clone()];
        taken.extend(target.contract.iter().filter_map(Demand::helper).cloned());
        Some(Self::around(
            spec,
            target,
            &self.given_names(),
            &mut taken,
            draws,
        ))
    }

    /// A world about a given service: with its helpers, new distractors, values for the parameters `given`, and a text.
    fn around(
        spec: &WorldSpec,
        target: Service,
        given: &[String],
        taken: &mut Vec<ToolName>,
        draws: &mut Draws,
    ) -> Self {
        let mut services = helpers(&target);
        let wanted = draws.between(spec.fewest_tools, spec.most_tools.max(spec.fewest_tools));
        while services.len() + 1 < wanted.max(2) {
            services.push(distractor(spec, &target.tool.name, taken, draws));
        }
        let goal = Goal {
            target: target.tool.name.clone(),
            given: fill(given, &target.contract, draws),
        };
        services.push(target);
        draws.shuffle(&mut services);
        let mut query = Request::of(&goal).draw(draws);
        if spec.foreign_words > 0.0 && draws.chance(spec.foreign_words) {
            let words = foreign_words(draws.between(1, 3), draws);
            query = if draws.chance(0.5) {
                format!("{words} {query}")
            } else {
                format!("{query} {words}")
            };
        }
        Self {
            services,
            goal,
            query,
            wording: spec.wording,
        }
    }

    /// The service that the task is about; `None` where the world was built without it.
    #[must_use]
    pub fn target(&self) -> Option<&Service> {
        self.service(&self.goal.target)
    }

    /// The same world without the tool that its task asks for.
    #[must_use]
    pub fn without_target(mut self) -> Self {
        let target = &self.goal.target;
        self.services.retain(|service| service.tool.name != *target);
        self
    }

    /// A visible service by name.
    #[must_use]
    pub fn service(&self, name: &ToolName) -> Option<&Service> {
        self.services
            .iter()
            .find(|service| &service.tool.name == name)
    }

    /// Whether the target has hidden demands.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.target().is_some_and(Service::is_hidden)
    }

    /// The names of the parameters that the task gives values for.
    #[must_use]
    pub fn given_names(&self) -> Vec<String> {
        self.goal
            .given
            .iter()
            .map(|setting| setting.parameter.clone())
            .collect()
    }
}

/// The tools that a service's demands name.
pub(crate) fn helpers(target: &Service) -> Vec<Service> {
    target
        .contract
        .iter()
        .filter_map(Demand::helper)
        .map(|name| Service::plain(bare(name.clone())))
        .collect()
}

/// A tool without parameters.
pub(crate) fn bare(name: ToolName) -> Tool {
    Tool {
        name,
        parameters: Vec::new(),
    }
}

/// Draws a target of the given form; returns the service and the names of the parameters that its tasks give.
pub(crate) fn make_target(
    spec: &WorldSpec,
    name: ToolName,
    form: ContractForm,
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> (Service, Vec<String>) {
    let (before, exact, carried) = form.parts();
    let mut names: Vec<&str> = NUMBER_PARAMETERS
        .iter()
        .chain(WORD_PARAMETERS)
        .copied()
        .collect();
    draws.shuffle(&mut names);
    let mut names = names.into_iter().map(str::to_owned);
    let mut contract = Vec::new();
    let mut parameters = Vec::new();
    if before {
        contract.push(Demand::Before(helper_name(spec, &name, taken, draws)));
    }
    if let (true, Some(parameter)) = (exact, names.next()) {
        parameters.push(parameter.clone());
        contract.push(Demand::Exact(Setting {
            value: value_for(&parameter, draws),
            parameter,
        }));
    }
    if let (true, Some(parameter)) = (carried, names.next()) {
        parameters.push(parameter.clone());
        contract.push(Demand::Carried {
            parameter,
            source: helper_name(spec, &name, taken, draws),
        });
    }
    let given: Vec<String> = names.by_ref().take(draws.weighted(&spec.given)).collect();
    parameters.extend(given.iter().cloned());
    if form == ContractForm::Plain || parameters.len() < 3 {
        parameters.extend(names.take(draws.weighted(&[70, 30])));
    }
    draws.shuffle(&mut parameters);
    draws.shuffle(&mut contract);
    (
        Service {
            tool: Tool { name, parameters },
            contract,
        },
        given,
    )
}

/// An unused name on the spec's side of the split, with the verb or the noun fixed where one is given.
pub(crate) fn fresh_name(
    spec: &WorldSpec,
    verb: Option<&str>,
    noun: Option<&str>,
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> ToolName {
    loop {
        let own_noun = if draws.chance(spec.invented_nouns) {
            invented_noun(draws)
        } else {
            draws.word(NOUNS).to_owned()
        };
        let name = ToolName::new(verb.unwrap_or(draws.word(VERBS)), noun.unwrap_or(&own_noun));
        if Split::of(&name.verb, &name.noun) == spec.split && !taken.contains(&name) {
            taken.push(name.clone());
            return name;
        }
        // All verbs of a fixed noun may be taken, so with a small chance each try drops what was fixed.
        if draws.chance(0.01) {
            return fresh_name(spec, None, None, taken, draws);
        }
    }
}

fn helper_name(
    spec: &WorldSpec,
    target: &ToolName,
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> ToolName {
    related_name(spec, target, [30, 25, 45], taken, draws)
}

/// A name that shares the verb, the noun or neither, by weight.
fn related_name(
    spec: &WorldSpec,
    target: &ToolName,
    weights: [u32; 3],
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> ToolName {
    match draws.weighted(&weights) {
        0 => fresh_name(spec, Some(&target.verb), None, taken, draws),
        1 => fresh_name(spec, None, Some(&target.noun), taken, draws),
        _ => fresh_name(spec, None, None, taken, draws),
    }
}

pub(crate) fn distractor(
    spec: &WorldSpec,
    target: &ToolName,
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> Service {
    let name = related_name(spec, target, [40, 35, 25], taken, draws);
    let count = draws.weighted(&[40, 30, 20, 10]);
    let mut parameters: Vec<&str> = NUMBER_PARAMETERS
        .iter()
        .chain(WORD_PARAMETERS)
        .copied()
        .collect();
    draws.shuffle(&mut parameters);
    parameters.truncate(count);
    Service::plain(Tool {
        name,
        parameters: parameters.into_iter().map(str::to_owned).collect(),
    })
}

/// Values for the given parameters, all different from each other and from demanded values.
pub(crate) fn fill(given: &[String], contract: &[Demand], draws: &mut Draws) -> Vec<Setting> {
    fill_by(value_for, given, contract, draws)
}

/// The same with values of another source.
pub(crate) fn fill_by(
    value_for: impl Fn(&str, &mut Draws) -> String,
    given: &[String],
    contract: &[Demand],
    draws: &mut Draws,
) -> Vec<Setting> {
    let mut used: Vec<String> = contract
        .iter()
        .filter_map(|demand| {
            if let Demand::Exact(setting) = demand {
                Some(setting.value.clone())
            } else {
                None
            }
        })
        .collect();
    let mut settings = Vec::new();
    for parameter in given {
        let mut value = value_for(parameter, draws);
        while used.contains(&value) {
            value = value_for(parameter, draws);
        }
        used.push(value.clone());
        settings.push(Setting {
            parameter: parameter.clone(),
            value,
        });
    }
    settings
}
