//! Formats of skills: SKILL.md of the open specification and ARISE's document. Each reads and writes the values of
//! [`domain`](crate::domain).

mod arise;
mod skill_md;

pub use arise::{
    AriseDocument, AriseLimits, AriseSchema, DEFAULT_CHECK, GENERAL_CHECK, ProblemTypes,
    SchemaRefusal, SchemaStage, TraceStep, seed_skills,
};
pub use skill_md::{Examined, Forgiven, SkillMd};
