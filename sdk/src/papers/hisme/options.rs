//! The options of micro and macro maintenance.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::{
    domain::RoleRule,
    error::{Error, Result},
    id::Version,
    library::Life,
    papers::hisme::{CliqueOptions, OverlapOptions},
    policy::PolicyOptions,
    stations::maintain::MaintenanceContext,
};

/// Micro maintenance (HiSME 3.3, algorithms 1 and 4): test bundles run, skills on trial are released, and skills are refined and
/// filtered. The maintenance program `micro`. A part that is `None` is switched off (HiSME Table 3); without any, skills on trial
/// are still released, by judgements and live attempts.
///
/// ```
/// use journeyman::{policy::Policies, recipe, papers::hisme::{BundlePolicy, FilterPolicy, MacroPolicy, MicroPolicy}};
///
/// let mut recipe = recipe::hisme();
/// // Test cases and the filter alone: nothing is refined or refactored, and roles learn no rules.
/// recipe.maintenance.edit(|micro: &mut MicroPolicy| {
///     *micro = MicroPolicy::default();
///     micro.bundles = Some(BundlePolicy::default());
///     micro.filter = Some(FilterPolicy::default());
/// });
/// recipe.maintenance.remove::<MacroPolicy>();
/// recipe.resolve(&Policies::new())?;
/// // Test cases are made from kept attempts, so a library that keeps none cannot have them.
/// recipe.tiers.traces = 0;
/// assert!(recipe.resolve(&Policies::new()).is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MicroPolicy {
    /// Skills have test cases, and are released when these pass (H5, H6).
    pub bundles: Option<BundlePolicy>,
    /// Skills are refined from failed attempts (H10).
    pub refine: Option<RefinePolicy>,
    /// Harmful skills are disabled (H9).
    pub filter: Option<FilterPolicy>,
}

impl MicroPolicy {
    /// The paper's: all parts, each as the paper has it.
    pub fn paper() -> Self {
        Self {
            bundles: Some(BundlePolicy::paper()),
            refine: Some(RefinePolicy::paper()),
            filter: Some(FilterPolicy::paper()),
        }
    }
}

impl PolicyOptions for MicroPolicy {
    const NAME: &'static str = "micro";

    fn validate(&self) -> Result<()> {
        let filter = self.filter.as_ref();
        let sound = filter.is_none_or(|filter| filter.window >= filter.harmful);
        check(sound, "MicroPolicy::validate", "filter.window")
    }
}

/// Macro maintenance (HiSME 3.2, 3.4, algorithms 3 and 5): skills are written from what attempts at several tasks share, and roles
/// learn rules. The maintenance program `macro`. A part that is `None` is switched off (HiSME Table 3).
///
/// ```
/// use journeyman::{policy::Policies, recipe, papers::hisme::MacroPolicy};
///
/// let mut recipe = recipe::hisme();
/// // HiSME-static: no role learns rules.
/// recipe.maintenance.edit(|across: &mut MacroPolicy| across.evolve = None);
/// recipe.resolve(&Policies::new())?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MacroPolicy {
    /// Skills are written from what attempts at several tasks share (H2, H3).
    pub refactor: Option<RefactorPolicy>,
    /// Roles learn rules from the results of the skills that they wrote (H13).
    pub evolve: Option<EvolvePolicy>,
}

impl MacroPolicy {
    /// The paper's: both parts, each as the paper has it.
    pub fn paper() -> Self {
        Self {
            refactor: Some(RefactorPolicy::paper()),
            evolve: Some(EvolvePolicy::default()),
        }
    }
}

impl PolicyOptions for MacroPolicy {
    const NAME: &'static str = "macro";

    fn validate(&self) -> Result<()> {
        let check = |holds, field| check(holds, "MacroPolicy::validate", field);
        if let Some(refactor) = &self.refactor {
            check(refactor.cliques().validate().is_ok(), "refactor.members")?;
            refactor.overlap.validate()?;
        }
        if let Some(evolve) = &self.evolve {
            check((1..=RoleRule::MOST).contains(&evolve.rules), "evolve.rules")?;
        }
        Ok(())
    }
}

fn check(holds: bool, operation: &'static str, field: &'static str) -> Result<()> {
    if holds {
        return Ok(());
    }
    let error = Error::invalid(operation, "the number is out of its range");
    Err(error.with("field", field))
}

/// The test that a refined version must pass to be released.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Every case of its bundle (HiSME Eq. 13, to the letter).
    All,
    /// A case of at least one of the failed attempts that it was refined for, and whole-attempt cases of more attempts than the
    /// version before passes; a case that costs more refusals than with the version before does not count. The cases that
    /// it fails are then dropped from the bundle: the paper lets the refiner alter the bundle with the skill. Ours.
    #[default]
    Better,
}

/// How test bundles are kept, and what releases a skill (HiSME 3.3, Eq. 13; rows H5, H6). The default is ours.
///
/// ```
/// use journeyman::papers::hisme::{BundlePolicy, Gate};
///
/// let mut strict = BundlePolicy::default();
/// strict.gate = Gate::All;
/// assert_eq!(strict.tasks, BundlePolicy::default().tasks);
/// // The paper's policy has the strict gate too, and releases a skill on trial after one task.
/// assert_eq!(BundlePolicy::paper().gate, Gate::All);
/// assert!(BundlePolicy::paper().tasks < strict.tasks);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BundlePolicy {
    /// The test that a refined version must pass.
    pub gate: Gate,
    /// Minimum number of different tasks with a passed whole-attempt case before a skill on trial is released.
    /// Cases come from the attempt that the skill was written from, attempts that it helped, attempts from which the same skill
    /// was written again, and attempts that the refactorer found to share it. The paper: 1, the attempt that it was written
    /// from. Ours: 2, since what one attempt needed may have been that attempt's alone.
    pub tasks: NonZeroU32,
    /// Greatest number of bundles that are made and of those that are run in one maintenance.
    pub most: NonZeroU32,
    /// Whether a failing case of an attempt that the skill harmed blocks its release. The paper: yes. Ours: no; the attempt
    /// already counts as a judgement against the skill, and may have needed something that no other attempt needs.
    pub harm_blocks: bool,
}

impl BundlePolicy {
    /// The paper's: every case has to pass, one task suffices.
    pub fn paper() -> Self {
        Self {
            gate: Gate::All,
            tasks: NonZeroU32::MIN,
            harm_blocks: true,
            ..Self::default()
        }
    }
}

impl Default for BundlePolicy {
    fn default() -> Self {
        Self {
            gate: Gate::default(),
            tasks: const { NonZeroU32::new(2).expect("not 0") },
            most: const { NonZeroU32::new(20).expect("not 0") },
            harm_blocks: false,
        }
    }
}

/// When a skill is disabled (HiSME 3.3, Eq. 14 to 16; row H9; the paper does not publish its thresholds). The default is ours.
///
/// ```
/// use journeyman::{
///     TaskId, Version,
///     domain::{AttemptId, Attribution, Judgement},
///     library::{Judged, Life},
///     papers::hisme::FilterPolicy,
///     testing::sample,
/// };
///
/// let skill = sample::skill("open jar").reference();
/// let judged = |attempt: &str, judgement| {
///     let (attempt, task) = (AttemptId::new(attempt), TaskId::new("jar"));
///     Judged::new(Attribution::new(skill.clone(), attempt, task, judgement))
/// };
/// let mut life = Life::default();
/// life.judged = vec![judged("1", Judgement::Harmful), judged("2", Judgement::Harmful)];
/// assert!(FilterPolicy::default().takes(&life, Version(1)));
/// life.judged.push(judged("3", Judgement::Helpful));
/// assert!(!FilterPolicy::default().takes(&life, Version(1)));
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilterPolicy {
    /// Minimum number of harmful judgements of a version that disable it (tau).
    pub harmful: NonZeroU32,
    /// Minimum number of helpful judgements of a version that protect it (tau_p).
    pub helpful: u32,
    /// Number of the version's latest judgements that are counted (the maintenance window of Eq. 14), at least `harmful`.
    #[serde(default = "FilterPolicy::window")]
    pub window: NonZeroU32,
    /// Whether a skill that still meets the release threshold ([`BundlePolicy::tasks`]) is kept. The paper: no. Ours: yes, since
    /// attempts with a correct skill fail, too, when the environment is noisy.
    pub keep_supported: bool,
}

impl FilterPolicy {
    /// Disabled by so many harmful judgements, and protected by so many helpful ones; else as the default.
    pub fn new(harmful: NonZeroU32, helpful: u32) -> Self {
        Self {
            harmful,
            helpful,
            ..Self::default()
        }
    }

    /// The paper's: judgements alone decide, by our thresholds.
    pub fn paper() -> Self {
        Self {
            keep_supported: false,
            ..Self::default()
        }
    }

    fn window() -> NonZeroU32 {
        const { NonZeroU32::new(8).expect("not 0") }
    }

    /// Whether the judgements of a version disable it (Eq. 16). `keep_supported` is not considered.
    pub fn takes(&self, life: &Life, version: Version) -> bool {
        let counts = life.latest_counts(version, self.window.get() as usize);
        counts.harmful >= self.harmful.get() && counts.helpful < self.helpful
    }
}

impl Default for FilterPolicy {
    /// Two harmful judgements and no helpful one. One alone may be the judge's mistake or an odd task; the paper requires
    /// explicit harmful evidence and no helpful evidence (3.3). The window is eight judgements: a service that changed is
    /// noticed, however often the skill had helped before.
    fn default() -> Self {
        Self {
            harmful: const { NonZeroU32::new(2).expect("not 0") },
            helpful: 1,
            window: Self::window(),
            keep_supported: true,
        }
    }
}

/// How attempts and skills are grouped and refactored (HiSME 3.2, appendix C; rows H2, H3). The default is ours.
///
/// ```
/// use journeyman::{policy::PolicyOptions, papers::hisme::{MacroPolicy, RefactorPolicy}};
///
/// let members = |members| {
///     let mut refactor = RefactorPolicy::default();
///     refactor.members = members;
///     let mut policy = MacroPolicy::default();
///     policy.refactor = Some(refactor);
///     policy
/// };
/// members(6).validate()?;
/// // A group has at most 6 members.
/// assert!(members(7).validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefactorPolicy {
    /// Greatest number of groups that the refactorer is given in one maintenance.
    pub groups: NonZeroU32,
    /// Greatest number of members of a group, 2 to 6.
    pub members: u32,
    /// The weights and the threshold of the overlap graph (Eq. 21).
    pub overlap: OverlapOptions,
    /// Whether a group is left out if one of its skills was written from all of its tasks. The paper: no. Ours: yes, since that
    /// skill already has what the group shares.
    pub skip_covered: bool,
    /// Whether an attempt that followed skills confirms a new one only if it goes better with the new one than with none. The
    /// paper: no. Ours: yes, since an attempt that is repeated with the skills that it followed goes as well again.
    pub counterfactual: bool,
    /// Whether a skill and the failed attempts that had it in the prompt make a skill-revision group, which needs no second task
    /// ([`CliqueOptions::revisions`]). The refactorer is shown these attempts beside the successful ones that confirm what it
    /// writes. The paper: yes (appendix C). Ours: no, since the refiner revises a skill from the attempts that it failed.
    #[serde(default)]
    pub revisions: bool,
}

impl RefactorPolicy {
    /// The paper's: groups by the overlap graph alone, skill-revision groups among them, and each true instance is played with
    /// the new skill alone.
    pub fn paper() -> Self {
        Self {
            skip_covered: false,
            counterfactual: false,
            revisions: true,
            ..Self::default()
        }
    }

    /// The options of the search for groups.
    pub(crate) fn cliques(&self) -> CliqueOptions {
        CliqueOptions {
            largest: self.members as usize,
            groups: self.groups.get() as usize,
            skip_covered: self.skip_covered,
            revisions: self.revisions,
            ..CliqueOptions::default()
        }
    }
}

impl Default for RefactorPolicy {
    fn default() -> Self {
        Self {
            groups: const { NonZeroU32::new(4).expect("not 0") },
            members: 4,
            overlap: OverlapOptions::default(),
            skip_covered: true,
            counterfactual: true,
            revisions: false,
        }
    }
}

/// How roles learn rules (HiSME 3.4, algorithm 5; row H13).
///
/// ```
/// use journeyman::{domain::RoleRule, policy::PolicyOptions, papers::hisme::{EvolvePolicy, MacroPolicy}};
///
/// let rules = |rules| {
///     let mut evolve = EvolvePolicy::default();
///     evolve.rules = rules;
///     let mut policy = MacroPolicy::default();
///     policy.evolve = Some(evolve);
///     policy
/// };
/// rules(2).validate()?;
/// assert!(rules(RoleRule::MOST + 1).validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvolvePolicy {
    /// Minimum number of judgements of a mature skill; a disabled or archived skill is mature without them. Results of test
    /// cases do not count: they show that a skill does what its own attempts needed, and not how it does on new tasks.
    pub mature: u32,
    /// Minimum number of mature skills of a role before it learns rules.
    pub rows: NonZeroU32,
    /// Greatest number of mature skills that the evolver is shown, the latest ones.
    pub sample: NonZeroU32,
    /// Greatest number of rules, 1 to [`RoleRule::MOST`]. The paper: 5.
    pub rules: usize,
}

impl Default for EvolvePolicy {
    fn default() -> Self {
        Self {
            mature: 1,
            rows: const { NonZeroU32::new(5).expect("not 0") },
            sample: const { NonZeroU32::new(24).expect("not 0") },
            rules: RoleRule::MOST,
        }
    }
}

/// When a skill is refined (HiSME 3.3, algorithm 4; row H10). The default is ours.
///
/// ```
/// use journeyman::{policy::Policies, recipe, papers::hisme::{MicroPolicy, RefinePolicy}};
///
/// let mut recipe = recipe::hisme();
/// // Harmed attempts alone, and neither refused attempts nor failed cases.
/// let mut harmed = RefinePolicy::default();
/// harmed.insufficient = false;
/// harmed.failed_cases = false;
/// recipe.maintenance.edit(|micro: &mut MicroPolicy| micro.refine = Some(harmed));
/// recipe.resolve(&Policies::new())?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefinePolicy {
    /// Minimum number of failed attempts of the current version before it is refined. An attempt that the version
    /// harmed is a failed one.
    pub failed: NonZeroU32,
    /// Greatest number of skills that are refined in one maintenance.
    pub most: NonZeroU32,
    /// Whether an attempt that followed the version and had an action refused counts as failed, too: if the version was judged
    /// neutral or uncertain for it, or if it was judged helpful and, of the kept attempts that followed it, at two tasks or
    /// more, none succeeded without a refusal. The paper: no. Ours: yes, since a skill that says too little harms no attempt and
    /// would never be refined.
    pub insufficient: bool,
    /// Whether a failed case of the version's bundle counts as a failed attempt. The paper: yes. Ours: no; no trace of the
    /// failed run is kept, so the refiner is shown the attempt that the case was made from, which does not show the failure.
    pub failed_cases: bool,
    /// Whether a refined version that does not pass its bundle stays in the library as a draft, with the reason under the metadata key
    /// [`SkillMd::REFUSED`](crate::library::format::SkillMd::REFUSED). A skill has one draft at most: a later one takes its place, and none that
    /// waits for its test. The paper: yes. Ours: no; the journal has the text and the reason.
    #[serde(default)]
    pub keep_drafts: bool,
    /// Whether the refiner may change more of a skill than its description, trigger and body: also its name, kind, scope and tools
    /// ([`Skill::allowed_tools`](crate::domain::Skill::allowed_tools)), and whether it may archive the skill. Tools are those that the
    /// skill had or that an attempt shown to the refiner called; a scope is general, the skill's, or the category of such an attempt's
    /// task. A name that another skill has is not taken: the skill keeps its own. The paper: yes, since the refiner revises "scope,
    /// interface, implementation, or trigger condition" and archives (3.3; algorithm 4, line 14). Ours: no.
    #[serde(default)]
    pub whole: bool,
}

impl RefinePolicy {
    /// The paper's: harmed attempts and failed cases, drafts are kept, and the refiner may change all of a skill and archive it.
    pub fn paper() -> Self {
        Self {
            insufficient: false,
            failed_cases: true,
            keep_drafts: true,
            whole: true,
            ..Self::default()
        }
    }
}

impl Default for RefinePolicy {
    /// Refines a skill after its first failed attempt.
    fn default() -> Self {
        Self {
            failed: NonZeroU32::MIN,
            most: const { NonZeroU32::new(8).expect("not 0") },
            insufficient: true,
            failed_cases: false,
            keep_drafts: false,
            whole: false,
        }
    }
}

impl MaintenanceContext<'_, MicroPolicy> {
    /// The policy of test bundles, where test cases can be played.
    pub(crate) fn played_bundles(&self) -> Option<&BundlePolicy> {
        self.policy.bundles.as_ref().filter(|_| self.replays)
    }
}
