//! Assessment of attempts outside a run (SCRIBE 3.2, appendix A.1, B; rows C3, C5).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{Assessment, Trace, Usage},
    error::{Error, Result},
    id::Seed,
    library::SkillLibrary,
    papers::scribe::{AssessPolicy, assessing::assess},
    policy::{
        Ask, PolicyOptions, Question,
        program::{QuestionPath, Running},
    },
    run::{host::journeyman::Journeyman, machine::Effect},
};

/// The assessments of attempts that were made before.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssessReport {
    /// In the order of the attempts; `None` for an attempt that has no step or could not be cut.
    pub assessments: Vec<Option<Assessment>>,
    /// Why attempts were not cut and subgoals not scored, a line each.
    pub refused: Vec<String>,
    /// Tokens used by the roles.
    pub usage: Usage,
}

impl Journeyman {
    /// Assesses attempts that were made before, by the library's present prototypes: with another prompt variant to see whether
    /// the two agree ([`VariantAgreement`](crate::papers::scribe::VariantAgreement)), or with another router to compare it with
    /// annotations ([`RouterAccuracy`](crate::papers::scribe::RouterAccuracy)). The library does not change. Secrets are redacted before a
    /// model sees the attempts.
    ///
    /// The seeds of the roles follow from the session's and from the place of the attempt, so that two variants draw the same ones.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use journeyman::{
    ///     Seed,
    ///     contract::Components,
    ///     domain::Role,
    ///     papers::scribe::{AssessPolicy, AssessedPair, VariantAgreement},
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::{ScriptedModel, ScriptedRoles, sample},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let model = ScriptedModel::always("say good | speaking | 0 0\nsay day | speaking | 1 1");
    /// let components = Components::own_loop()
    ///     .with_model(Arc::new(model))
    ///     .with_roles(Arc::new(ScriptedRoles::only([Role::Segment])));
    /// let journeyman = Journeyman::open(components, recipe::scribe(), Options::new("desk", Seed(7))).await?;
    ///
    /// let attempt = sample::trace("a-1", &sample::task("greet", &["good", "day"]), &["good", "day"], true);
    /// let policy = AssessPolicy::default();
    /// let once = journeyman.assess(&[attempt.clone()], &policy).await?;
    /// let again = journeyman.assess(&[attempt], &policy).await?;
    /// let (once, again) = (once.assessments[0].as_ref(), again.assessments[0].as_ref());
    /// let pair = AssessedPair::new(once.expect("it was cut"), again.expect("it was cut"));
    /// assert_eq!(VariantAgreement::of(&[pair])?.spans.rate(), Some(1.0));
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a policy with a value out of range; `Unsupported` where the host gave no model or no roles; the store's error.
    /// The failure of a role costs the attempt's assessment, or the subgoal's score, alone; [`AssessReport::refused`] says why.
    pub async fn assess(&self, attempts: &[Trace], policy: &AssessPolicy) -> Result<AssessReport> {
        policy.validate()?;
        let session = &self.session;
        let components = &session.components;
        if components.models().next().is_none() || components.roles.is_none() {
            return Err(Error::unsupported(
                "Journeyman::assess",
                "the host gave no model or no roles",
            )
            .hint(
                "set `Components::model` and `Components::roles`, which play `segment` and `score`",
            ));
        }
        let library = Arc::new(self.library().await?);
        let redacting = session.redacting();
        let attempts = attempts
            .iter()
            .map(|attempt| redacting.trace(attempt.clone().lean()));
        let inputs = Arc::new((attempts.collect::<Result<Vec<Trace>>>()?, policy.clone()));
        let start = |ask: Ask| assess_all(ask, Arc::clone(&library), Arc::clone(&inputs));
        let seed = session.options.seed.derive("assess", 0);
        let effect = |place: &QuestionPath, question| effect(seed, place, question);
        let ended = self.to_the_end(start, effect).await?;
        Ok(AssessReport {
            refused: ended.refusals(),
            usage: ended.usage,
            assessments: ended.value,
        })
    }
}

/// Assesses all attempts at once.
fn assess_all(
    mut ask: Ask,
    library: Arc<SkillLibrary>,
    inputs: Arc<(Vec<Trace>, AssessPolicy)>,
) -> Running<Vec<Option<Assessment>>> {
    Box::pin(async move {
        let (attempts, policy) = &*inputs;
        let library = &library;
        let assessed = ask.each(attempts, async |mut ask, attempt| {
            assess(&mut ask, library, policy, attempt).await
        });
        assessed.await
    })
}

/// The effect of a question that assessment asks.
fn effect(seed: Seed, place: &QuestionPath, question: Question) -> Result<Effect> {
    match question {
        Question::Role(ask) => Ok(Effect::Role {
            ask,
            seed: place.path().iter().fold(seed, |seed, number| {
                seed.derive("place", u64::from(*number))
            }),
        }),
        Question::Embed(texts) => Ok(Effect::Embed(texts)),
        _ => Err(Error::unsupported(
            "Journeyman::assess",
            "an assessment asks roles and embedders alone",
        )),
    }
}
