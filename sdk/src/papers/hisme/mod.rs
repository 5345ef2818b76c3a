//! HiSME: the paper's recipe and [`hisme_robust`], which differs from it in options; micro maintenance ([`MicroPolicy`], algorithms 1
//! and 4: test bundles, release, refinement, the filter) and macro maintenance ([`MacroPolicy`], algorithms 3 and 5: refactoring of
//! what attempts share, and rules of roles) (rows H1 to H14).
//!
//! Groups of similar attempts and skills are found for the refactorer: an attempt is [projected](fn@project) onto [`Segment`]s, one
//! for each turn of its task, and a skill is a segment too. An [`OverlapGraph`] has an edge between similar segments and is updated as
//! they come and go. Its [`cliques`](OverlapGraph::cliques) are the groups, each with the features that its members share.
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

mod across_tasks;
mod bundles;
mod filter;
mod micro;
mod options;
mod overlap;
mod overlaps;
pub(crate) mod policies;
mod project;
mod recipe;
mod refactor;
mod refinement;
mod rules;
mod segment;
mod support;

pub use options::{
    BundlePolicy, EvolvePolicy, FilterPolicy, Gate, MacroPolicy, MicroPolicy, RefactorPolicy,
    RefinePolicy,
};
pub use overlap::{
    Binding, Clique, CliqueOptions, Edge, Fingerprint, Overlap, OverlapGraph, OverlapOptions,
    Purity,
};
pub use project::project;
pub use recipe::{hisme, hisme_robust};
pub use segment::{Segment, SegmentArgument, SegmentCall, SegmentKind, ValueSource};
