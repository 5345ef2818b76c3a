//! The log-probabilities by which skills are compared for a query.

use std::future::Future;

use futures::future::try_join_all;

use crate::{
    contract::{
        FitTotals, KeptScores, PromptFormat, ScoreRequest, Scorer, SkillScores, SkillStore,
        TokenScores, Total, TurnView,
    },
    domain::{InformationGain, Injection, Prompt, ScoreKind, Skill, Trace},
    error::{Error, ErrorKind, Result},
    run::driver::{known_scores, performer::Performer},
    stations::inject,
    text::clipped,
};

/// The numbers that are wanted of a query's skills.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) score: ScoreKind,
    /// [`ScoreRequest::repeatable`].
    pub(super) repeatable: bool,
}

/// A text that is scored behind a prompt.
struct Behind {
    prompt: Prompt,
    text: String,
    most_tokens: usize,
}

/// How often a query that is too long is shortened.
const SHORTER_QUERIES: usize = 4;
/// The length of the note in place of what is left out of a query, in characters.
const NOTE: usize = 40;

impl Performer {
    /// What a kind of score needs of each skill.
    ///
    /// # Errors
    /// `Unsupported` without a scorer or a prompt format, and for [`ScoreKind::Fits`] where the prompt format cannot ask; else the scorer's error.
    pub(super) async fn score(
        &self,
        query: &str,
        skills: &[Skill],
        wanted: Wanted,
    ) -> Result<Vec<SkillScores>> {
        let parts = self.scoring_parts()?;
        match wanted.score {
            ScoreKind::Fits => {
                let asked = skills
                    .iter()
                    .map(|skill| self.fit(parts, query, skill, wanted));
                try_join_all(asked).await
            }
            _ => self.text_scores(parts, query, skills, wanted).await,
        }
    }

    /// # Errors
    /// `Unsupported` without a scorer or a prompt format.
    pub(super) fn scoring_parts(&self) -> Result<(&dyn Scorer, &dyn PromptFormat)> {
        match (&self.components.scorer, &self.components.prompt_format) {
            (Some(scorer), Some(prompt_format)) => Ok((scorer.as_ref(), prompt_format.as_ref())),
            _ => Err(Error::unsupported(
                "Scorer::score",
                "the host gave no scorer or no prompt format",
            )
            .hint("set `Components::scorer` and `Components::prompt_format`, or choose a selector without scores")),
        }
    }

    /// The log-probabilities of the skills' texts after the query, in one request.
    async fn text_scores(
        &self,
        (scorer, prompt_format): (&dyn Scorer, &dyn PromptFormat),
        query: &str,
        skills: &[Skill],
        wanted: Wanted,
    ) -> Result<Vec<SkillScores>> {
        let texts: Vec<String> = skills.iter().map(|s| prompt_format.skill_text(s)).collect();
        let most = wanted.score.tokens(self.limits.scored_tokens.get());
        let behind = |query: String| {
            let mut request = self.score_request(prompt_format.score_prompt(&query), texts.clone());
            (request.max_continuation_tokens, request.repeatable) = (most, wanted.repeatable);
            async move { scorer.score(&request).await }
        };
        let conditional = with_shorter_query(query, behind).await?;
        if conditional.len() != skills.len() {
            return Err(other_number());
        }
        let conditional = conditional.iter().map(Total::from);
        let unconditional = match wanted.score.is_pmi() {
            // By itself, so that the value does not depend on other texts in the same request.
            true => {
                let alone = self.known_behind((scorer, prompt_format), "", &texts, wanted);
                alone.await?.into_iter().map(Some).collect()
            }
            false => vec![None; skills.len()],
        };
        Ok(of_each(skills, conditional, unconditional))
    }

    /// PMI after a task that every session scores: scores that are known from an earlier one are not computed again.
    pub(super) async fn score_again(
        &self,
        parts: (&dyn Scorer, &dyn PromptFormat),
        task: &str,
        skills: &[Skill],
        wanted: Wanted,
    ) -> Result<Vec<SkillScores>> {
        let texts: Vec<String> = skills.iter().map(|s| parts.1.skill_text(s)).collect();
        let alone = self.known_behind(parts, "", &texts, wanted).await?;
        let after = self.known_behind(parts, task, &texts, wanted).await?;
        let alone = alone.into_iter().map(Some).collect();
        Ok(of_each(skills, after.into_iter(), alone))
    }

    /// The store where scores are kept for later sessions, if they count there.
    fn scores_store(&self, scorer: &dyn Scorer) -> Option<&dyn SkillStore> {
        let store = self.components.store.as_deref();
        store.filter(|_| scorer.has_lasting_scores())
    }

    /// What is known of texts behind a query, or computed once.
    pub(super) async fn known_behind(
        &self,
        (scorer, prompt_format): (&dyn Scorer, &dyn PromptFormat),
        query: &str,
        texts: &[String],
        wanted: Wanted,
    ) -> Result<Vec<Total>> {
        let most_tokens = wanted.score.tokens(self.limits.scored_tokens.get());
        let known = texts.iter().map(|text| {
            let behind = Behind {
                prompt: prompt_format.score_prompt(query),
                text: text.clone(),
                most_tokens,
            };
            self.known(scorer, behind, wanted.repeatable)
        });
        let known = try_join_all(known).await;
        self.known_scores.keep(self.scores_store(scorer)).await;
        Ok(known?.iter().map(KeptScores::total).collect())
    }

    async fn once(&self, scorer: &dyn Scorer, of: Behind, repeatable: bool) -> Result<TokenScores> {
        let mut request = self.score_request(of.prompt, vec![of.text]);
        (request.max_continuation_tokens, request.repeatable) = (of.most_tokens, repeatable);
        let scores = scorer.score(&request).await?;
        match <[TokenScores; 1]>::try_from(scores) {
            Ok([scores]) => Ok(scores),
            Err(_) => Err(other_number()),
        }
    }

    /// The same, computed once for the weights that score it.
    async fn known(&self, scorer: &dyn Scorer, of: Behind, repeatable: bool) -> Result<KeptScores> {
        self.known_scores.load(self.scores_store(scorer)).await;
        let weights = scorer.weights(None);
        // With what is data in it and what is not.
        let shown = format!("{:?}", of.prompt);
        let key = |repeatable| {
            let cut = (of.most_tokens, repeatable);
            known_scores::key(&weights, (&shown, &of.text), cut)
        };
        // A score that is the same each time serves every request.
        let known = self.known_scores.get(&key(true));
        if let Some(known) = known.or_else(|| self.known_scores.get(&key(repeatable))) {
            return Ok(known);
        }
        let key = key(repeatable);
        let scores = self.once(scorer, of, repeatable).await?;
        // An adapter that was replaced in the meantime may have scored it.
        Ok(match scorer.weights(None) == weights {
            true => self.known_scores.insert(key, &scores),
            false => KeptScores::of(key, &scores),
        })
    }

    /// The log-probabilities of both answers to the question whether the skill fits. They depend on the query, so they are
    /// not kept.
    async fn fit(
        &self,
        (scorer, prompt_format): (&dyn Scorer, &dyn PromptFormat),
        query: &str,
        skill: &Skill,
        wanted: Wanted,
    ) -> Result<SkillScores> {
        let text = prompt_format.skill_text(skill);
        let behind = |query: String| {
            let question = prompt_format.fit_question(&query, &text);
            async move {
                let question = question?;
                let answers = vec![question.fits, question.does_not];
                let mut request = self.score_request(question.prompt, answers);
                request.repeatable = wanted.repeatable;
                scorer.score(&request).await
            }
        };
        let scores = with_shorter_query(query, behind).await?;
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

    pub(crate) fn score_request(&self, prompt: Prompt, continuations: Vec<String>) -> ScoreRequest {
        ScoreRequest {
            prompt,
            continuations,
            max_continuation_tokens: self.limits.scored_tokens.get(),
            time_limit: self.limits.score,
            adapter: None,
            repeatable: false,
        }
    }
}

/// What was scored of each skill.
fn of_each(
    skills: &[Skill],
    conditional: impl Iterator<Item = Total>,
    unconditional: Vec<Option<Total>>,
) -> Vec<SkillScores> {
    let totals = conditional.zip(unconditional);
    let scores = skills.iter().zip(totals);
    let scores = scores.map(|(skill, (conditional, unconditional))| SkillScores {
        skill: skill.reference(),
        conditional: Some(conditional),
        unconditional,
        fit: None,
    });
    scores.collect()
}

/// Scores behind a query. A query that is too long for the scorer's context loses its middle, only as far as it must; all skills
/// of a request are scored behind the same words.
async fn with_shorter_query<T, F>(query: &str, score: impl Fn(String) -> F) -> Result<T>
where
    F: Future<Output = Result<T>>,
{
    let mut shown = query.to_owned();
    for _ in 0..SHORTER_QUERIES {
        let error = match score(shown.clone()).await {
            Err(error) => error,
            done => return done,
        };
        let chars = shown.chars().count();
        let Some(most) = fitting(&error, chars) else {
            return Err(error);
        };
        tracing::info!(
            chars,
            most,
            "the query is shortened to fit the scorer's context"
        );
        shown = clipped(query, most);
    }
    score(shown).await
}

/// The characters of a query of so many that the scorer's context has room for, where the error says that the prompt with its
/// longest continuation is too long.
fn fitting(error: &Error, chars: usize) -> Option<usize> {
    let fact = |key| error.fact(key).and_then(|fact| fact.parse::<usize>().ok());
    let (prompt, context) = (fact("prompt_tokens")?, fact("context")?);
    let room = context.saturating_sub(fact("continuation_tokens").unwrap_or(context / 4));
    if error.kind() != ErrorKind::Invalid || prompt <= room {
        return None;
    }
    let most = chars.saturating_mul(room) / prompt.max(1);
    let most = (most - most / 16).saturating_sub(NOTE);
    (most > 0 && most < chars).then_some(most)
}

fn other_number() -> Error {
    Error::new(
        ErrorKind::Model,
        "Scorer::score",
        "the scorer gave another number of answers than it was asked for",
    )
}

// The exact information gain of a skill (ARISE D.3, Eq. 14; row A11): how much the skill in the prompt raises the
// log-probability of the model's output in successful attempts.

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

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    };

    use async_trait::async_trait;
    use futures::executor::block_on;

    use super::*;
    use crate::{
        agent::{AdaptedModel, ChatFormat},
        contract::{Components, TokenScores},
        id::ModelId,
        stations::recipe::Limits,
        testing::{Play, ScriptedScorer, sample},
    };

    /// A performer whose scorer has room for so many words, and what it says of two skills behind a query of so many words.
    fn scored(words: usize, score: ScoreKind) -> Result<Vec<SkillScores>> {
        let scorer = ScriptedScorer::by(|prompt, _| {
            // The probability says how long the prompt is.
            Play::Give(-(prompt.text().split_whitespace().count() as f64))
        });
        let components = Components::own_loop()
            .with_scorer(Arc::new(scorer))
            .with_prompt_format(Arc::new(ChatFormat::default()));
        let performer = Performer::new(Arc::new(components), Limits::default());
        let query = "open the door ".repeat(words / 3);
        let skills = [sample::skill("brew"), sample::skill("unseal")];
        let repeatable = false;
        block_on(performer.score(&query, &skills, Wanted { score, repeatable }))
    }

    #[test]
    fn a_query_that_is_too_long_is_shortened_for_all_skills_alike() {
        for (score, at_most) in [(ScoreKind::Sum, 4_096.0), (ScoreKind::Fits, 4_096.0)] {
            let scores = scored(9_000, score).unwrap();
            let words = |one: &SkillScores| match one.fit {
                Some(fit) => -fit.fits.sum / fit.fits.tokens as f64,
                None => -one.conditional.unwrap().sum / one.conditional.unwrap().tokens as f64,
            };
            let words: Vec<f64> = scores.iter().map(words).collect();
            assert!(words.iter().all(|words| *words < at_most), "{words:?}");
            assert!(words.iter().all(|words| *words > 2_000.0), "{words:?}");
            if score == ScoreKind::Sum {
                assert_eq!(words[0], words[1]);
            }
        }
    }

    /// The PMI of a skill by a scorer, in a session that may have scored with others before.
    fn pmi(session: &Performer, scorer: Arc<dyn Scorer>) -> f64 {
        let components = Components::own_loop()
            .with_scorer(scorer)
            .with_prompt_format(Arc::new(ChatFormat::default()));
        let performer = Performer {
            components: Arc::new(components),
            ..session.clone()
        };
        let wanted = Wanted {
            score: ScoreKind::Pmi,
            repeatable: false,
        };
        let skills = [sample::skill("brew")];
        let scores = block_on(performer.score("brew", &skills, wanted)).unwrap();
        let (with, without) = (scores[0].conditional, scores[0].unconditional);
        let (with, without) = (with.unwrap(), without.unwrap());
        (with.sum - without.sum) / with.tokens as f64
    }

    #[test]
    fn adapters_share_no_unconditional_score() {
        // Behind the task each adapter gives a token as much; behind none it does not.
        let scorer = |alone: f64| {
            move |prompt: &Prompt, _: &str| {
                let has_task = prompt.text().contains("brew");
                Play::Give(if has_task { -1.0 } else { -1.0 - alone })
            }
        };
        let scorer = ScriptedScorer::by(scorer(1.0))
            .with_adapter("one", scorer(2.0))
            .with_adapter("two", scorer(3.0));
        let scorer: Arc<dyn Scorer> = Arc::new(scorer);
        let with = |name: &str| -> Arc<dyn Scorer> {
            Arc::new(AdaptedModel::new(Arc::clone(&scorer), name))
        };
        let session = Performer::new(Arc::new(Components::own_loop()), Limits::default());
        for _ in 0..2 {
            assert_eq!(pmi(&session, Arc::clone(&scorer)), 1.0);
            assert_eq!(pmi(&session, with("one")), 2.0);
            assert_eq!(pmi(&session, with("two")), 3.0);
        }
    }

    /// A scorer whose one adapter is trained again under its name.
    #[derive(Debug, Default)]
    struct Trained(AtomicU32);

    #[async_trait]
    impl Scorer for Trained {
        fn model(&self) -> &ModelId {
            static MODEL: OnceLock<ModelId> = OnceLock::new();
            MODEL.get_or_init(|| ModelId::new("m"))
        }

        async fn score(&self, request: &ScoreRequest) -> Result<Vec<TokenScores>> {
            let has_task = request.prompt.text().contains("brew");
            let trained = f64::from(self.0.load(Ordering::SeqCst));
            let logprob = if has_task { -1.0 } else { -1.0 - trained };
            Ok(vec![TokenScores {
                ids: vec![1],
                logprobs: vec![logprob],
                truncated: false,
            }])
        }

        fn weights(&self, adapter: Option<&str>) -> ModelId {
            let trained = self.0.load(Ordering::SeqCst);
            adapter.map_or(self.model().clone(), |_| {
                ModelId::new(format!("m+{trained}"))
            })
        }
    }

    #[test]
    fn an_adapter_that_was_replaced_under_its_name_is_another_one() {
        let trained = Arc::new(Trained::default());
        let scorer: Arc<dyn Scorer> = Arc::new(AdaptedModel::new(Arc::clone(&trained), "own"));
        let session = Performer::new(Arc::new(Components::own_loop()), Limits::default());
        assert_eq!(pmi(&session, Arc::clone(&scorer)), 0.0);
        trained.0.store(5, Ordering::SeqCst);
        assert_eq!(pmi(&session, scorer), 5.0);
    }

    #[test]
    fn an_error_of_another_kind_shortens_nothing() {
        let other = Error::invalid("Scorer::score", "the adapter is unknown");
        assert_eq!(fitting(&other, 1_000), None);
        let down = Error::unavailable("Scorer::score", "down")
            .with("prompt_tokens", 900)
            .with("context", 100);
        assert_eq!(fitting(&down, 1_000), None);
    }
}
