//! Proposals: which skills are written, and from which attempts (ARISE D.1 and C.3; HiSME 3.2; rows A8, A9, H1).
//!
//! After the attempts at one task, a [`WritePolicy`] decides whether a skill is written, by which writer, and from which attempts.
//! A curator ([`Curate`]) answers with calls that insert, update and delete skills ([`CurateCall`]; SkillOS, row K2).

pub(crate) mod curate;
pub(crate) mod write_policy;

pub use curate::CurateCall;
pub use write_policy::{
    Curate, Extract, Recovered, Summarize, WINDOW, WritePolicy, WriteWhen, level_at_like_tasks,
    note_words,
};
