//! The jobs that a file gives a model of their own.

use std::ops::Range;

use journeyman::{Result, domain::Role};

use crate::toml_file::Source;

/// A job of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Acts.
    Agent,
    /// Scores skills for the gate.
    Gate,
    /// Plays these roles.
    Roles(Vec<Role>),
}

impl Job {
    /// The job of this name: `agent`, `gate`, a group of roles or a role.
    ///
    /// # Errors
    /// `Invalid` with the line for another name.
    pub(crate) fn named(source: &Source<'_>, name: &str, span: Range<usize>) -> Result<Self> {
        match name {
            "agent" => Ok(Self::Agent),
            "gate" => Ok(Self::Gate),
            other => Role::named(other).map(Self::Roles).map_err(|error| {
                let hint = error.hint_text().unwrap_or_default();
                let refused = source.refused(span, error.message(), format!("{hint}; or gate"));
                refused.with("job", other)
            }),
        }
    }

    /// Sorts jobs so that a role comes behind its group, whose model it then has not.
    pub(crate) fn order(&self) -> impl Ord + use<> {
        std::cmp::Reverse(match self {
            Self::Agent | Self::Gate => 0,
            Self::Roles(roles) => roles.len(),
        })
    }
}
