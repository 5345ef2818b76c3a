//! The groups that go to the refactorer (HiSME appendix C, algorithm 3).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Purity;
use crate::{
    domain::Taint,
    id::{SegmentId, SkillId, TaskId},
};

/// What a group said when it was handed out: a digest of each of its segments. A segment that says something else since
/// has another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub(super) BTreeSet<String>);

/// Segments that overlap all with each other, and belong together for a reason that is told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clique {
    /// By id.
    pub segments: Vec<SegmentId>,
    /// The skill that a skill-revision group is about.
    pub revises: Option<SkillId>,
    /// The distinct tasks of the true instances and of the skills, by id.
    pub tasks: Vec<TaskId>,
    /// Those that show something that worked; what a refactorer makes must be supported by all of them.
    pub true_instances: Vec<SegmentId>,
    /// Why they belong together; at least one reason.
    pub purity: Vec<Purity>,
    /// The mean weight of the edges times the binary logarithm of the number of segments and tasks: each further one
    /// counts, and less each time.
    pub score: f64,
    /// Whether untrusted text may be in one of them (J7).
    pub taint: Taint,
    /// For the set of those that were handed out.
    pub fingerprint: Fingerprint,
}
