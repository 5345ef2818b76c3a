//! Measures of how learning goes.

mod information_gain;

pub use information_gain::ProxyGain;
