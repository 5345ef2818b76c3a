//! How the agent and the world speak with each other.

use journeyman::{
    Result, Seed,
    domain::{Segmentation, SkillDraft, Task, Trace},
};
use journeyman_toolworld::{
    environment::Setup,
    general::{manner::Manner, recipe::Recipe, roles, skills},
    seed::Draws,
    skill_form,
    stream::Member,
    tool::SkillText,
    writer,
};

/// How the agent and the world speak with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The compact language of toolworld, which the bundled model's first edition was trained for.
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

    /// The skill that a member's contract calls for, as this way's model writes it.
    pub fn draft(self, member: &Member) -> SkillDraft {
        match self {
            Self::Compact => skill_form::to_draft(&member.skill()),
            Self::Chat => skills::draft(&Recipe::of(&member.service, &member.given)),
        }
    }

    /// A step list as a skill, as this way's model writes it; `None` for one without a call that can be read. By chat such a skill
    /// names the calls before the last and gives values for the last alone.
    pub fn written(self, text: &SkillText) -> Option<SkillDraft> {
        match self {
            Self::Compact => Some(skill_form::to_draft(text)),
            Self::Chat => Some(skills::draft(&Recipe::of_steps(text)?)),
        }
    }

    /// The cut of a recorded attempt into subgoals that its world gives, in this way's words.
    ///
    /// # Errors
    /// `Invalid` for an attempt that was not recorded in a world of toolworld.
    pub fn true_cut(self, attempt: &Trace) -> Result<Segmentation> {
        match self {
            Self::Compact => writer::true_cut(attempt),
            Self::Chat => roles::true_cut(attempt),
        }
    }

    /// Whether a skill's body says what a member's contract calls for, in the form in which this way's bundled model writes; the calls
    /// before the last may be in any order.
    pub fn says(self, body: &str, member: &Member) -> bool {
        match self {
            Self::Compact => {
                skill_form::read_body(body).is_some_and(|said| said.says_the_same(&member.skill()))
            }
            Self::Chat => skills::read(body).is_some_and(|said| {
                said.does_the_same(&Recipe::of(&member.service, &member.given))
            }),
        }
    }
}
