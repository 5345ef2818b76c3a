//! What attempts and skills have in common, as a basis for new skills (HiSME 3.2 and appendix C; rows H2, H3).
//!
//! An attempt is [projected](fn@project) onto [`Segment`]s, one for each turn of its task; a skill is a segment too. An
//! [`OverlapGraph`] ties together those that are alike, and is kept up to date as they come and go. Its
//! [`cliques`](OverlapGraph::cliques) are what a refactorer writes skills from, each with the reason for which it belongs
//! together.
//!
//! # What overlaps
//! `w = 0.45 s + 0.35 c + 0.20 e`, and an edge where that is at least 0.18:
//!
//! - *s*, the sparse n-gram overlap: the Jaccard index of the two segments' [n-grams](Segment::ngrams), the share
//!   of those that both have among those that either has. The paper does not say which overlap it takes. Sets, not counts,
//!   so that a word that is repeated weighs once; and neither numbers nor values are in them.
//! - *c*, the cosine of the embeddings, at least 0; 0 where one of the two has none.
//! - *e*, the error-text overlap: 1.7 times the Jaccard index of the [n-grams of the errors](Segment::error_ngrams), at
//!   most 1.

pub(crate) mod asking;
mod due;
mod options;
mod overlap;
mod project;
mod segment;
pub(crate) mod writing;

pub use due::{WINDOW, level_at_like_tasks, note_words};
pub use options::{WritePolicy, WriteWhen, Writer};
pub use overlap::{
    Binding, Clique, CliqueOptions, Edge, Fingerprint, Overlap, OverlapGraph, OverlapOptions,
    Purity,
};
pub use project::project;
pub use segment::{Segment, SegmentArgument, SegmentCall, SegmentKind, ValueSource};
