//! The exact information gain of a skill (ARISE D.3, Eq. 14; row A11): how much the skill in the prompt raises the
//! log-probability of the model's output in successful attempts.

use super::performer::Performer;
use crate::{
    contract::{PromptFormat, Scorer, Total, TurnView},
    domain::{InformationGain, Injection, Skill, Trace},
    error::Result,
    inject,
};

/// Maximum number of tokens that are scored of one step's output. It is above the length of ordinary outputs.
const MAX_STEP_TOKENS: usize = 4_096;

impl Performer {
    /// The mean difference in log-probability with and without the skill, over the attempts; `None` without a scorer or a
    /// prompt format, or where no attempt holds model output that can be scored.
    pub(crate) async fn gain(
        &self,
        skill: &Skill,
        attempts: &[Trace],
    ) -> Result<Option<InformationGain>> {
        let (Some(scorer), Some(prompt_format)) =
            (&self.components.scorer, &self.components.prompt_format)
        else {
            return Ok(None);
        };
        let (scorer, prompt_format) = (scorer.as_ref(), prompt_format.as_ref());
        let injected = inject::render(skill, Some(prompt_format), &skill.content_sha256())?;
        let injected = Injection {
            skills: vec![injected],
        };
        let none = Injection::NONE;
        let mut differences = Vec::new();
        for attempt in attempts {
            let with = self.confidence(scorer, prompt_format, attempt, &injected);
            let with = with.await?;
            let without = self.confidence(scorer, prompt_format, attempt, &none);
            if let (Some(with), Some(without)) = (with, without.await?) {
                differences.push(with - without);
            }
        }
        let count = u32::try_from(differences.len()).unwrap_or(u32::MAX);
        Ok((count > 0).then(|| InformationGain {
            nats: differences.iter().sum::<f64>() / f64::from(count),
            attempts: count,
            model: scorer.weights(None),
        }))
    }

    /// The sum of the log-probabilities of the model's outputs in an attempt, given this injection; `None` where no step can
    /// be scored.
    async fn confidence(
        &self,
        scorer: &dyn Scorer,
        prompt_format: &dyn PromptFormat,
        attempt: &Trace,
        injection: &Injection,
    ) -> Result<Option<f64>> {
        let mut sum = None;
        let steps = &attempt.trajectory.steps;
        for (number, step) in steps.iter().enumerate() {
            let view = TurnView {
                task: &attempt.task,
                injection,
                observation: &step.observation,
                steps: steps.get(..number).unwrap_or_default(),
                replies: &[],
            };
            let Some(pair) = prompt_format.scoring_pair(&view, step)? else {
                continue;
            };
            let mut request = self.score_request(pair.prompt, vec![pair.continuation]);
            request.max_continuation_tokens = MAX_STEP_TOKENS;
            let scoring = scorer.score(&request);
            let scored = self
                .bounded("Scorer::score", self.limits.score, scoring)
                .await?;
            if let Some(total) = scored.first().map(Total::from) {
                *sum.get_or_insert(0.0) += total.sum;
            }
        }
        Ok(sum)
    }
}
