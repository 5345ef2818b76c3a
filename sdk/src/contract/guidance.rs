//! The skills for each turn of an attempt.

use std::{collections::BTreeMap, fmt, sync::Mutex};

use async_trait::async_trait;

use crate::{
    domain::{Injection, Observation, SkillRef, SkillUse, Step},
    error::Result,
};

/// The state of an attempt at the beginning of a turn.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct TurnContext<'a> {
    /// The turn's number, from 0: the number of the agent's steps so far.
    pub turn: u32,
    /// The current observation.
    pub observation: &'a Observation,
    /// The steps so far.
    pub steps: &'a [Step],
}

impl<'a> TurnContext<'a> {
    /// A turn, from 0, with what the agent sees and the steps before.
    pub fn new(turn: u32, observation: &'a Observation, steps: &'a [Step]) -> Self {
        Self {
            turn,
            observation,
            steps,
        }
    }
}

/// Gives an executor the skills for each turn, and records which of them the agent followed.
///
/// ```
/// use std::sync::Mutex;
/// use journeyman::{Result, async_trait, contract::{Guidance, TurnContext}};
/// use journeyman::domain::{Injection, SkillRef, SkillUse};
///
/// /// The same skills as long as no tool has refused a call, and none afterwards.
/// #[derive(Debug)]
/// struct UntilRefused {
///     injection: Injection,
///     used: Mutex<Vec<(SkillRef, SkillUse)>>,
/// }
///
/// #[async_trait]
/// impl Guidance for UntilRefused {
///     async fn for_turn(&self, context: &TurnContext<'_>) -> Result<Injection> {
///         let refused = context.steps.iter().any(|step| step.result.is_error);
///         Ok(if refused { Injection::NONE } else { self.injection.clone() })
///     }
///
///     fn used(&self, skill: &SkillRef, used: SkillUse) {
///         if self.injection.skills.iter().any(|injected| injected.skill == *skill) {
///             self.used.lock().unwrap().push((skill.clone(), used));
///         }
///     }
/// }
/// # use journeyman::domain::{Action, Observation, Source, Step, StepResult};
/// # futures::executor::block_on(async {
/// #
/// # let skill = journeyman::testing::sample::skill("brew");
/// let injection = journeyman::testing::sample::injection(&[skill]);
/// let guidance = UntilRefused { injection, used: Mutex::default() };
/// let refused = Step::new(Action::EndTurn, StepResult::refused("locked", Source::default()));
/// let observation = Observation::default();
/// let first = TurnContext::new(0, &observation, &[]);
/// let steps = [refused];
/// let second = TurnContext::new(1, &observation, &steps);
/// assert_eq!(guidance.for_turn(&first).await?.skills.len(), 1);
/// assert!(guidance.for_turn(&second).await?.is_empty());
/// # Ok::<_, journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Behavior
/// - *any turn*: `for_turn` may be asked for any turn, repeatedly.
/// - *used*: `used` of a skill that was not injected is passed over. A skill of which nothing is reported has an unknown use;
///   of several reports the greatest counts (followed, not followed, unknown).
#[async_trait]
pub trait Guidance: fmt::Debug + Send + Sync {
    /// The injection for a turn.
    ///
    /// # Errors
    /// Errors of retrieval, scoring or selection; an executor then goes on without injection.
    async fn for_turn(&self, context: &TurnContext<'_>) -> Result<Injection>;

    /// Records whether the agent followed a skill, as far as the agent says so.
    fn used(&self, skill: &SkillRef, used: SkillUse);
}

/// The same injection at every turn, for executors that work outside a run.
///
/// ```
/// use journeyman::{
///     contract::{FixedGuidance, Guidance},
///     domain::SkillUse,
///     testing::sample,
/// };
///
/// let skill = sample::skill("close-ticket");
/// let guidance = FixedGuidance::new(sample::injection(std::slice::from_ref(&skill)));
/// guidance.used(&skill.reference(), SkillUse::Followed);
/// assert_eq!(guidance.reported()[&skill.reference()], SkillUse::Followed);
/// ```
#[derive(Debug)]
pub struct FixedGuidance {
    injection: Injection,
    used: Mutex<BTreeMap<SkillRef, SkillUse>>,
}

impl FixedGuidance {
    /// Guidance that always answers `injection`.
    pub fn new(injection: Injection) -> Self {
        Self {
            injection,
            used: Mutex::default(),
        }
    }

    /// What was reported of each skill; a skill that is missing was never reported.
    pub fn reported(&self) -> BTreeMap<SkillRef, SkillUse> {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<SkillRef, SkillUse>> {
        // The map stays whole whatever thread panicked while it held the lock.
        self.used
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl Guidance for FixedGuidance {
    async fn for_turn(&self, _context: &TurnContext<'_>) -> Result<Injection> {
        Ok(self.injection.clone())
    }

    fn used(&self, skill: &SkillRef, used: SkillUse) {
        if self.injection.skills.iter().any(|s| s.skill == *skill) {
            let mut reported = self.lock();
            let known = reported.entry(skill.clone()).or_default();
            *known = (*known).max(used);
        }
    }
}
