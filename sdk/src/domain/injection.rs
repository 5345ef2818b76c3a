//! The skills that go into an attempt's prompt.

use serde::{Deserialize, Serialize};

use super::{Skill, SkillRef, State};

/// A skill as it stands in a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InjectedSkill {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Its text as the prompt format renders it, whole.
    pub text: String,
    /// The SHA-256 of the skill's content, checked when it was rendered.
    pub sha256: String,
    /// Whether the skill was in quarantine when it was chosen: it is tried, and not yet to be trusted
    /// ([`Maintenance::quarantine`](crate::maintain::Maintenance::quarantine)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quarantined: bool,
}

impl InjectedSkill {
    /// A skill with its text as the prompt format renders it.
    pub fn new(skill: &Skill, text: String) -> Self {
        Self {
            skill: skill.reference(),
            text,
            sha256: skill.content_sha256(),
            quarantined: skill.state == State::Quarantined,
        }
    }
}

/// The skills that go into a prompt; often none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// In the order in which they are written.
    pub skills: Vec<InjectedSkill>,
}

impl Injection {
    /// No skill at all.
    pub const NONE: Self = Self { skills: Vec::new() };

    /// Whether it holds no skill.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Whether one of its skills is tried in quarantine.
    pub fn has_quarantined(&self) -> bool {
        self.skills.iter().any(|skill| skill.quarantined)
    }
}
