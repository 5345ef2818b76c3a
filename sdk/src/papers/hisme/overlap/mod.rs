//! The overlap graph (HiSME appendix C, Eq. 21) and its cliques (algorithm 3).
//!
//! # How edges are found
//! A new segment is compared only with segments whose edge may reach the threshold:
//!
//! - *Words.* An inverted index over n-grams and errors, as in AllPairs and PPJoin (Bayardo et al. 2007, Xiao et al. 2008).
//!   All n-grams are in one order, rarest first. The first n-gram that two segments share, with the sizes of the two,
//!   bounds the number of n-grams that they share and so the weight of their edge. Near the end of the order, among the
//!   frequent n-grams, the bound is below the threshold: there a segment is neither indexed nor looked up. The order is by
//!   the frequencies at the last build of the index. The index is built again after as many changes as there are segments;
//!   edges do not depend on the order.
//! - *Embeddings.* An exact pass over all embeddings, as in `agent::VectorRetriever`, finds the
//!   segments whose cosine is at least [`neighbour`](OverlapOptions::neighbour). A lower cosine adds at most
//!   `embedding * neighbour` to the weight, so for other segments words must bring the threshold less that amount.
//!
//! Skills of no task, such as those that a host ships, are not indexed. Two of them make no group without a third segment,
//! so edges between them are found only on request. A segment of a task is compared with each of them, so its cost is
//! proportional to their number; they cost nothing until such a segment comes.
//!
//! For each candidate, the sizes and a bitmap of the n-grams give an upper bound of the weight. Only a candidate whose bound
//! reaches the threshold is compared exactly. The edges are the same as those of a comparison of all pairs, for any order of
//! insertion.

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
