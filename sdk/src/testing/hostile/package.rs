//! A hostile package, and who has to refuse it.

use std::collections::BTreeMap;

/// Who keeps a hostile package from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// A linter finds an error.
    Lint,
    /// It is well formed: what is imported starts quarantined, and a person or evidence has to release it.
    Quarantine,
}

/// A hostile package as a linter is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hostile {
    /// What is hostile about it.
    pub what: &'static str,
    /// Who has to refuse it.
    pub refused_by: RefusedBy,
    /// SKILL.md.
    pub text: Vec<u8>,
    /// The other files, by their paths within the folder; some are no paths that anybody should write to.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The folder's name.
    pub folder_name: String,
}
