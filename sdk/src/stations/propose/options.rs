//! When skills are written from the attempts at a task, and by which writer.

use serde::{Deserialize, Serialize};

use super::{Curate, Extract, Summarize};
use crate::{
    error::{Error, Result},
    policy::Policy,
};

/// When a skill is written from the attempts at a task.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteWhen {
    /// Never: the library stays as it is (ARISE Table 2, ablation c).
    Never,
    /// Whenever there are attempts to write from (ARISE).
    Always,
    /// When the mean verdict score is below this bound, in (0, 1]: if the agent already does well with the skills that it
    /// was given, there is nothing to learn. Ours.
    ///
    /// The mean of a group of [`WINDOW`](crate::stations::propose::WINDOW) attempts or more is the group's own. A smaller group, such as
    /// a single attempt in a host's own loop, is averaged with the latest attempts at similar tasks; then no skill is written
    /// from a success with a skill and without a refusal, which shows only what the library has. In both an attempt with a
    /// refused action counts as [`WritePolicy::recovered`] says.
    Below(f64),
}

/// How an attempt in which the world refused an action counts in the mean of [`WriteWhen::Below`], whatever its verdict, in
/// [`learn`](crate::run::Journeyman::learn) and [`begin`](crate::run::Journeyman::begin) alike.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recovered {
    /// As 0: what it was refused is what a skill spares the next attempt. Ours.
    #[default]
    AsFailed,
    /// As its verdict says.
    AsJudged,
}

impl Recovered {
    /// The level of an attempt, in [0, 1], by its score and the number of its refused actions.
    pub fn level(self, score: f64, refused: u32) -> f64 {
        match self {
            Self::AsFailed if refused > 0 => 0.0,
            _ => score,
        }
    }
}

/// How skills are written from single tasks. Each recipe has one, which a host changes.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{
///     stations::propose::{Extract, Recovered, WriteWhen},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.write.when = WriteWhen::Always;
/// recipe.write.recovered = Recovered::AsFailed;
/// recipe.write.by = Extract::new(NonZeroU32::MIN).into();
/// recipe.validate()?;
/// recipe.write.when = WriteWhen::Below(1.5);
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritePolicy {
    /// When a skill is written.
    pub when: WriteWhen,
    /// How an attempt with a refused action counts, where `when` looks at scores.
    #[serde(default)]
    pub recovered: Recovered,
    /// The writer: one of ours ([`Summarize`], [`Extract`], [`Curate`]), or a host's own by the name under which it is registered
    /// ([`WriteProgram`](crate::policy::WriteProgram)).
    #[serde(default = "summarize")]
    pub by: Policy,
}

fn summarize() -> Policy {
    Summarize::default().into()
}

impl WritePolicy {
    /// Checks every number, and the options of a writer of ours.
    ///
    /// # Errors
    /// `Invalid`, naming the field or the policy.
    pub fn validate(&self) -> Result<()> {
        self.by.check::<Summarize>()?;
        self.by.check::<Extract>()?;
        self.by.check::<Curate>()?;
        let invalid = |field: &'static str, rule: &str| {
            Err(Error::invalid("Recipe::validate", rule).with("field", field))
        };
        match self.when {
            WriteWhen::Below(bound) if !(bound > 0.0 && bound <= 1.0) => {
                invalid("write.when", "the bound must be in (0, 1]")
            }
            _ => Ok(()),
        }
    }
}
