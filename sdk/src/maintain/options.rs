//! What is done for the library between tasks.

use serde::{Deserialize, Serialize};

use crate::{
    domain::RoleRule,
    error::{Error, Result},
    id::Version,
    library::Life,
    propose::CliqueOptions,
};

/// What is done for the library between tasks. What is `None` is switched off (HiSME Table 3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Maintenance {
    /// Skills get cases to pass, and are released when they do (H5, H6).
    pub bundles: Option<BundlePolicy>,
    /// Skills are mended from what their attempts showed (H10).
    pub refine: Option<RefinePolicy>,
    /// Harmful skills are disabled (H9).
    pub filter: Option<FilterPolicy>,
    /// Skills are made of what attempts at several tasks share (H2, H3).
    pub refactor: Option<RefactorPolicy>,
    /// Roles learn rules (H13).
    pub evolve: Option<EvolvePolicy>,
}

impl Maintenance {
    /// Whether there is nothing to do.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What a version has to pass to be released.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Every case of its bundle (HiSME Eq. 13, to the letter).
    All,
    /// One of the attempts that called for it, and more whole attempts than the version before passes; one that costs
    /// more refusals than with the version before does not count. What it fails is then taken out of the bundle: the
    /// paper lets the refiner alter the bundle with the skill. Ours.
    #[default]
    Better,
}

/// How bundles are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundlePolicy {
    /// What has to be passed.
    pub gate: Gate,
    /// From how many different tasks the cases must come that a newcomer passes before it is released, at least 1: the
    /// one that it was made from, those that it helped with, those that were done alike without it, those that the
    /// refactorer finds to share it. What one attempt needed may have been that attempt's alone, and a bundle cut from it cannot tell. With 1 the
    /// attempt that it was made from is enough; ours is 2, what the paper asks of refactored skills.
    pub tasks: u32,
    /// How many bundles are cut and run in one maintenance, at least 1.
    pub most: u32,
}

impl Default for BundlePolicy {
    fn default() -> Self {
        Self {
            gate: Gate::default(),
            tasks: 2,
            most: 20,
        }
    }
}

/// When a skill is mended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefinePolicy {
    /// From how many attempts on that a version failed, at least 1: those that it harmed, and those that followed it and
    /// were refused all the same, where they were not helped or it never sufficed at two tasks or more.
    pub failed: u32,
    /// How many skills are mended in one maintenance, at least 1.
    pub most: u32,
}

impl Default for RefinePolicy {
    /// From the first such attempt on.
    fn default() -> Self {
        Self { failed: 1, most: 8 }
    }
}

/// When a skill is disabled (HiSME Eq. 14 to 16; the paper does not publish its thresholds). One stays for which so many
/// whole attempts speak that a newcomer would be released for them ([`BundlePolicy::tasks`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterPolicy {
    /// From how many harmful judgements of a version on (tau), at least 1.
    pub harmful: u32,
    /// Unless it has at least so many helpful ones (tau_p).
    pub helpful: u32,
    /// Of how many judgements, the version's latest (the maintenance window of Eq. 14), at least `harmful`.
    #[serde(default = "FilterPolicy::window")]
    pub window: u32,
}

impl FilterPolicy {
    fn window() -> u32 {
        8
    }

    /// Whether judgements alone would take a version out of use (Eq. 16).
    pub fn takes(&self, life: &Life, version: Version) -> bool {
        let counts = life.latest_counts(version, self.window as usize);
        counts.harmful >= self.harmful && counts.helpful < self.helpful
    }
}

impl Default for FilterPolicy {
    /// Two harmful ones and no helpful one. One alone may be the judge's mistake or an odd task; the paper wants explicit
    /// harmful evidence and no helpful evidence (3.3). Eight judgements back: a service that changed is noticed, however often
    /// the skill had helped before.
    fn default() -> Self {
        Self {
            harmful: 2,
            helpful: 1,
            window: Self::window(),
        }
    }
}

/// How shared structure is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefactorPolicy {
    /// How many groups are handed to the role in one maintenance, at least 1.
    pub groups: u32,
    /// Greatest number of members of a group, 2 to 6.
    pub members: u32,
}

impl Default for RefactorPolicy {
    fn default() -> Self {
        Self {
            groups: 4,
            members: 4,
        }
    }
}

/// How roles learn rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvolvePolicy {
    /// After how many judgements a skill has lived long enough to tell; one that was taken out of use tells too. Its cases
    /// alone do not: they tell whether it does what its own attempts wanted, and the newcomer's life is still to come.
    pub mature: u32,
    /// From how many such skills of a role on it learns, at least 1.
    pub rows: u32,
    /// How many of them it is shown, the latest; at least 1.
    pub sample: u32,
    /// Greatest number of rules, 1 to [`RoleRule::MOST`]. The paper: 5.
    pub rules: usize,
}

impl Default for EvolvePolicy {
    fn default() -> Self {
        Self {
            mature: 1,
            rows: 5,
            sample: 24,
            rules: RoleRule::MOST,
        }
    }
}

impl Maintenance {
    /// # Errors
    /// `Invalid`, naming the field.
    pub(crate) fn validate(&self) -> Result<()> {
        if let Some(bundles) = &self.bundles {
            at_least_one("maintenance.bundles.tasks", bundles.tasks.into())?;
            at_least_one("maintenance.bundles.most", bundles.most.into())?;
        }
        if let Some(refine) = &self.refine {
            at_least_one("maintenance.refine.failed", refine.failed.into())?;
            at_least_one("maintenance.refine.most", refine.most.into())?;
        }
        if let Some(filter) = &self.filter {
            at_least_one("maintenance.filter.harmful", filter.harmful.into())?;
            let allowed = filter.window >= filter.harmful;
            at_least_one("maintenance.filter.window", allowed.into())?;
        }
        if let Some(refactor) = &self.refactor {
            at_least_one("maintenance.refactor.groups", refactor.groups.into())?;
            let options = CliqueOptions {
                largest: refactor.members as usize,
                ..CliqueOptions::default()
            };
            let allowed = options.validate().is_ok();
            at_least_one("maintenance.refactor.members", allowed.into())?;
        }
        if let Some(evolve) = &self.evolve {
            at_least_one("maintenance.evolve.rows", evolve.rows.into())?;
            at_least_one("maintenance.evolve.sample", evolve.sample.into())?;
            let allowed = (1..=RoleRule::MOST).contains(&evolve.rules);
            at_least_one("maintenance.evolve.rules", allowed.into())?;
        }
        Ok(())
    }
}

fn at_least_one(field: &'static str, value: u64) -> Result<()> {
    if value >= 1 {
        return Ok(());
    }
    Err(Error::invalid("Recipe::validate", "the number is out of its range").with("field", field))
}
