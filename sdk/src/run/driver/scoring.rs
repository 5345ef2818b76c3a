//! The log-probabilities by which skills are compared for a query.

use futures::future::try_join_all;

use super::performer::Performer;
use crate::{
    contract::{Dialect, FitTotals, ScoreRequest, Scorer, SkillScores, Total},
    domain::{Prompt, ScoreKind, Skill},
    error::{Error, ErrorKind, Result},
};

impl Performer {
    /// What a kind of score needs of each skill.
    ///
    /// # Errors
    /// `Unsupported` without a scorer or a dialect, and for [`ScoreKind::Fits`] where the dialect cannot ask; else the
    /// scorer's error.
    pub(super) async fn score(
        &self,
        query: &str,
        skills: &[Skill],
        score: ScoreKind,
    ) -> Result<Vec<SkillScores>> {
        let (Some(scorer), Some(dialect)) = (&self.backends.scorer, &self.backends.dialect) else {
            return Err(Error::unsupported(
                "Scorer::score",
                "the host gave no scorer or no dialect",
            )
            .hint("set `Backends::scorer` and `Backends::dialect`, or choose a selector without scores"));
        };
        let (scorer, dialect) = (scorer.as_ref(), dialect.as_ref());
        match score {
            ScoreKind::Fits => {
                let asked = skills
                    .iter()
                    .map(|skill| self.fit(scorer, dialect, query, skill));
                try_join_all(asked).await
            }
            _ => {
                self.text_scores(scorer, dialect, query, skills, score)
                    .await
            }
        }
    }

    /// The log-probabilities of the skills' texts after the query, in one request.
    async fn text_scores(
        &self,
        scorer: &dyn Scorer,
        dialect: &dyn Dialect,
        query: &str,
        skills: &[Skill],
        score: ScoreKind,
    ) -> Result<Vec<SkillScores>> {
        let texts: Vec<String> = skills.iter().map(|s| dialect.skill_text(s)).collect();
        let request = self.score_request(dialect.score_prompt(query), texts.clone());
        let conditional = scorer.score(&request).await?;
        if conditional.len() != skills.len() {
            return Err(other_number());
        }
        let mut scores = Vec::with_capacity(skills.len());
        for ((skill, text), conditional) in skills.iter().zip(texts).zip(&conditional) {
            let unconditional = match score {
                ScoreKind::Pmi => Some(self.alone(scorer, dialect, text).await?),
                _ => None,
            };
            scores.push(SkillScores {
                skill: skill.reference(),
                conditional: Some(Total::from(conditional)),
                unconditional,
                fit: None,
            });
        }
        Ok(scores)
    }

    /// The log-probabilities of both answers to the question whether the skill fits. They depend on the query, so they are
    /// not kept.
    async fn fit(
        &self,
        scorer: &dyn Scorer,
        dialect: &dyn Dialect,
        query: &str,
        skill: &Skill,
    ) -> Result<SkillScores> {
        let question = dialect.fit_question(query, &dialect.skill_text(skill))?;
        let answers = vec![question.fits, question.does_not];
        let request = self.score_request(question.prompt, answers);
        let scores = scorer.score(&request).await?;
        let [fits, does_not] = scores.as_slice() else {
            return Err(other_number());
        };
        let fit = FitTotals {
            fits: Total::from(fits),
            does_not: Total::from(does_not),
        };
        Ok(SkillScores {
            skill: skill.reference(),
            conditional: None,
            unconditional: None,
            fit: Some(fit),
        })
    }

    /// log p(skill text) after an empty query, computed once for each text and model. Each text is scored in a request of its
    /// own, so that the value does not depend on other texts in the same request.
    async fn alone(
        &self,
        scorer: &dyn Scorer,
        dialect: &dyn Dialect,
        text: String,
    ) -> Result<Total> {
        let key = (scorer.model().clone(), text.clone());
        let known = self.unconditional.lock().get(&key).copied();
        if let Some(total) = known {
            return Ok(total);
        }
        let request = self.score_request(dialect.score_prompt(""), vec![text]);
        let scores = scorer.score(&request).await?;
        let [scores] = scores.as_slice() else {
            return Err(other_number());
        };
        let total = Total::from(scores);
        self.unconditional.lock().insert(key, total);
        Ok(total)
    }

    pub(crate) fn score_request(&self, prompt: Prompt, continuations: Vec<String>) -> ScoreRequest {
        ScoreRequest {
            prompt,
            continuations,
            max_continuation_tokens: self.limits.scored_tokens.get(),
            time_limit: self.limits.score,
            adapter: None,
        }
    }
}

fn other_number() -> Error {
    Error::new(
        ErrorKind::Model,
        "Scorer::score",
        "the scorer gave another number of answers than it was asked for",
    )
}
