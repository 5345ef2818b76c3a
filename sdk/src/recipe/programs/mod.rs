//! Our maintenance programs, each read beside its listing in its paper, the names under which a recipe schedules them, and when
//! they run.

mod across_tasks;
mod bank;
mod events;
mod gains;
mod micro;
mod prototypes;
mod within_budget;

use std::sync::Arc;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

pub(crate) use self::bank::distil;
use self::{
    across_tasks::AcrossTasks, bank::Bank, gains::Gains, micro::Micro, prototypes::Prototypes,
};
use super::Recipe;
use crate::{
    error::{Error, ErrorKind, Result},
    policy::{Policies, Policy, named::ScheduledProgram},
    stations::maintain::{MaintenanceOptions, Overlaps},
};

const MICRO: &str = "micro";
const MACRO: &str = "macro";
const BANK: &str = "bank";
const GAINS: &str = "gains";
const PROTOTYPES: &str = "prototypes";

/// Adds our maintenance programs.
pub(super) fn with_our_programs(policies: Policies) -> Policies {
    // The runs of a session share the registry, and so the graph.
    let overlaps = Overlaps::default();
    policies
        .with_program(MICRO, |options| Ok(Arc::new(Micro(read(MICRO, options)?))))
        .with_program(MACRO, move |options| {
            Ok(Arc::new(AcrossTasks {
                options: read(MACRO, options)?,
                overlaps: overlaps.clone(),
            }))
        })
        .with_program(BANK, |options| Ok(Arc::new(Bank(read(BANK, options)?))))
        .with_program(GAINS, |_| Ok(Arc::new(Gains)))
        .with_program(PROTOTYPES, |options| {
            Ok(Arc::new(Prototypes(read(PROTOTYPES, options)?)))
        })
}

/// Reads a program's options.
///
/// # Errors
/// `Invalid` for options of another program.
fn read<T: DeserializeOwned>(name: &'static str, options: &Value) -> Result<T> {
    T::deserialize(options).map_err(|error| {
        Error::invalid(
            "Recipe::resolve",
            "these are not the options of this program",
        )
        .with("program", name)
        .hint("our programs are scheduled by `Recipe::maintenance`, `Recipe::schedule` and `Recipe::assess`")
        .source_from(error)
    })
}

fn written(options: &impl Serialize) -> Result<Value> {
    serde_json::to_value(options).map_err(|error| {
        let message = "the options of a program could not be written";
        Error::new(ErrorKind::Internal, "Recipe::scheduled", message).source_from(error)
    })
}

impl Recipe {
    /// All maintenance programs, ours and the host's, in the order in which they run.
    pub(crate) fn scheduled(&self) -> Result<Vec<ScheduledProgram>> {
        let (schedule, maintenance) = (self.schedule, &self.maintenance);
        let maintenance_context = written(&self.maintenance_options())?;
        let ours = |name, every, options: &Value| ScheduledProgram {
            every,
            first: None,
            program: Policy::new(name).with_options(options),
        };
        let mut programs = Vec::new();
        if maintenance.looks_after_skills() {
            programs.push(ours(MICRO, schedule.micro, &maintenance_context));
            programs.push(ours(MACRO, schedule.r#macro, &maintenance_context));
        }
        if let Some(bank) = &maintenance.bank {
            programs.push(ours(BANK, bank.round, &maintenance_context));
        }
        if let Some(every) = schedule.gain_tasks() {
            programs.push(ours(GAINS, every, &Value::Null));
        }
        if let Some(assess) = &self.assess {
            let every = assess.refresh.saturating_mul(schedule.batch);
            programs.push(ScheduledProgram {
                first: Some(assess.first),
                ..ours(PROTOTYPES, every, &written(assess)?)
            });
        }
        programs.extend(self.programs.iter().cloned());
        Ok(programs)
    }

    /// What maintenance reads of the recipe.
    pub(crate) fn maintenance_options(&self) -> MaintenanceOptions {
        MaintenanceOptions {
            policy: self.maintenance.clone(),
            admit: self.admit.clone(),
            skill_use: self.reward.skill_use,
        }
    }
}
