//! Retrieval for a turn: its query ([`turn_query()`]), the text by which a skill is found ([`view()`]), and the ranking of
//! the candidates ([`rank()`]). With the feature `embeddings`, `Fusion` joins those of two retrievers. HiSME appendix B, Eq. 20; row H12.

#[cfg(feature = "embeddings")]
mod fusion;
mod rank;
mod turn_query;
mod view;

pub use crate::domain::retrieval::RankWeights;
#[cfg(feature = "embeddings")]
pub use fusion::Fusion;
pub use rank::{Ranked, rank};
pub use turn_query::turn_query;
pub use view::{view, view_text};
