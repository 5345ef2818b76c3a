//! A query, its candidates, the decision of the gate with its reason, and the skills that go into a prompt.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{FittedThreshold, ScoreKind, Skill, SkillName, SkillRef, State, Withheld},
    id::SkillId,
};

/// The decision for one query.
///
/// ```
/// use journeyman::domain::{NothingReason, Selection};
///
/// let nothing = Selection::nothing(NothingReason::NoCandidates);
/// assert_eq!(nothing.to_string(), "inject nothing: no candidate was found");
/// assert!(nothing.skills().is_empty() && nothing.fault().is_none());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The skill, or the reason for none.
    pub decision: Decision,
    /// The kind of score; `None` where nothing was scored.
    pub score: Option<ScoreKind>,
    /// The threshold that was fitted to the model; `None` where the recipe's was used, or none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<FittedThreshold>,
    /// The scored candidates, best first; of equal values the smaller id first.
    pub candidates: Vec<Scored>,
    /// What kept a part of the decision from being made, where the rest stands: a bank's general skills do without a scorer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<NothingReason>,
    /// Where no candidate was found: skills of the library that were not looked at for their state, the first few by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_back: Vec<HeldBack>,
    /// Of the chosen skills those that are tried in quarantine
    /// ([`Maintenance::quarantine`](crate::recipe::Maintenance::quarantine)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantined: Vec<SkillRef>,
    /// What chance left out of what was chosen for the task; `None` where nothing is left to chance
    /// ([`SelectPolicy::withhold`](crate::stations::select::SelectPolicy::withhold)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Box<Withheld>>,
}

/// A skill that is not offered for its state.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldBack {
    /// Its name.
    pub name: SkillName,
    /// On trial, and so offered in learning alone; or in quarantine, and offered nowhere or in learning alone.
    pub state: State,
}

impl Selection {
    /// A decision without scores.
    pub fn unscored(decision: Decision) -> Self {
        Self {
            decision,
            score: None,
            fitted: None,
            candidates: Vec::new(),
            failed: None,
            held_back: Vec::new(),
            quarantined: Vec::new(),
            withheld: None,
        }
    }

    /// No skill, without scores.
    pub fn nothing(reason: NothingReason) -> Self {
        Self::unscored(Decision::Nothing(reason))
    }

    /// The best candidate, chosen or not.
    pub fn best(&self) -> Option<&Scored> {
        self.candidates.first()
    }

    /// The skills to inject, the best first.
    pub fn skills(&self) -> &[SkillRef] {
        match &self.decision {
            Decision::Inject { skills, .. } => skills,
            Decision::Nothing(_) => &[],
        }
    }

    /// Why it was not decided whether a skill fits, where a part that decides was not there, failed or took too long.
    pub fn fault(&self) -> Option<&NothingReason> {
        match &self.decision {
            Decision::Nothing(reason) if reason.is_fault() => Some(reason),
            _ => self.failed.as_ref(),
        }
    }

    /// The best of the skills to inject.
    pub fn skill(&self) -> Option<&SkillRef> {
        self.skills().first()
    }
}

/// Inject skills, or nothing.
///
/// ```
/// use journeyman::domain::{Decision, NothingReason};
///
/// let decision = Decision::Nothing(NothingReason::BelowAbsolute { best: 2.0, threshold: 5.0 });
/// assert!(decision.to_string().contains("is not above the gate's threshold of 5.000 nats"));
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// These skills go into the prompt; mostly it is one.
    Inject {
        /// Which skills, in which versions, the best first; at least one.
        skills: Vec<SkillRef>,
        /// Whether it was drawn from the whole pool (the epsilon of Eq. 7) and not for its score.
        explored: bool,
    },
    /// No skill is injected.
    Nothing(NothingReason),
}

/// Why nothing is injected.
///
/// ```
/// use journeyman::domain::NothingReason;
///
/// assert!(!NothingReason::NoCandidates.is_fault());
/// // Whether a skill fits is not known.
/// assert!(NothingReason::ScorerUnavailable("no answer within 60 s".to_owned()).is_fault());
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NothingReason {
    /// There was nothing to choose from.
    NoCandidates,
    /// The model was trained to score skills, and on none like the candidates.
    NotKnown,
    /// No candidate stood out enough among the others.
    BelowRelative {
        /// The greatest probability, in [0, 1].
        best: f64,
        /// The least probability.
        threshold: f64,
    },
    /// 'None of these' was as good as the best.
    BelowAbsolute {
        /// The greatest value, in the score's unit.
        best: f64,
        /// The value to exceed.
        threshold: f64,
    },
    /// Nobody fitted the gate's threshold to the model that scores, and the session could not either; or it was fitted for another model,
    /// adapter or prompt format. In words.
    Uncalibrated(String),
    /// The scorer failed or cannot score; in words.
    ScorerUnavailable(String),
    /// The retriever failed; in words.
    RetrieverUnavailable(String),
    /// The selector failed, or its result breaks a rule of selectors; in words.
    SelectorFailed(String),
    /// All chosen skills were left out by chance, so that their effect can be told.
    Withheld,
    /// The recipe never injects.
    Disabled,
    /// The run's first phase selects nothing (ARISE 3.2).
    WarmUp,
}

/// A candidate with its score.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scored {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// In the score's unit.
    pub value: f64,
    /// Its share by the softmax over the candidates (Eq. 3), in [0, 1].
    pub probability: f64,
}

impl Scored {
    /// A skill with its score and the probability that the gate gives it.
    pub fn new(skill: SkillRef, value: f64, probability: f64) -> Self {
        Self {
            skill,
            value,
            probability,
        }
    }
}

impl NothingReason {
    /// Whether nothing was decided since a part that decides was not there, failed or took too long.
    pub fn is_fault(&self) -> bool {
        matches!(
            self,
            Self::Uncalibrated(_)
                | Self::ScorerUnavailable(_)
                | Self::RetrieverUnavailable(_)
                | Self::SelectorFailed(_)
        )
    }
}

impl fmt::Display for NothingReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoCandidates => f.write_str("no candidate was found"),
            Self::NotKnown => f.write_str(
                "the model was trained to score skills, and on none like the candidates",
            ),
            Self::BelowRelative { best, threshold } => write!(
                f,
                "the best candidate has {:.1}% of the probability that the candidates share, less than the gate's {:.1}%",
                100.0 * best,
                100.0 * threshold
            ),
            Self::BelowAbsolute { best, threshold } => write!(
                f,
                "the best candidate's score, {best:.3} nats, is not above the gate's threshold of {threshold:.3} nats"
            ),
            Self::Uncalibrated(why) => write!(f, "no threshold for this model: {why}"),
            Self::ScorerUnavailable(why) => write!(f, "no scores: {why}"),
            Self::RetrieverUnavailable(why) => write!(f, "no retrieval: {why}"),
            Self::SelectorFailed(why) => write!(f, "the host's selector failed: {why}"),
            Self::Withheld => {
                f.write_str("what was chosen is withheld by chance, to tell what it brings (`select.withhold` of the recipe)")
            }
            Self::Disabled => f.write_str("the recipe injects nothing"),
            Self::WarmUp => f.write_str("the run is warming up"),
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing(reason) => write!(f, "inject nothing: {reason}"),
            Self::Inject { skills, explored } => {
                let skills: Vec<String> = skills.iter().map(ToString::to_string).collect();
                let how = if *explored { ", to explore" } else { "" };
                write!(f, "inject {}{how}", skills.join(", "))
            }
        }
    }
}

/// The decision, and how many candidates were scored.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.decision)?;
        if let (
            Decision::Inject {
                explored: false, ..
            },
            Some(best),
        ) = (&self.decision, self.best())
        {
            let unit = match self.score {
                None => "",
                Some(ScoreKind::Mean) => " nats a token",
                Some(_) => " nats",
            };
            write!(f, ", with a score of {:.3}{unit}", best.value)?;
        }
        if !self.quarantined.is_empty() {
            let tried: Vec<String> = self.quarantined.iter().map(ToString::to_string).collect();
            write!(f, "; tried in quarantine: {}", tried.join(", "))?;
        }
        if !self.held_back.is_empty() {
            let held = self.held_back.iter();
            let held: Vec<String> = held
                .map(|one| format!("{} ({})", one.name, one.state))
                .collect();
            write!(f, "; not offered: {}", held.join(", "))?;
        }
        if let Some(failed) = &self.failed {
            write!(f, "; of the others nothing is known: {failed}")?;
        }
        match self.candidates.len() {
            0 => Ok(()),
            1 => f.write_str(" (of one candidate)"),
            count => write!(f, " (of {count} candidates)"),
        }
    }
}

/// A question to a [`Retriever`](crate::contract::Retriever).
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Query {
    /// The text to match: the task's instruction, or a turn's query.
    pub text: String,
    /// Greatest number of candidates.
    pub limit: usize,
    /// Search among these skills only, where given; an empty list finds nothing.
    pub among: Option<Vec<SkillId>>,
}

impl Query {
    /// A search of all skills for at most `limit`.
    pub fn new(text: impl Into<String>, limit: usize) -> Self {
        Self {
            text: text.into(),
            limit,
            among: None,
        }
    }

    /// The same with the skills to search among.
    #[must_use]
    pub fn with_among(mut self, among: impl Into<Option<Vec<SkillId>>>) -> Self {
        self.among = among.into();
        self
    }
}

/// A skill that may fit a query, with the retriever's score.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The skill, in its version.
    pub skill: SkillRef,
    /// Higher is closer; comparable within one answer, and between answers where the retriever says so
    /// ([`Retriever::has_comparable_scores`](crate::contract::Retriever::has_comparable_scores)).
    pub score: f64,
}

impl Candidate {
    /// A skill that a search found.
    pub fn new(skill: SkillRef, score: f64) -> Self {
        Self { skill, score }
    }
}

/// A skill as it stands in a prompt.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InjectedSkill {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Its text as the prompt format renders it, whole.
    pub text: String,
    /// The SHA-256 of the skill's content, checked when it was rendered.
    pub sha256: String,
    /// Whether the skill was in quarantine when it was chosen: it is tried, and not yet to be trusted
    /// ([`Maintenance::quarantine`](crate::recipe::Maintenance::quarantine)).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quarantined: bool,
}

impl InjectedSkill {
    /// A skill with its text as the prompt format renders it.
    pub fn new(skill: &Skill, text: String) -> Self {
        Self {
            skill: skill.reference(),
            text,
            sha256: skill.content_sha256(),
            quarantined: skill.state == State::Quarantined,
        }
    }
}

/// The skills that go into a prompt; often none.
///
/// ```
/// use journeyman::domain::{InjectedSkill, Injection, Skill};
///
/// let text = "---\nname: close-ticket\ndescription: Closes a ticket.\n---\nVerify, then close.\n";
/// let skill = Skill::from_skill_md(text)?;
/// let mut injection = Injection::NONE;
/// injection.skills.push(InjectedSkill::new(&skill, skill.body.clone()));
/// assert!(!injection.is_empty() && !injection.has_quarantined());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Injection {
    /// In the order in which they are written.
    pub skills: Vec<InjectedSkill>,
}

impl Injection {
    /// Skills for a prompt, in the order in which they are written into it.
    pub fn new(skills: Vec<InjectedSkill>) -> Self {
        Self { skills }
    }
}

impl Injection {
    /// No skill at all.
    pub const NONE: Self = Self { skills: Vec::new() };

    /// Whether it holds no skill.
    pub fn is_empty(&self) -> bool {
        self.skills.is_empty()
    }

    /// Whether one of its skills is tried in quarantine.
    pub fn has_quarantined(&self) -> bool {
        self.skills.iter().any(|skill| skill.quarantined)
    }
}
