//! What the prompts of an attempt left out so that they fit the model's context.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What the prompts of an attempt left out so that they fit the model's context. The trajectory's steps are whole: only prompts
/// are shorter. Each number of steps is that of the prompt that left out the most.
///
/// ```
/// use journeyman::domain::Compaction;
///
/// let (mut seen, mut more) = (Compaction::NONE, Compaction::NONE);
/// (seen.prompts, seen.shortened) = (1, 3);
/// (more.prompts, more.shortened, more.dropped) = (1, 5, 2);
/// seen.add(more);
/// assert_eq!(seen.to_string(), "in 2 prompts: results of 5 steps shortened, 2 steps left out");
/// assert_eq!(Compaction::NONE.to_string(), "nothing");
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Compaction {
    /// Number of turns with a shorter prompt.
    pub prompts: u32,
    /// Number of steps whose result was shortened.
    pub shortened: u32,
    /// Number of steps of which only the action stood in the prompt.
    pub actions_only: u32,
    /// Number of steps that did not stand in the prompt.
    pub dropped: u32,
    /// Whether descriptions of tools were shortened.
    pub tools: bool,
    /// Whether optional arguments of tools were left out.
    pub arguments: bool,
    /// Whether the newest observation was shortened.
    pub newest: bool,
}

impl Compaction {
    /// Nothing was left out.
    pub const NONE: Self = Self {
        prompts: 0,
        shortened: 0,
        actions_only: 0,
        dropped: 0,
        tools: false,
        arguments: false,
        newest: false,
    };

    /// Whether nothing was left out.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Adds what further prompts left out.
    pub fn add(&mut self, more: Self) {
        self.prompts = self.prompts.saturating_add(more.prompts);
        self.shortened = self.shortened.max(more.shortened);
        self.actions_only = self.actions_only.max(more.actions_only);
        self.dropped = self.dropped.max(more.dropped);
        self.tools |= more.tools;
        self.arguments |= more.arguments;
        self.newest |= more.newest;
    }
}

/// In words, for people.
impl fmt::Display for Compaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_none() {
            return f.write_str("nothing");
        }
        let counts = [
            ("results of ", self.shortened, " steps shortened"),
            ("", self.actions_only, " steps as their actions alone"),
            ("", self.dropped, " steps left out"),
        ];
        let counts = counts.into_iter().filter(|(_, count, _)| *count > 0);
        let counts = counts.map(|(before, count, after)| format!("{before}{count}{after}"));
        let flags = [
            (self.tools, "descriptions of tools shortened"),
            (self.arguments, "optional arguments of tools left out"),
            (self.newest, "the newest observation shortened"),
        ];
        let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
        let parts: Vec<String> = counts
            .chain(flags.map(|(_, words)| words.to_owned()))
            .collect();
        match parts.is_empty() {
            // Nothing could be left out, and they are too long all the same.
            true => write!(f, "nothing of {} prompts that do not fit", self.prompts),
            false => write!(f, "in {} prompts: {}", self.prompts, parts.join(", ")),
        }
    }
}
