//! Prints tasks of a universe as JSON Lines, for an environment outside Rust: `tasks [--seed N] [--stream N] [--held-out N]`.
//!
//! `--hidden N` and `--plain N` say how many services have a hidden contract (8) and have none (4), `--passing N` at how many of a
//! hundred tasks of the stream a service demands something this once only (0). The held-out tasks come last. The tags say `hidden` or
//! `plain`, and `passing`; a report has those that are hidden apart. A payload has the tools' definitions, the target's name, the values that the task
//! gives, and the target's demands: `{"before": tool}`, `{"parameter", "value"}` or `{"parameter", "from": tool}`.

use std::{
    collections::HashMap,
    error::Error,
    io::{self, Write},
};

use journeyman_toolworld::{
    environment::define,
    passing::Passing,
    stream::{StreamTask, Universe, UniverseSpec},
    tool::{Demand, wire_name},
};
use serde_json::{Map, Value, json};

/// What is given by a number.
const NUMBERS: [&str; 6] = [
    "--seed",
    "--stream",
    "--held-out",
    "--hidden",
    "--plain",
    "--passing",
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut given = HashMap::new();
    for pair in arguments.chunks(2) {
        match pair {
            [name, value] if NUMBERS.contains(&name.as_str()) => {
                given.insert(name.as_str(), value.parse::<u64>()?);
            }
            _ => return Err(format!("give {}, each with a number", NUMBERS.join(", ")).into()),
        }
    }
    let number = |name: &str, otherwise: u64| given.get(name).copied().unwrap_or(otherwise);
    let count = |name: &str, otherwise: u64| usize::try_from(number(name, otherwise));
    let mut spec = UniverseSpec::of(count("--hidden", 8)?, count("--plain", 4)?);
    spec.passing = match u32::try_from(number("--passing", 0))? {
        0 => None,
        percent => Some(Passing {
            share: f64::from(percent) / 100.0,
            kind: None,
        }),
    };
    let universe = Universe::make(spec, number("--seed", 1))?;
    let stream = universe.stream(count("--stream", 36)?);
    let held_out = universe.held_out(&stream, count("--held-out", 24)?);
    let mut out = io::stdout().lock();
    for task in stream.iter().chain(&held_out) {
        writeln!(out, "{}", line(task)?)?;
    }
    Ok(())
}

fn line(task: &StreamTask) -> Result<Value, Box<dyn Error>> {
    let world = &task.world;
    let tools: Vec<_> = world.services.iter().map(|one| define(&one.tool)).collect();
    let given = world.goal.given.iter();
    let given: Map<String, Value> = given
        .map(|one| (one.parameter.clone(), one.value.as_str().into()))
        .collect();
    let demand = |demand: &Demand| match demand {
        Demand::Before(tool) => json!({"before": wire_name(tool)}),
        Demand::Exact(setting) => json!({"parameter": setting.parameter, "value": setting.value}),
        Demand::Carried { parameter, source } => {
            json!({"parameter": parameter, "from": wire_name(source)})
        }
    };
    let target = world.target().ok_or("a world lacks its target")?;
    let demands: Vec<Value> = target.contract.iter().map(demand).collect();
    Ok(json!({
        "id": task.id,
        "instruction": world.query,
        "tags": task.task()?.tags,
        "payload": {
            "tools": tools,
            "target": wire_name(&world.goal.target),
            "given": given,
            "demands": demands,
        },
    }))
}
