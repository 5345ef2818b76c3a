//! The overlap graph (HiSME appendix C, Eq. 21) and its cliques (algorithm 3).
//!
//! # How edges are found
//! A new segment meets those that may reach the threshold, and only these:
//!
//! - *Words.* An inverted index over n-grams and errors, in the manner of AllPairs and PPJoin (Bayardo et al. 2007, Xiao
//!   et al. 2008). All n-grams stand in one order, rarest first. What two segments share begins with some n-gram, so from
//!   its place on, and from the sizes of the two, follows what they can share at most and what that weighs. Near the end of
//!   the order, among the frequent n-grams, that is too little: there a segment is neither indexed nor looked up. The order
//!   is by frequency when the index was last built, and it is built again after as many changes as there are segments;
//!   edges do not depend on it.
//! - *Embeddings.* An exact pass over all of them, as [`VectorRetriever`](crate::builtin::VectorRetriever) makes it, finds
//!   those whose cosine is at least [`neighbour`](OverlapOptions::neighbour). What is below adds little, so words must
//!   bring the rest: the threshold less that little.
//!
//! Skills of no task, such as a library that a host brings, are not indexed. Two of them make no group without a third
//! segment, so edges between them are found when somebody asks for them, and a segment of a task meets them one by one: it
//! costs as much as there are of them, and they cost nothing until it comes.
//!
//! What was found so is held against an upper bound that the sizes and a bitmap of the n-grams give, and only then
//! compared. The edges are exactly those that comparing all pairs gives, whatever the order in which segments came.

mod clique;
mod edges;
mod features;
mod graph;
mod heaviest;
mod index;
mod options;
mod purity;
mod saved;
mod search;

#[cfg(test)]
mod tests;

pub use clique::{Clique, Fingerprint};
pub use graph::{Edge, OverlapGraph};
pub use options::{CliqueOptions, Overlap, OverlapOptions};
pub use purity::{Binding, Purity};
