//! A hostile package, and who has to refuse it.

use std::collections::BTreeMap;

/// The guard that keeps a hostile package from use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// A linter finds an error.
    Lint,
    /// The package is well formed. An imported skill starts quarantined until a person or evidence releases it.
    Quarantine,
}

/// A hostile package, as the input of a linter.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostile {
    /// The attack in words.
    pub what: &'static str,
    /// The guard that has to refuse it.
    pub refused_by: RefusedBy,
    /// SKILL.md.
    pub text: Vec<u8>,
    /// The other files, by their paths within the folder; some paths must never be written to.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The folder's name.
    pub folder_name: String,
}
