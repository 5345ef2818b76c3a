//! The two folders that hold skills, and the one where each skill belongs.

use journeyman::domain::Skill;

/// The two folders that hold skills.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Area {
    /// `skills`: skills that runs may offer.
    Offered,
    /// `held`: drafts, quarantined, disabled and archived skills.
    Held,
}

impl Area {
    pub(crate) const ALL: [Self; 2] = [Self::Offered, Self::Held];

    pub(super) fn of(skill: &Skill) -> Self {
        if skill.state.is_offered() {
            Self::Offered
        } else {
            Self::Held
        }
    }

    pub(crate) fn folder(self) -> &'static str {
        match self {
            Self::Offered => "skills",
            Self::Held => "held",
        }
    }
}

/// The path where a skill's folder belongs, relative to the library's folder.
pub(crate) fn place(skill: &Skill) -> String {
    format!("{}/{}", Area::of(skill).folder(), skill.name)
}
