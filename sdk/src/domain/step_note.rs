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
    /// A call was not written as its tool wants it, in the spelling of the name or the types of values, and was put right without
    /// loss.
    Repaired,
}

impl fmt::Display for StepNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AbsentSkillCited => "the answer cites a skill that is not there",
            Self::AskedAgain => "an answer that could not be used was asked for again",
            Self::Repaired => {
                "a call was put right: the spelling of its name, or the types of its values"
            }
        })
    }
}
