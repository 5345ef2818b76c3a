//! Rules that improve how skills are written (HiSME 3.4, algorithm 5).

pub(crate) mod evolving;
