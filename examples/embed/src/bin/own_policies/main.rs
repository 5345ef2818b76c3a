//! A policy of a host's own of each kind, in one session: `cargo run -p embed --bin own_policies`.
//!
//! Each policy is a file of under 60 lines with its options and its registration. A recipe names them as it names ours. The desk
//! and the agent (`desk.rs`) need no model.
#![allow(clippy::print_stdout, reason = "it shows what happens")]

mod by_trigger;
mod desk;
mod followers;
mod forbidden_tools;
mod recorder;
mod refusals;
mod step_price;
mod unfollowed;

use std::{
    num::{NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use journeyman::{
    Error, Result, Seed,
    agent::EnvironmentJudge,
    contract::Components,
    domain::{Selection, Skill, SkillRef, Task},
    library::SkillLibrary,
    policy::{Policies, PolicyOptions},
    recipe::{Recipe, standard},
    run::{
        Journeyman, Options,
        report::{RunReport, TaskReport},
    },
    stations::credit::Attribute,
};
use serde_json::Value;

use self::{
    by_trigger::ByTrigger,
    desk::{Agent, OVERRIDE, desk},
    followers::Followers,
    forbidden_tools::ForbiddenTools,
    recorder::Recorder,
    refusals::Refusals,
    step_price::StepPrice,
    unfollowed::Unfollowed,
};

/// Tasks between two runs of the maintenance program: one of each kind.
const ROUND: NonZeroU64 = NonZeroU64::new(3).expect("3 is not 0");
/// Attempts after which a skill that nobody followed is archived: those at two tasks.
const USES: NonZeroU64 = NonZeroU64::new(8).expect("8 is not 0");

/// A person's skill for a desk that had a warehouse to call. This desk has none.
const SHIPPED: &str = "---\nname: exchange-by-warehouse\n\
    description: How to exchange an order. Use it when a customer wants another item.\n---\n\
    1. Call `call_warehouse`.\n2. Call `exchange_order`.\n";

/// Reads the options of a policy from a recipe and checks them.
fn options<O: PolicyOptions>(of: &Value) -> Result<O> {
    let read = serde_json::from_value::<O>(of.clone());
    let read = read.map_err(|error| Error::invalid(O::NAME, error.to_string()))?;
    read.validate()?;
    Ok(read)
}

fn policies() -> Policies {
    let policies = by_trigger::register(Policies::new());
    let policies = step_price::register(policies);
    let policies = refusals::register(policies);
    let policies = followers::register(policies);
    let policies = recorder::register(policies);
    let policies = forbidden_tools::register(policies);
    unfollowed::register(policies)
}

/// The default recipe with other policies.
fn recipe() -> Recipe {
    let tools = vec![OVERRIDE.to_owned()];
    let least = NonZeroUsize::MIN;
    let mut recipe = standard();
    recipe.select.selector = ByTrigger { least }.into();
    recipe.reward.by = StepPrice { price: 0.1 }.into();
    recipe.assess = Some(Refusals.into());
    recipe.credit.by = Followers.into();
    // The library then counts who followed what. No role is asked, since the agent says it of every skill.
    recipe.credit.attribute = Attribute::UseUnknown;
    recipe.write.by = Recorder { most_steps: 8 }.into();
    recipe.admit.rules = vec![ForbiddenTools { tools }.into()];
    recipe.with_program(ROUND, Unfollowed { uses: USES })
}

fn shipped() -> Result<Skill> {
    let mut skill = Skill::from_skill_md(SHIPPED)?;
    skill.trigger = Some("exchange order customer".to_owned());
    Ok(skill)
}

fn tasks() -> Vec<Task> {
    let customers = ["Ada", "Bela", "Cleo", "Dora", "Emil"];
    let kinds = ["Refund", "Exchange", "Cancel"];
    let customers = (0_u32..).zip(customers);
    let tasks = customers.flat_map(|(number, customer)| {
        kinds.map(|kind| {
            let instruction = format!("{kind} order {number} of customer {customer}.");
            Task::new(format!("{kind}-{number}"), instruction)
        })
    });
    tasks.collect()
}

fn name<'a>(library: &'a SkillLibrary, skill: &SkillRef) -> &'a str {
    let skill = library.version(skill);
    skill.map_or("an unknown skill", |skill| skill.name.as_str())
}

fn print_task(task: &TaskReport, library: &SkillLibrary) {
    let given = task.selections.iter().find_map(Selection::skill);
    let given = given.map_or("no skill", |skill| name(library, skill));
    println!("{} with {given}:", task.task);
    for attempt in &task.attempts {
        let reward = attempt.reward.unwrap_or_default();
        let (steps, used) = (attempt.steps, attempt.used);
        let process = attempt.process.unwrap_or_default();
        println!(
            "  attempt: {steps} steps, {process:.2} of them taken, reward {reward:.2}, skill {used}"
        );
    }
    for written in &task.written {
        match &written.admitted {
            Some(skill) => println!("  written: {}", name(library, skill)),
            None => println!("  refused: {}", written.refused.as_deref().unwrap_or("")),
        }
    }
}

fn print(report: &RunReport, library: &SkillLibrary) {
    for task in &report.tasks {
        print_task(task, library);
    }
    for entry in library.entries() {
        let (skill, life) = (&entry.skill, entry.life.lifetime());
        println!(
            "{} is {}: in {} prompts, followed {} times, {} credits, utility {:.2}",
            skill.name, skill.state, life.injected, life.used, entry.credits, entry.utility
        );
        for line in skill.body.lines() {
            println!("  {line}");
        }
    }
}

#[tokio::main]
async fn main() -> Result<()> {
    let components = Components::new(
        Arc::new(Agent),
        Arc::new(desk()?),
        Arc::new(EnvironmentJudge),
    );
    let options = Options::new("desk", Seed(7)).with_policies(policies());
    let session = Journeyman::open(components, recipe(), options).await?;
    session.add(vec![shipped()?], "shipped").await?;
    let report = session.learn(tasks()).await?;
    print(&report, &session.library().await?);
    Ok(())
}
