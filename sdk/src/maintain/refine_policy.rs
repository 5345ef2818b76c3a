//! The options of refinement.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// When a skill is refined (HiSME 3.3, algorithm 4; row H10). The default is ours.
///
/// ```
/// use journeyman::{maintain::RefinePolicy, recipe};
///
/// let mut recipe = recipe::hisme();
/// // Harmed attempts alone, and neither refused attempts nor failed cases.
/// let harmed = RefinePolicy { insufficient: false, failed_cases: false, ..RefinePolicy::default() };
/// recipe.maintenance.refine = Some(harmed);
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// [`SkillMd::REFUSED`](crate::format::SkillMd::REFUSED). A skill has one draft at most: a later one takes its place, and none that
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
