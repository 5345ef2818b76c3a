//! The parts of a case.

use serde::{Deserialize, Serialize};

use crate::script::Script;

/// The answer of a role that finds nothing to write.
pub(crate) const NOTHING: &str = "none";

/// A special property of a case, which plain cases of its role do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Twist {
    /// Of roles that write skills: the prompt has rules.
    Rules,
    /// Of comparing: in one attempt alone the service had a passing demand.
    Disagreement,
    /// Of crediting and repairing: the skill calls a tool that does not exist any more.
    Outlived,
}

/// The prompt of a case, the index of the skill that the role is asked about, and the answer.
#[derive(Debug)]
pub(super) struct CaseParts {
    pub(super) script: Script,
    pub(super) asked: Option<usize>,
    pub(super) answer: String,
    pub(super) twists: Vec<Twist>,
}

impl CaseParts {
    pub(super) fn of(script: Script, answer: String) -> Self {
        Self {
            script,
            asked: None,
            answer,
            twists: Vec::new(),
        }
    }

    pub(super) fn about(mut self, skill: usize) -> Self {
        self.asked = Some(skill);
        self
    }

    pub(super) fn with(mut self, twist: Option<Twist>) -> Self {
        self.twists.extend(twist);
        self
    }
}

/// The drawn parts of a case; `None` where the draws gave no case of the role.
pub(super) type Drawn = Option<CaseParts>;
