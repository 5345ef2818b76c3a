//! What the quickstart runs where nothing else is asked for.

use std::num::NonZeroU32;

use crate::choice::Choice;

/// Tasks in the stream; twice as many are held out ([`Split::of`](crate::Split::of)).
pub const STREAM: usize = 48;

/// Attempts at each task of the stream.
pub const GROUP: NonZeroU32 = const { NonZeroU32::new(4).expect("not 0") };

/// Greatest number of steps of an attempt.
pub const STEPS: usize = 8;

/// How a skill is chosen, with the gate.
pub const CHOICE: Choice = Choice::Pmi;
