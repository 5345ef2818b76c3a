//! Retrieval: what is asked for at a turn, and how what was found is ranked (HiSME appendix B, Eq. 20; row H12).

mod rank;
mod turn_query;
mod view;

pub use rank::{RankWeights, Ranked, rank};
pub use turn_query::turn_query;
pub use view::{view, view_text};
