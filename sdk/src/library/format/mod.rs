//! Formats of skills: SKILL.md of the open specification and, with the feature `language-model`, ARISE's document, in which the role
//! `summarize` answers. Each reads and writes the values of [`domain`](crate::domain).

#[cfg(feature = "language-model")]
mod arise;
mod refusal;
mod skill_md;

#[cfg(feature = "language-model")]
pub use arise::{
    AriseDocument, AriseLimits, AriseSchema, DEFAULT_CHECK, GENERAL_CHECK, ProblemTypes, TraceStep,
    seed_skills,
};
pub use refusal::{SchemaRefusal, SchemaStage};
pub use skill_md::{Examined, Forgiven, SkillMd};
