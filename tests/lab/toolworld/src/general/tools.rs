//! The definitions of a world's tools, as JSON Schema in the many forms that authors of tools write.

use journeyman::domain::ToolDefinition;
use serde_json::{Map, Value, json};

use super::manner::Manner;
use super::recipe::json_value;
use crate::lexicon::{ParameterKind, VALUES, kind_of, value_for};
use crate::seed::Draws;
use crate::tool::{Demand, Service, Setting, Tool, wire_name};
use crate::world::World;

/// Greatest number of values in an enumeration beside those that have to be there.
const OTHER_VALUES: usize = 3;

/// The definitions of the visible tools, in their order. A parameter that is not required is optional: a call leaves it
/// out to keep its default.
#[must_use]
pub fn definitions(world: &World, manner: &Manner) -> Vec<ToolDefinition> {
    world
        .services
        .iter()
        .map(|service| definition(world, service, manner))
        .collect()
}

fn definition(world: &World, service: &Service, manner: &Manner) -> ToolDefinition {
    let tool = &service.tool;
    let mut draws = draws_for(manner, &tool.name.to_string());
    let properties: Map<String, Value> = tool
        .parameters
        .iter()
        .map(|name| (name.clone(), parameter(world, service, name, manner)))
        .collect();
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    let is_target = tool.name == world.goal.target;
    let given = world.given_names();
    let required: Vec<&String> = tool
        .parameters
        .iter()
        .filter(|name| is_target && given.contains(name))
        .collect();
    if draws.chance(0.5) {
        schema.insert("required".to_owned(), json!(required));
    }
    if manner.further_keys && draws.chance(0.5) {
        schema.insert("additionalProperties".to_owned(), json!(false));
    }
    if manner.further_keys && draws.chance(0.3) {
        schema.insert("title".to_owned(), json!(tool.name.to_string()));
    }
    let description = description(tool, &mut draws);
    ToolDefinition::new(wire_name(&tool.name), description, Value::Object(schema))
}

fn description(tool: &Tool, draws: &mut Draws) -> String {
    let (verb, noun) = (&tool.name.verb, &tool.name.noun);
    match draws.weighted(&[35, 15, 15, 10, 10, 15]) {
        0 => format!("{verb} the {noun}"),
        1 => format!("Use this to {verb} the {noun}."),
        2 => format!("A tool to {verb} a {noun}"),
        3 => format!("{verb} {noun}; what is left out has its default"),
        4 => format!("For the {noun}: {verb} it."),
        _ => String::new(),
    }
}

fn parameter(world: &World, service: &Service, name: &str, manner: &Manner) -> Value {
    let mut draws = draws_for(manner, &format!("{} {name}", service.tool.name));
    let mut schema = match kind_of(name) {
        ParameterKind::Number => match draws.weighted(&[60, 25, 15]) {
            0 => json!({"type": "integer", "minimum": 1, "maximum": 99}),
            1 => json!({"type": "integer"}),
            _ => json!({"type": "integer", "minimum": 1}),
        },
        ParameterKind::Word => match values(world, service, name, manner, &mut draws) {
            Some(values) => json!({"type": "string", "enum": values}),
            None => json!({"type": "string"}),
        },
    };
    if let (true, Some(fields)) = (manner.further_keys, schema.as_object_mut()) {
        further_keys(name, fields, &mut draws);
    }
    schema
}

/// The values of an enumeration; `None` where any word may come, as for values that results give.
fn values(
    world: &World,
    service: &Service,
    name: &str,
    manner: &Manner,
    draws: &mut Draws,
) -> Option<Vec<String>> {
    let carried =
        |demand: &Demand| matches!(demand, Demand::Carried { parameter, .. } if parameter == name);
    let open = draws.chance(0.4) && !manner.is_opaque();
    if open || service.contract.iter().any(carried) {
        return None;
    }
    let mut values: Vec<String> = Vec::new();
    let mut add = |value: &str| {
        if !values.iter().any(|known| known == value) {
            values.push(value.to_owned());
        }
    };
    let of_name = |setting: &&Setting| setting.parameter == name;
    for demand in &service.contract {
        if let Demand::Exact(setting) = demand
            && setting.parameter == name
        {
            add(&setting.value);
        }
    }
    let settings = world.goal.given.iter().chain(&manner.allowed);
    settings
        .filter(of_name)
        .for_each(|setting| add(&setting.value));
    // Opaque worlds have few values, so that trying them ends.
    let others = if manner.is_opaque() {
        1
    } else {
        draws.between(1, OTHER_VALUES)
    };
    for _ in 0..others {
        add(draws.word(VALUES));
    }
    draws.shuffle(&mut values);
    Some(values)
}

/// Keys that say nothing about which values are valid.
fn further_keys(name: &str, fields: &mut Map<String, Value>, draws: &mut Draws) {
    if draws.chance(0.3) {
        fields.insert("title".to_owned(), json!(name));
    }
    if draws.chance(0.4) {
        fields.insert("description".to_owned(), json!(format!("the {name}")));
    }
    let example = || match fields.get("enum").and_then(|values| values.get(0)) {
        Some(first) => first.clone(),
        None => json_value(name, &value_for(name, &mut Draws::new("example", &[7]))),
    };
    let example = example();
    match draws.weighted(&[50, 25, 25]) {
        1 => fields.insert("default".to_owned(), example),
        2 => fields.insert("examples".to_owned(), json!([example])),
        _ => None,
    };
}

/// Draws that depend on the manner and a name alone, so that a tool has the same definition whatever stands beside it.
fn draws_for(manner: &Manner, name: &str) -> Draws {
    let letters = name.bytes().fold(0_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Draws::new("definition", &[manner.seed, letters])
}
