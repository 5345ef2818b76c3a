//! Measures of learning: the information gain of each skill, exact and by proxy (ARISE D.3; row A11); steps and tokens a task,
//! and the mix of a curator's calls (SkillOS, evaluation; row K6).

mod efficiency;
pub(crate) mod gaining;
mod information_gain;

pub use efficiency::{CallMix, CallWindow, Efficiency};
pub use information_gain::ProxyGain;
