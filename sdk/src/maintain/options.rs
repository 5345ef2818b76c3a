//! What is done for the library between tasks.

use serde::{Deserialize, Serialize};

use crate::{
    domain::RoleRule,
    error::{Error, Result},
    id::Version,
    library::Life,
    propose::{CliqueOptions, OverlapOptions},
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

/// How test bundles are kept, and what releases a skill (HiSME 3.3). The default is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundlePolicy {
    /// What a revised version has to pass.
    pub gate: Gate,
    /// Minimum number of different tasks with a passed whole-attempt case before a skill on trial is released, at least 1.
    /// Cases come from the attempt that the skill was written from, attempts that it helped, attempts from which the same skill
    /// was written again, and attempts that the refactorer found to share it. The paper: 1, the attempt that it was written
    /// from. Ours: 2, since what one attempt needed may have been that attempt's alone.
    pub tasks: u32,
    /// Greatest number of bundles that are cut and run in one maintenance, at least 1.
    pub most: u32,
    /// Whether the case of an attempt that the skill harmed holds it back while the case fails. The paper: yes. Ours: no; the
    /// attempt counts as a judgement against the skill, and may have needed something on that day alone.
    pub harm_blocks: bool,
}

impl BundlePolicy {
    /// The paper's: every case has to pass, one task suffices.
    pub fn paper() -> Self {
        Self {
            gate: Gate::All,
            tasks: 1,
            harm_blocks: true,
            ..Self::default()
        }
    }
}

impl Default for BundlePolicy {
    fn default() -> Self {
        Self {
            gate: Gate::default(),
            tasks: 2,
            most: 20,
            harm_blocks: false,
        }
    }
}

/// When a skill is refined (HiSME 3.3, algorithm 4). The default is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefinePolicy {
    /// Minimum number of failed attempts of the current version before it is refined, at least 1. An attempt that the version
    /// harmed is a failed one.
    pub failed: u32,
    /// Greatest number of skills that are refined in one maintenance, at least 1.
    pub most: u32,
    /// Whether an attempt is a failed one, too, that followed the version and had an action refused all the same: where the
    /// version was judged neutral or uncertain, or was judged helpful and no kept attempt at two tasks or more went without a
    /// refusal. The paper: no. Ours: yes, since a skill that says too little harms nobody and would never be refined.
    pub insufficient: bool,
    /// Whether a failed case of the version's bundle counts as a failed attempt. The paper: yes. Ours: no; a case keeps no
    /// attempt from which the refiner could tell what went wrong, and it is shown the one that the case was cut from.
    pub failed_cases: bool,
}

impl RefinePolicy {
    /// The paper's: harmed attempts and failed cases.
    pub fn paper() -> Self {
        Self {
            insufficient: false,
            failed_cases: true,
            ..Self::default()
        }
    }
}

impl Default for RefinePolicy {
    /// From the first failed attempt on.
    fn default() -> Self {
        Self {
            failed: 1,
            most: 8,
            insufficient: true,
            failed_cases: false,
        }
    }
}

/// When a skill is disabled (HiSME Eq. 14 to 16; the paper does not publish its thresholds). The default is ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterPolicy {
    /// From how many harmful judgements of a version on (tau), at least 1.
    pub harmful: u32,
    /// Unless it has at least so many helpful ones (tau_p).
    pub helpful: u32,
    /// Of how many judgements, the version's latest (the maintenance window of Eq. 14), at least `harmful`.
    #[serde(default = "FilterPolicy::window")]
    pub window: u32,
    /// Whether a skill stays that still meets the release threshold ([`BundlePolicy::tasks`]). The paper: no. Ours: yes, since
    /// on a noisy day a right skill does not suffice either.
    pub keep_supported: bool,
}

impl FilterPolicy {
    /// The paper's: judgements alone decide, by our thresholds.
    pub fn paper() -> Self {
        Self {
            keep_supported: false,
            ..Self::default()
        }
    }

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
            keep_supported: true,
        }
    }
}

/// How attempts and skills are grouped and refactored (HiSME appendix C). The default is ours.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RefactorPolicy {
    /// Greatest number of groups that are handed to the role in one maintenance, at least 1.
    pub groups: u32,
    /// Greatest number of members of a group, 2 to 6.
    pub members: u32,
    /// The weights and the threshold of the overlap graph (Eq. 21).
    pub overlap: OverlapOptions,
    /// Whether a group is left out if one of its skills was written from all of its tasks. The paper: no. Ours: yes, since what
    /// the group shares is that skill.
    pub skip_covered: bool,
    /// Whether an attempt that followed skills confirms a new one only if it goes better with the new one than with none. The
    /// paper: no. Ours: yes, since an attempt that is repeated with what it followed goes as well again.
    pub counterfactual: bool,
}

impl RefactorPolicy {
    /// The paper's: groups by the overlap graph alone, each true instance played with the new skill.
    pub fn paper() -> Self {
        Self {
            skip_covered: false,
            counterfactual: false,
            ..Self::default()
        }
    }

    /// The options of the search for groups.
    pub(crate) fn cliques(&self) -> CliqueOptions {
        CliqueOptions {
            largest: self.members as usize,
            groups: self.groups as usize,
            skip_covered: self.skip_covered,
            ..CliqueOptions::default()
        }
    }
}

impl Default for RefactorPolicy {
    fn default() -> Self {
        Self {
            groups: 4,
            members: 4,
            overlap: OverlapOptions::default(),
            skip_covered: true,
            counterfactual: true,
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
            let allowed = refactor.cliques().validate().is_ok();
            at_least_one("maintenance.refactor.members", allowed.into())?;
            refactor.overlap.validate()?;
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
