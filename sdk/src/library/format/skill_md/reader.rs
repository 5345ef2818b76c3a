//! The state of one reading of a SKILL.md, shared by the parts that read its frame and its fields.

use std::collections::{BTreeMap, BTreeSet};

use super::Forgiven;
use crate::error::Error;

/// The operation that errors of reading name.
pub(super) const READ: &str = "SkillMd::read";

/// A reading under way: the place of each key, what was forgiven so far, and every fault so far.
#[derive(Default)]
pub(super) struct Reader {
    pub(super) forgiven: Vec<Forgiven>,
    pub(super) faults: Vec<Error>,
    pub(super) lines: BTreeMap<String, usize>,
    pub(super) cut: Vec<usize>,
    pub(super) written_name: Option<String>,
    /// Fields that are present and could not be read; no fault says that they are missing.
    pub(super) unread: BTreeSet<&'static str>,
}

/// The fault of a field whose value has another shape than `wanted`; `line` counts from 1.
pub(super) fn shape(field: &'static str, line: usize, wanted: &str) -> Error {
    Error::invalid(READ, format!("`{field}` is not {wanted}"))
        .with("line", line)
        .with("field", field)
        .hint("put the value in quotes if it begins with [ or {")
}
