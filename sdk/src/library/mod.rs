//! The library: a fold over committed changes, its two tiers and its evidence.
