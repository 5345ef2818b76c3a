//! How the model plays the SDK's roles by the shipped prompts.

use std::collections::BTreeMap;

use journeyman::Result;
use journeyman::contract::{RoleAnswer, RoleRequest, Roles as _};
use journeyman::domain::Role;
use journeyman_toolworld::general::roles::{RoleCase, Stage, agrees, case};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::world::WorldSpec;
use serde::{Deserialize, Serialize};

use crate::arena::{Answered, Arena};
use crate::share::Share;

/// What a role's answers came to.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct RoleFigures {
    /// Answers that come to the same as the true one.
    pub right: Share,
    /// First answers that cannot be read.
    pub unreadable: Share,
}

/// Cases of each role on held-out worlds: attempts of rule-based policies, and what the worlds' truth answers.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Roles {
    /// By the role's name.
    pub by_role: BTreeMap<String, RoleFigures>,
}

impl Roles {
    /// Measures `count` cases of each role.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, seed: u64, count: usize) -> Result<Self> {
        let mut roles = Self::default();
        for role in Role::ALL {
            let figures = roles.by_role.entry(role.to_string()).or_default();
            for number in 0..count as u64 {
                let asked = Asked::of(arena, role, seed, number)?;
                figures.right.add(asked.is_right());
                figures.unreadable.add(asked.said.answer.is_none());
            }
        }
        Ok(roles)
    }

    /// The cases of a role that were not answered rightly, for a person to read: the prompt, the true answer, the model's.
    ///
    /// # Errors
    /// What the model gives.
    pub fn failed(arena: &Arena, role: Role, seed: u64, count: usize) -> Result<Vec<String>> {
        let mut failed = Vec::new();
        for number in 0..count as u64 {
            let asked = Asked::of(arena, role, seed, number)?;
            if asked.is_right() {
                continue;
            }
            let request = RoleRequest::new(&asked.case.task, journeyman::Seed(number));
            let prompt = arena.roles.prompt(&request)?.prompt;
            let messages = prompt
                .messages
                .iter()
                .map(|message| format!("[{:?}] {}", message.speaker, message.text()));
            let prompt = messages.collect::<Vec<_>>().join("\n");
            let (answer, said) = (&asked.case.answer, &asked.said.text);
            failed.push(format!("{prompt}\n\ntrue: {answer}\n\nmodel: {said}\n"));
        }
        Ok(failed)
    }
}

/// A case with its true answer and the model's.
struct Asked {
    case: RoleCase,
    truth: RoleAnswer,
    said: Answered,
}

impl Asked {
    fn of(arena: &Arena, role: Role, seed: u64, number: u64) -> Result<Self> {
        let label = format!("general evaluation of {role}");
        let mut draws = Draws::new(&label, &[seed, number]);
        let spec = WorldSpec::wide(&mut draws);
        let stage = Stage {
            spec: &spec,
            prompt_format: &arena.prompt_format,
        };
        let case = case(role, stage, &mut draws);
        let request = RoleRequest::new(&case.task, journeyman::Seed(number));
        Ok(Self {
            truth: arena.roles.read(&request, &case.answer)?,
            said: arena.ask(&case.task, number)?,
            case,
        })
    }

    fn is_right(&self) -> bool {
        let said = self.said.answer.as_ref();
        said.is_some_and(|said| agrees(&self.truth, said))
    }
}
