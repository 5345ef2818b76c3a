//! The result of one turn of an agent's model.

use crate::domain::{Action, GenerationRecord, SkillUse, StepNote, UnreadTurn};

/// The result of one turn of the model.
pub(super) enum Turn {
    Act(Box<Acted>),
    Unreadable(Box<UnreadTurn>),
    /// The prompt's tokens leave no room for an answer, or cut it off.
    TooLong(u64),
}

/// An action, with the model's words.
pub(super) struct Acted {
    pub(super) action: Action,
    pub(super) transcript: String,
    /// What the words say of each injected skill.
    pub(super) used: Vec<SkillUse>,
    pub(super) notes: Vec<StepNote>,
    pub(super) generations: Vec<GenerationRecord>,
}

impl Acted {
    /// A replayed action.
    pub(super) fn replayed(action: Action) -> Self {
        Self {
            action,
            transcript: String::new(),
            used: Vec::new(),
            notes: Vec::new(),
            generations: Vec::new(),
        }
    }
}
