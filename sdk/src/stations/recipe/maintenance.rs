//! The maintenance of a recipe: which programs run between tasks, how often, and what a round may cost.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{MaintenanceBudget, quarantine_policy::QuarantinePolicy},
    policy::{PolicyOptions, named::ScheduledProgram},
};

/// The maintenance programs that run between tasks in learning, ours and a host's own.
///
/// Ours are named by their options: `papers::hisme::MicroPolicy` (`micro`),
/// `papers::hisme::MacroPolicy` (`macro`), `papers::skillrl::BankPolicy` (`bank`) and
/// `papers::arise::GainsPolicy` (`gains`). A host's own are registered in
/// [`Policies`](crate::policy::Policies). No two programs have the same name.
///
/// ```
/// use std::num::NonZeroU64;
///
/// use journeyman::{
///     papers::{
///         arise::GainsPolicy,
///         hisme::{BundlePolicy, MicroPolicy},
///     },
///     policy::Policies,
///     recipe::{self, Maintenance, ScheduledProgram},
/// };
///
/// let ten = NonZeroU64::new(10).expect("not 0");
/// let mut recipe = recipe::hisme();
/// // A part of a program has other options, and the program runs less often.
/// recipe.maintenance.edit(|micro: &mut MicroPolicy| micro.bundles = Some(BundlePolicy::default()));
/// recipe.maintenance.every("micro", ten);
/// // Another program runs after those that are there.
/// recipe.maintenance.programs.push(ScheduledProgram::new(ten, GainsPolicy::default()));
/// let names: Vec<&str> = recipe.maintenance.programs.iter().map(|one| one.program.name.as_str()).collect();
/// assert_eq!(names, ["micro", "macro", "gains"]);
/// let micro: MicroPolicy = recipe.maintenance.get().expect("it is there");
/// assert_eq!(micro.bundles, Some(BundlePolicy::default()));
/// recipe.resolve(&Policies::new())?;
///
/// recipe.maintenance.remove::<MicroPolicy>();
/// assert_eq!(recipe.maintenance.get::<MicroPolicy>(), None);
/// recipe.maintenance = Maintenance::default();
/// assert!(recipe.maintenance.is_none());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maintenance {
    /// The maintenance programs, ours and the host's, each by its name; they run in this order.
    #[serde(default)]
    pub programs: Vec<ScheduledProgram>,
    /// Skills in quarantine are tried in learning, and released by evidence (J7). Switched off in every recipe: an untrusted
    /// text may be an attack.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quarantine: Option<QuarantinePolicy>,
    /// What one round may cost. Ours: the papers have no such limit.
    #[serde(default)]
    pub budget: MaintenanceBudget,
}

impl Maintenance {
    /// Whether there is no program, and no skill in quarantine is tried.
    pub fn is_none(&self) -> bool {
        self.programs.is_empty() && self.quarantine.is_none()
    }

    /// The options of one of our programs; `None` where the recipe has none of this name, or its options are not those of this
    /// program.
    pub fn get<O: PolicyOptions>(&self) -> Option<O> {
        let mut programs = self.programs.iter();
        let named = programs.find(|one| one.program.is::<O>())?;
        named.program.read().ok().flatten()
    }

    /// Changes the options of one of our programs, whose place and schedule stay; where the recipe has none of this name, or its
    /// options are not those of this program, the change begins with the default ones. A program that is added is the last one, and runs
    /// as often as it says itself ([`MaintenanceProgram::every`](crate::policy::MaintenanceProgram::every)).
    pub fn edit<O: PolicyOptions + Default>(&mut self, change: impl FnOnce(&mut O)) {
        let mut options = self.get::<O>().unwrap_or_default();
        change(&mut options);
        match self.programs.iter_mut().find(|one| one.program.is::<O>()) {
            Some(known) => known.program = options.into(),
            None => self.programs.push(ScheduledProgram::of(options)),
        }
    }

    /// Takes one of our programs out of the recipe. Does nothing where the recipe has none of this name.
    pub fn remove<O: PolicyOptions>(&mut self) {
        self.programs.retain(|one| !one.program.is::<O>());
    }

    /// Sets the number of tasks between two runs of the program of this name. Returns whether the recipe has one.
    pub fn every(&mut self, name: &str, tasks: NonZeroU64) -> bool {
        let mut programs = self.programs.iter_mut();
        let known = programs.find(|one| one.program.name == name);
        known.map(|one| one.every = Some(tasks)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        papers::{
            hisme::{MacroPolicy, MicroPolicy, RefinePolicy},
            skillrl::BankPolicy,
        },
        policy::Policy,
    };

    fn tasks(count: u64) -> NonZeroU64 {
        NonZeroU64::new(count).expect("not 0")
    }

    /// The names and numbers of the programs, in their order.
    fn listed(maintenance: &Maintenance) -> Vec<(&str, Option<u64>)> {
        let programs = maintenance.programs.iter();
        programs
            .map(|one| (one.program.name.as_str(), one.every.map(NonZeroU64::get)))
            .collect()
    }

    #[test]
    fn a_program_that_is_added_is_the_last_and_one_that_is_there_stays_where_it_is() {
        let mut maintenance = Maintenance::default();
        assert!(maintenance.is_none());
        maintenance.edit(|_: &mut MicroPolicy| {});
        maintenance.edit(|bank: &mut BankPolicy| bank.round = tasks(12));
        maintenance.edit(|_: &mut MacroPolicy| {});
        assert_eq!(
            listed(&maintenance),
            [("micro", None), ("bank", None), ("macro", None)]
        );
        assert!(!maintenance.is_none());

        assert!(maintenance.every("micro", tasks(7)));
        assert!(!maintenance.every("another", tasks(8)));
        maintenance.edit(|micro: &mut MicroPolicy| micro.refine = Some(RefinePolicy::paper()));
        maintenance.edit(|bank: &mut BankPolicy| bank.round = tasks(24));
        assert_eq!(
            listed(&maintenance),
            [("micro", Some(7)), ("bank", None), ("macro", None)]
        );
        let micro: MicroPolicy = maintenance.get().unwrap();
        assert_eq!(micro.refine, Some(RefinePolicy::paper()));
        assert_eq!(maintenance.get::<BankPolicy>().unwrap().round, tasks(24));

        maintenance.remove::<BankPolicy>();
        maintenance.remove::<BankPolicy>();
        assert_eq!(listed(&maintenance), [("micro", Some(7)), ("macro", None)]);
    }

    #[test]
    fn options_of_another_program_give_way_to_the_default_ones() {
        let other = Policy::new("bank").with_options(serde_json::json!({ "litres": 2 }));
        let mut maintenance = Maintenance::default();
        maintenance
            .programs
            .push(ScheduledProgram::new(tasks(3), other));
        assert_eq!(maintenance.get::<BankPolicy>(), None);
        maintenance.edit(|bank: &mut BankPolicy| bank.first = false);
        let expected = BankPolicy {
            first: false,
            ..BankPolicy::default()
        };
        assert_eq!(maintenance.get(), Some(expected));
        assert_eq!(listed(&maintenance), [("bank", Some(3))]);
    }
}
