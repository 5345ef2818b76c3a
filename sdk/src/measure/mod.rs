//! Measures of learning: the information gain of each skill, exact and by proxy (ARISE D.3; row A11); how much shorter skills are
//! than the trajectories behind them, and how a bank grows (SkillRL 3.2, 4.3; row R7).

mod compression;
pub(crate) mod gaining;
mod growth;
mod information_gain;

pub use compression::{Compression, PromptLength, Tokens, raw_text};
pub use growth::{BankSize, bank_growth};
pub use information_gain::ProxyGain;
