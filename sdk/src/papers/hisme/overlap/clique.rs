//! The groups that go to the refactorer (HiSME appendix C, algorithm 3).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{SkillRef, Taint},
    id::{SegmentId, TaskId},
    papers::hisme::overlap::Purity,
};

/// Identifies the content of a group when it was handed out: a digest of each of its segments. A segment whose content
/// changes gets another digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub(super) BTreeSet<String>);

/// A group of segments in which every two overlap, with the reasons for which they belong together.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clique {
    /// By id.
    pub segments: Vec<SegmentId>,
    /// The distinct tasks of the true instances and of the skills, by id.
    pub tasks: Vec<TaskId>,
    /// The segments of successful attempts; a skill that a refactorer writes must be supported by all of them.
    pub true_instances: Vec<SegmentId>,
    /// The skill of a skill-revision group ([`CliqueOptions::revisions`](crate::papers::hisme::CliqueOptions::revisions)), in the
    /// version that its failed turns had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revises: Option<SkillRef>,
    /// Why they belong together; at least one reason.
    pub purity: Vec<Purity>,
    /// The mean weight of the edges times the binary logarithm of the number of segments plus tasks, so that each further
    /// segment or task adds less than the one before.
    pub score: f64,
    /// Whether one of the segments may have untrusted text (J7).
    pub taint: Taint,
    /// The fingerprint, for the set of groups that were handed out.
    pub fingerprint: Fingerprint,
}
