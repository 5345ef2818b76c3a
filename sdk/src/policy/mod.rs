//! What a policy sees of its run, and what it can ask.

mod answer;
mod context;
mod question;
mod rollout;
mod view;

pub use answer::{Answer, CaseRun, ChosenSkill, CommitDone, Played};
pub(crate) use context::Context;
pub(crate) use question::{Ask, Case, PlayedCase, Policies, Question, Said, fits};
pub(crate) use rollout::Rollout;
pub(crate) use view::View;
