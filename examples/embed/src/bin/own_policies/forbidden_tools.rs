//! An admission rule: no skill teaches a forbidden tool.

use std::sync::Arc;

use journeyman::{
    Error, Result,
    domain::Skill,
    library::SkillLibrary,
    policy::{AdmitRule, Policies, PolicyOptions},
};
use serde::{Deserialize, Serialize};

/// Refuses a skill that names one of the tools. An agent may call such a tool where its task needs it; it is not to become a habit.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForbiddenTools {
    /// The names of the tools.
    pub(crate) tools: Vec<String>,
}

impl PolicyOptions for ForbiddenTools {
    const NAME: &'static str = "forbidden-tools";
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_admission(ForbiddenTools::NAME, |options| {
        Ok(Arc::new(crate::options::<ForbiddenTools>(options)?))
    })
}

impl AdmitRule for ForbiddenTools {
    fn admit(&self, _: &SkillLibrary, skill: &Skill) -> Result<()> {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        let words = skill.body.split(|c: char| !is_name(c));
        let mut words = words.chain(skill.allowed_tools.iter().map(String::as_str));
        let is_forbidden = |word: &&str| self.tools.iter().any(|tool| tool.as_str() == *word);
        match words.find(is_forbidden) {
            None => Ok(()),
            Some(tool) => {
                let message = format!("the skill names the tool {tool}");
                Err(Error::invalid(Self::NAME, message))
            }
        }
    }
}
