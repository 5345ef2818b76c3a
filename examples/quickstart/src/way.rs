//! How the agent and the world speak with each other.

use journeyman::{
    Result, Seed,
    domain::{SkillDraft, Task},
};
use journeyman_toolworld::{
    environment::Setup,
    general::{manner::Manner, recipe::Recipe, skills},
    seed::Draws,
    skill_form,
    tool::SkillText,
};

/// How the agent and the world speak with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The compact language of toolworld, which the bundled model was trained for.
    Compact,
    /// The model's own chat template with tool calls, and the roles for general models: the way that users' models take.
    Chat,
}

impl Way {
    /// A task as this way shows it. By chat all worlds of a seed define their tools and word their answers in one manner, as one
    /// provider's services would.
    ///
    /// # Errors
    /// `Internal` for a world that cannot be written as JSON.
    pub fn task(self, mut task: Task, seed: Seed) -> Result<Task> {
        if self == Self::Chat {
            let manner = Manner::named(&mut Draws::new("manner of the quickstart", &[seed.0]));
            task.payload = Setup::of(&task)?.with_manner(manner).to_json()?;
        }
        Ok(task)
    }

    /// The skill that says these steps, as this way's model writes it; `None` where the steps are no calls.
    pub fn draft(self, text: &SkillText) -> Option<SkillDraft> {
        match self {
            Self::Compact => Some(skill_form::to_draft(text)),
            Self::Chat => Recipe::of_steps(text).map(|recipe| skills::draft(&recipe)),
        }
    }

    /// Whether a skill's body says these steps, in the form in which this way's model writes.
    pub fn says(self, body: &str, text: &SkillText) -> bool {
        match self {
            Self::Compact => {
                skill_form::read_body(body).is_some_and(|said| said.says_the_same(text))
            }
            Self::Chat => skills::read(body)
                .zip(Recipe::of_steps(text))
                .is_some_and(|(said, truth)| said.does_the_same(&truth)),
        }
    }
}
