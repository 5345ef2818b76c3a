//! Proposals: which skills are written, and from which attempts (ARISE D.1 and C.3; HiSME 3.2 and appendix C; rows A8, A9, H1 to
//! H3).
//!
//! After the attempts at one task, a [`WritePolicy`] decides whether a skill is written, by which writer, and from which attempts.
//! A curator ([`Curate`]) answers with calls that insert, update and delete skills ([`CurateCall`]; SkillOS, row K2).
//! Between tasks, groups of similar attempts and skills are found for the refactorer: an attempt is
//! [projected](fn@project) onto [`Segment`]s, one for each turn of its task, and a skill is a segment too. An [`OverlapGraph`]
//! has an edge between similar segments and is updated as they come and go. Its [`cliques`](OverlapGraph::cliques) are the
//! groups, each with the features that its members share.
//!
//! # The weight of an edge
//! `w = 0.45 s + 0.35 c + 0.20 e`; two segments have an edge if `w` is at least 0.18:
//!
//! - *s*, the sparse n-gram overlap: the Jaccard index of the two segments' [n-grams](Segment::ngrams), the number of those
//!   that both have divided by the number of those that either has. The paper does not define its overlap. Sets, not counts,
//!   so that a repeated word weighs once; numbers and values are in none of them.
//! - *c*, the cosine of the embeddings, at least 0; 0 if one of the two has none.
//! - *e*, the error-text overlap: 1.7 times the Jaccard index of the [n-grams of the errors](Segment::error_ngrams), at
//!   most 1.

pub(crate) mod curate;
mod due;
mod options;
mod overlap;
mod project;
mod segment;
pub(crate) mod writers;
pub(crate) mod writing;

pub use curate::CurateCall;
pub use due::{WINDOW, level_at_like_tasks, note_words};
pub use options::{Recovered, WritePolicy, WriteWhen};
pub use overlap::{
    Binding, Clique, CliqueOptions, Edge, Fingerprint, Overlap, OverlapGraph, OverlapOptions,
    Purity,
};
pub use project::project;
pub use segment::{Segment, SegmentArgument, SegmentCall, SegmentKind, ValueSource};
pub use writers::{Curate, Extract, Summarize};
