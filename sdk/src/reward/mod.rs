//! Rewards and group-relative advantages.
