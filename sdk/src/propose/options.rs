//! When skills are written from the attempts at a task, and by which role.

use std::num::{NonZeroU32, NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::{
    error::{Error, Result},
    policy::OwnPolicy,
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
    /// The mean of a group of [`WINDOW`](crate::propose::WINDOW) attempts or more is the group's own. A smaller group, such as
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

/// The role that writes skills from the attempts at a single task.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// One skill from the successful attempts of the group (ARISE D.1).
    Summarize {
        /// How much of each attempt the role is shown, in characters; at most what the role itself shows (its `shown-chars`). The
        /// paper, and [`recipe::arise`](crate::recipe::arise): 400. Ours: `None`, as much as the role shows, since an attempt by
        /// native tool calls takes more, and what was refused would be cut off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shown_chars: Option<NonZeroUsize>,
        /// Whether an attempt without a call becomes a skill, too, where no answer can be read: the beginning of what the agent wrote, as
        /// the paper has it for mathematics ("Solve by: ..."). It holds the values of its task. Ours: no.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        keeps_reasoning: bool,
    },
    /// Several candidates from the best attempt (HiSME 3.2).
    Extract {
        /// Number of candidates. The paper: 3.
        candidates: NonZeroU32,
        /// Whether they are extracted from a failed attempt too, where none of the group succeeded. The paper: yes. Ours: no,
        /// since a failed attempt has no test case that the skill could pass.
        failures: bool,
    },
    /// A curator: after each task it is shown an attempt, the judge's verdict on it and the skills that were retrieved, and
    /// inserts, updates and deletes skills ([`CurateCall`](crate::propose::CurateCall); SkillOS, architecture). It is asked
    /// about failed attempts too, and about those that no judge could decide. Of several attempts it is shown the best.
    /// Every call is checked against the library as the calls before it leave it, when it is the task's turn to change the
    /// library; [`CurationReport`](crate::report::CurationReport) has the results.
    ///
    /// In the paper the executor judges its own attempt; a host that wants this gives a [`ModelJudge`](crate::role::ModelJudge) of the executor's
    /// model, alone or beside its own judge. Departures: a deleted skill is archived, so that nothing is lost.
    /// Text of an untrusted source changes no skill that is free of it, and a new skill written from it is quarantined.
    Curate {
        /// Greatest number of retrieved skills that the curator is shown: the selection's candidates, the best first; where it
        /// has none, such as that of a host's own selector, the skills that were injected. Not published; here 2 in
        /// [`recipe::skillos`](crate::recipe::skillos).
        skills: NonZeroU32,
    },
    /// A writer of the host's own ([`WriteProgram`](crate::policy::WriteProgram)).
    Own(OwnPolicy),
}

/// How skills are written from single tasks.
///
/// ```
/// use std::num::NonZeroU32;
///
/// use journeyman::{
///     propose::{Recovered, WritePolicy, WriteWhen, Writer},
///     recipe,
/// };
///
/// let mut recipe = recipe::standard();
/// recipe.write = WritePolicy {
///     when: WriteWhen::Always,
///     recovered: Recovered::AsFailed,
///     by: Writer::Extract { candidates: NonZeroU32::MIN, failures: false },
/// };
/// recipe.validate()?;
/// recipe.write.when = WriteWhen::Below(1.5);
/// assert!(recipe.validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritePolicy {
    /// When a skill is written.
    pub when: WriteWhen,
    /// How an attempt with a refused action counts, where `when` looks at scores.
    #[serde(default)]
    pub recovered: Recovered,
    /// The role that writes.
    #[serde(default)]
    pub by: Writer,
}

impl Default for Writer {
    fn default() -> Self {
        Self::Summarize {
            shown_chars: None,
            keeps_reasoning: false,
        }
    }
}

impl Writer {
    /// Whether it learns from a failed attempt, where none of the group succeeded.
    pub(crate) fn takes_failures(&self) -> bool {
        matches!(
            self,
            Self::Extract { failures: true, .. } | Self::Curate { .. }
        )
    }
}

impl WritePolicy {
    /// Checks every number.
    ///
    /// # Errors
    /// `Invalid`, naming the field.
    pub fn validate(&self) -> Result<()> {
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
