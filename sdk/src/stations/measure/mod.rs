//! Measures of learning: the information gain of each skill, exact and by proxy (ARISE D.3; row A11); how reliably subgoals are
//! completed, and whether plans that work are preferred (SCRIBE 6.1, appendix E; row C8); steps and tokens a task, and the mix of
//! a curator's calls (SkillOS, evaluation; row K6); how much shorter skills are than the trajectories behind them, and how a bank
//! grows (SkillRL 3.2, 4.3; row R7).

mod compression;
mod efficiency;
pub(crate) mod gain;
mod growth;
mod information_gain;
mod plans;
mod structure;

pub use compression::{Compression, PromptLength, Tokens, raw_text};
pub use efficiency::{CallMix, CallWindow, Efficiency};
pub use growth::{BankSize, bank_growth};
pub use information_gain::ProxyGain;
pub use plans::{Plan, candidate_plans};
pub use structure::{ExecutedPlan, HighLevel, MidLevel, StructureOptions, Trials, Viability};
