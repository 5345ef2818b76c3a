//! Remarks on a step.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something in an agent's words that was passed over, so that the step could be taken.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepNote {
    /// The words cite a skill that did not stand in the prompt.
    AbsentSkillCited,
    /// A first answer could not be read as an action, and the model was asked again.
    AskedAgain,
}

impl fmt::Display for StepNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AbsentSkillCited => "the answer cites a skill that is not there",
            Self::AskedAgain => "an answer that could not be read was asked for again",
        })
    }
}
