//! When skills are written from the attempts at a task, and by which role.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// When a skill is written from a group.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteWhen {
    /// Never: the library stays as it is (Table 2's ablation c).
    Never,
    /// Whenever there are traces to write from (ARISE).
    Always,
    /// When the mean verdict score is below this bound, in (0, 1]: where the agent, with what it was given, already does
    /// well, there is nothing to learn. Ours.
    ///
    /// A group of [`WINDOW`](crate::propose::WINDOW) attempts or more is judged by itself. A smaller one, such as a single
    /// attempt in a host's own loop, is judged together with the latest attempts at like tasks; there an attempt with a
    /// refused action counts as 0, and one that was done with a skill and no refusal gives nothing to write.
    Below(f64),
}

/// Who writes skills from single tasks.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Writer {
    /// One skill from the successful attempts of the group (ARISE D.1).
    #[default]
    Summarize,
    /// Several candidates from the best attempt (HiSME 3.2).
    Extract {
        /// Number of candidates, at least 1. The paper: 3.
        candidates: u32,
        /// Whether they are extracted from a failed attempt too, where none of the group succeeded. The paper: yes. Ours: no,
        /// since a failed attempt has no test case that the skill could pass.
        failures: bool,
    },
}

/// How skills are written from single tasks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WritePolicy {
    /// When.
    pub when: WriteWhen,
    /// By which role.
    #[serde(default)]
    pub by: Writer,
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
        match (self.when, self.by) {
            (WriteWhen::Below(bound), _) if !(bound > 0.0 && bound <= 1.0) => {
                invalid("write.when", "the bound must be in (0, 1]")
            }
            (_, Writer::Extract { candidates: 0, .. }) => {
                invalid("write.by", "there must be at least 1 candidate")
            }
            _ => Ok(()),
        }
    }
}
