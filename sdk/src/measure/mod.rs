//! Measures of learning: the information gain of each skill, exact and by proxy (ARISE D.3; row A11).

pub(crate) mod gaining;
mod information_gain;

pub use information_gain::ProxyGain;
