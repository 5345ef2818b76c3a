//! Measures of how learning goes.

pub(crate) mod gaining;
mod information_gain;

pub use information_gain::ProxyGain;
