//! A writer: the calls of the best attempt become the steps of a skill.

use std::sync::Arc;

use journeyman::{
    Result, async_trait,
    domain::{Action, SkillDraft, SkillName},
    policy::{Ask, Policies, PolicyOptions, View, WriteGroup, WriteProgram, Written},
};
use serde::{Deserialize, Serialize};

/// Records the calls that the world took. A known skill is written again only where the record is shorter.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorder {
    /// Greatest number of steps of a skill.
    pub(crate) most_steps: usize,
}

impl PolicyOptions for Recorder {
    const NAME: &'static str = "recorder";
}

pub(crate) fn register(policies: Policies) -> Policies {
    policies.with_writer(Recorder::NAME, |options| {
        Ok(Arc::new(crate::options::<Recorder>(options)?))
    })
}

#[async_trait]
impl WriteProgram for Recorder {
    async fn write(&self, _: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let Some(best) = group.attempts.first() else {
            return Ok(Written::default());
        };
        let steps = best.trajectory.steps.iter();
        let calls = steps.flat_map(|step| match &step.action {
            Action::Call(calls) if !step.result.is_error => calls.as_slice(),
            _ => &[],
        });
        let lines = Vec::from_iter(calls.map(|call| format!("- Call `{}`.", call.tool)));
        let words = Vec::from_iter(best.task.instruction.split(' ').take(2));
        let title = words.join(" ");
        let known = SkillName::slug(&title).and_then(|name| view.library().by_name(&name));
        let is_known = known.is_some_and(|one| one.skill.body.lines().count() <= lines.len());
        if is_known || lines.is_empty() || lines.len() > self.most_steps {
            return Ok(Written::default());
        }
        let trigger = title.to_lowercase(); // two words of the task
        let description = format!("How to do a task that begins with: {title}.");
        let mut draft = SkillDraft::new(title, description, lines.join("\n"));
        draft.trigger = Some(trigger);
        Ok(Written::from(vec![draft]))
    }
}
