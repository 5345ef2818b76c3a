//! The options of credit.

use serde::{Deserialize, Serialize};

use super::{ByContribution, PerRollout, PerStep};
use crate::{domain::SkillUse, error::Result, policy::Policy, stations::reward::UsedWhen};

/// Of which injected skills a model judges what they did to an attempt: helpful, harmful, neutral or uncertain (HiSME 3.3). Where
/// the use of a skill is unknown, the judgement settles it for the library ([`SkillUse::judged`]).
///
/// ```
/// use journeyman::{recipe, stations::credit::Attribute};
///
/// let mut recipe = recipe::standard();
/// assert_eq!(recipe.credit.attribute, Attribute::Never);
/// recipe.credit.attribute = Attribute::UseUnknown;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attribute {
    /// Of none.
    #[default]
    Never,
    /// Of those whose use the agent left open. Ours: it asks no more than use needs to be known.
    UseUnknown,
    /// Of all, as HiSME does. A skill that the agent did not follow while it followed another one is neutral without a question:
    /// the other one caused the result, and a model that is asked about a failed attempt blames every skill in it. A skill of
    /// unknown use is asked about.
    Always,
}

impl Attribute {
    /// Whether the attribute role is asked at all.
    pub(crate) fn asks(self) -> bool {
        self != Self::Never
    }

    /// Whether it is asked about an injected skill of this use.
    pub(crate) fn asks_about(self, used: SkillUse) -> bool {
        match self {
            Self::Never => false,
            Self::UseUnknown => used == SkillUse::Unknown,
            Self::Always => true,
        }
    }
}

/// How the attempts of a group become credit for skills.
///
/// By the default, every attempt that had a skill in its prompt counts for the skill's utility, whatever is known of its use (ARISE
/// C.2: the credit is that of the selection); `used_when` says otherwise.
///
/// ```
/// use journeyman::{
///     stations::credit::{Attribute, PerRollout},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.credit.by = PerRollout.into();
/// recipe.credit.attribute = Attribute::UseUnknown;
/// recipe.validate()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreditPolicy {
    /// The rule: one of ours ([`PerStep`], [`PerRollout`], [`ByContribution`]), or a host's own by the name under which it is registered
    /// ([`CreditRule`](crate::policy::CreditRule)).
    pub by: Policy,
    /// Which injected skills of an attempt get credit for it, by what the agent said of their use. Rules get them as
    /// [`GroupAttempt::credited`](crate::policy::GroupAttempt::credited).
    #[serde(default)]
    pub used_when: UsedWhen,
    /// Of which skills a model judges what they did in an attempt.
    #[serde(default)]
    pub attribute: Attribute,
}

impl CreditPolicy {
    /// Checks the options of a rule of ours.
    ///
    /// # Errors
    /// `Invalid`, naming the policy.
    pub(crate) fn validate(&self) -> Result<()> {
        self.by.check::<PerStep>()?;
        self.by.check::<PerRollout>()?;
        self.by.check::<ByContribution>()
    }
}

impl Default for CreditPolicy {
    fn default() -> Self {
        Self {
            by: PerStep.into(),
            used_when: UsedWhen::default(),
            attribute: Attribute::default(),
        }
    }
}
