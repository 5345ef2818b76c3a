//! Reviews of skills' texts by a role (SkillOS, training regime: r_cnt; row K4).

use std::collections::BTreeSet;

use futures::{StreamExt, stream};

use crate::{
    contract::{RoleAnswer, RoleTask},
    domain::{Role, Skill, SkillRef, State, Usage},
    error::{Error, ErrorKind, Result},
    library::SkillLibrary,
    policy::Answer,
    run::{
        host::journeyman::Journeyman,
        machine::Effect,
        report::{CallKind, CallOutcome, Finding, FindingKind, RunReport},
    },
};

const REVIEW: &str = "Journeyman::review";

/// The reviews of skills' texts. Each skill is in one of both lists.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReviewReport {
    /// The skills that were judged, in order.
    pub reviewed: Vec<SkillReview>,
    /// The skills that were not judged, in order: the role could not be played, its answer could not be read, or the skill's id
    /// or name holds a secret.
    pub unreviewed: Vec<UnreviewedSkill>,
    /// Tokens used by the role, failed calls included.
    pub usage: Usage,
}

/// A judgement of a skill's text.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct SkillReview {
    /// The version that was judged.
    pub skill: SkillRef,
    /// The quality, in [0, 1]; with the shipped prompt a third of the score from 0 to 3.
    pub quality: f64,
    /// The reason for it, in words.
    pub reason: String,
}

/// A skill that was not judged.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct UnreviewedSkill {
    /// The version.
    pub skill: SkillRef,
    /// Why.
    pub error: Error,
}

impl ReviewReport {
    /// The mean quality of the skills that were judged, in [0, 1]; `None` where none was.
    pub fn quality(&self) -> Option<f64> {
        let sum: f64 = self.reviewed.iter().map(|one| one.quality).sum();
        match self.reviewed.len() {
            0 => None,
            count => Some(sum / count as f64),
        }
    }

    fn push(&mut self, one: OneReviewed) {
        self.usage.add(one.usage);
        match one.review {
            Ok(review) => self.reviewed.push(review),
            Err(unreviewed) => self.unreviewed.push(unreviewed),
        }
    }
}

/// A skill after its role was asked.
struct OneReviewed {
    review: std::result::Result<SkillReview, UnreviewedSkill>,
    usage: Usage,
}

impl Journeyman {
    /// Has the role `review` judge the text of each skill: name, description, trigger and body. The role sees no secrets, and
    /// nothing is stored. The seed follows from the session's and from the text, so the same text is judged alike wherever it
    /// stands.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use journeyman::{
    ///     Seed,
    ///     contract::Components,
    ///     domain::Role,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     testing::{Play, ScriptedModel, ScriptedRoles, sample},
    /// };
    ///
    /// # futures::executor::block_on(async {
    /// let judge = ScriptedModel::by(|request, _| {
    ///     let is_exact = request.prompt.text().contains("skill: open-jar");
    ///     Play::Give(if is_exact { "3 each step is exact" } else { "1 a copy of one attempt" }.to_owned())
    /// });
    /// let components = Components::own_loop()
    ///     .with_model(Arc::new(judge))
    ///     .with_roles(Arc::new(ScriptedRoles::only([Role::Review])));
    /// let journeyman = Journeyman::open(components, recipe::skillos(), Options::new("judge", Seed(7))).await?;
    ///
    /// let skills = [sample::skill("open-jar"), sample::skill("as-before")];
    /// let report = journeyman.review(&skills).await?;
    /// assert_eq!(report.reviewed[0].quality, 1.0);
    /// assert_eq!(report.reviewed[0].reason, "each step is exact");
    /// assert!((report.quality().expect("both were judged") - 2.0 / 3.0).abs() < 1e-12);
    /// # Ok::<_, journeyman::Error>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// `Unsupported` where the host gave no model or no roles, or roles that do not play `review`. A skill that could not be
    /// judged costs its own review alone ([`ReviewReport::unreviewed`]).
    pub async fn review(&self, skills: &[Skill]) -> Result<ReviewReport> {
        self.reviews(REVIEW)?;
        let asked = skills.iter().cloned();
        let asked = asked.map(|skill| self.review_of(skill));
        let mut asked = stream::iter(asked).buffered(self.session.options.in_flight.get());
        let mut report = ReviewReport::default();
        while let Some(one) = asked.next().await {
            report.push(one?);
        }
        Ok(report)
    }

    /// Checks that there is a model that plays the role.
    ///
    /// # Errors
    /// `Unsupported` where there is none.
    pub(super) fn reviews(&self, operation: &'static str) -> Result<()> {
        match self.session.components.plays(Role::Review) {
            true => Ok(()),
            false => Err(Error::unsupported(
                operation,
                "the host has no model that plays the role review",
            )
            .hint("set `Components::model` and `Components::roles`, or judge the skills yourself")),
        }
    }

    /// # Errors
    /// Those of parts that end a call.
    async fn review_of(&self, skill: Skill) -> Result<OneReviewed> {
        let session = &self.session;
        let reference = skill.reference();
        let not_asked = |error| OneReviewed {
            review: Err(UnreviewedSkill {
                skill: reference.clone(),
                error,
            }),
            usage: Usage::default(),
        };
        let seen = match session.redacting().skill(skill) {
            Ok(seen) => seen,
            Err(error) => return Ok(not_asked(error)),
        };
        let seed = session.options.seed.derive("review", 0);
        let effect = Effect::Role {
            seed: seed.derive(&seen.content_sha256(), 0),
            ask: Box::new(RoleTask::Review {
                skill: Box::new(seen),
            }),
        };
        let answer = session.performer.perform(effect).await?;
        let usage = answer.usage().total();
        let skill = reference;
        let review = match judged(answer) {
            Ok((quality, reason)) => Ok(SkillReview {
                skill,
                quality,
                reason,
            }),
            Err(error) => Err(UnreviewedSkill { skill, error }),
        };
        Ok(OneReviewed { review, usage })
    }

    /// Reviews the versions that a curator wrote in a run of this session and that are still the last ones of their skills, those
    /// put away aside. Where there are some and none could be judged, the run's report gets a finding.
    ///
    /// # Errors
    /// As [`Journeyman::review`].
    pub(super) async fn review_curated(
        &self,
        report: &mut RunReport,
        library: &SkillLibrary,
    ) -> Result<ReviewReport> {
        let written = written(report);
        let skills = library.entries().map(|entry| &entry.skill);
        let skills = skills.filter(|skill| {
            let is_kept = !matches!(skill.state, State::Disabled | State::Archived);
            is_kept && written.contains(&skill.reference())
        });
        let skills: Vec<Skill> = skills.cloned().collect();
        let reviews = self.review(&skills).await?;
        if let ([], [first, ..]) = (reviews.reviewed.as_slice(), reviews.unreviewed.as_slice()) {
            let observed = &self.session.performer.observed;
            observed.note(not_reviewed(reviews.unreviewed.len(), &first.error));
            report.findings = self.findings();
        }
        Ok(reviews)
    }
}

/// The versions that a curator inserted, and those that it made by an update.
fn written(report: &RunReport) -> BTreeSet<SkillRef> {
    let curations = report
        .tasks
        .iter()
        .filter_map(|task| task.curation.as_ref());
    let calls = curations.flat_map(|curation| &curation.calls);
    let written = calls.filter_map(|call| match (call.kind, &call.outcome) {
        (CallKind::Insert | CallKind::Update, CallOutcome::Applied(skill)) => Some(skill.clone()),
        _ => None,
    });
    written.collect()
}

/// Quality and reason of an answer. A host's own roles may answer with what breaks their contract.
fn judged(answer: Answer) -> Result<(f64, String)> {
    match answer {
        Answer::Played(Ok(Some(played))) => match played.answer {
            RoleAnswer::Reviewed { quality, reason } if (0.0..=1.0).contains(&quality) => {
                Ok((quality, reason))
            }
            RoleAnswer::Reviewed { quality, .. } => {
                Err(unreadable("the role's quality is not in [0, 1]").with("quality", quality))
            }
            _ => Err(unreadable("the role's answer has no quality")),
        },
        Answer::Played(Err(failed)) => Err(failed.error),
        _ => Err(unreadable("the role gave no answer")),
    }
}

fn unreadable(message: &'static str) -> Error {
    Error::new(ErrorKind::Model, REVIEW, message)
}

fn not_reviewed(skills: usize, first: &Error) -> Finding {
    Finding::new(
        FindingKind::NotReviewed,
        "the reward of the rollout has no term of content quality",
        format!("none of the {skills} skills that its curator wrote could be judged: {first}"),
        "see `GroupRollout::review` for each skill, or set `CompositeTerms::quality` yourself",
    )
}
