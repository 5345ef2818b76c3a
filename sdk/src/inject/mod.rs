//! Injection: how a skill is written into a prompt.
