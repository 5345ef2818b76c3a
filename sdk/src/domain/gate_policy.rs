//! The gate's options: score, temperature, thresholds, exploration; and a threshold that a session fitted. The public paths of the
//! options are those of [`select`](crate::stations::select).

use std::{collections::BTreeSet, fmt, num::NonZeroUsize};

use serde::{Deserialize, Serialize};

use crate::{
    domain::ScoreKind,
    error::{Error, Result},
    id::{ModelId, Seed},
};

/// The best candidate by the model's own log-probabilities, or nothing if it fails the gate's tests (ARISE Eq. 3 and 7; rows A3,
/// J4): the selector `gate`.
///
/// The relative test compares candidates with each other: a single candidate always has probability 1, and two that fit
/// equally well (a skill that was written twice) have at most 0.5 each. The absolute test compares the best with 'none of
/// these'. [`GatePolicy::paper`] has the relative test, the default has the absolute one; both may be on.
///
/// ```
/// use journeyman::{
///     Seed, Version,
///     contract::{SkillScores, Total},
///     domain::{Mode, SkillRef},
///     stations::select::{GatePolicy, decide},
/// };
///
/// let skill = SkillRef { id: "open-jar".into(), version: Version(1) };
/// let scores = |sum| {
///     let mut scores = SkillScores::new(skill.clone());
///     scores.conditional = Some(Total { sum, tokens: 20 });
///     scores.unconditional = Some(Total { sum: -40.0, tokens: 20 });
///     scores
/// };
/// let gate = GatePolicy::default();
/// let decide = |sum| decide(&gate, &[scores(sum)], &[], Seed(1), Mode::Evaluate);
/// // PMI is the difference of both sums: 10 nats pass the threshold of 5, 2 nats do not.
/// assert_eq!(decide(-30.0)?.skills(), [skill.clone()]);
/// assert!(decide(-38.0)?.skills().is_empty());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GatePolicy {
    /// The score that is compared.
    pub score: ScoreKind,
    /// Temperature of the softmax (sigma of Eq. 3), positive. The paper: 1.
    pub temperature: f64,
    /// Minimum probability of the best candidate (delta), in [0, 1]; `None` switches the relative test off. The paper: 0.35.
    pub relative: Option<f64>,
    /// Value that the best candidate must exceed, in the score's unit (nats; nats per token for the mean); `None` switches
    /// the absolute test off. 'Nothing' competes as PMI 0, and wins ties. Row J4.
    ///
    /// The default's holds for models that were trained to have skills like the library's scored, and for all where `most_wrong` is `None`. One
    /// that is set by hand always holds.
    pub absolute: Option<f64>,
    /// Share of tasks without a right skill at which one may be injected, above 0 and at most 0.5. For a model that was not trained
    /// to have such skills scored ([`Scorer::is_trained_to_score`](crate::contract::Scorer::is_trained_to_score)), a session finds the
    /// threshold for it, without labels, where score and threshold are the default's and `fitted_for` has none. `None`: the threshold is
    /// the one above, for every model.
    pub most_wrong: Option<f64>,
    /// What the score of a search counts beside the model's, where the threshold was fitted with it: then the decision is about the skill
    /// that the search finds first. `None`: the model's score alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundWeight>,
    /// Probability that a training run whose best candidate passes takes a random skill of the whole pool instead, in
    /// [0, 1]. The paper: 0.1. Always 0 in evaluation, and for attempts that a host begins
    /// ([`Options::explore_live`](crate::run::Options::explore_live)).
    pub epsilon: f64,
    /// The score, the model and the prompt format that the absolute threshold was fitted for; `None` for a threshold chosen by hand. Where
    /// another model, adapter or prompt format scores, the gate injects nothing.
    pub fitted_for: Option<ThresholdFor>,
    /// The scores that the absolute threshold was fitted on, where they are kept: a session says when the scores of its decisions have
    /// drifted from them ([`EventKind::ScoresDrifted`](crate::run::report::EventKind::ScoresDrifted)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted_on: Option<FittedScores>,
}

/// The scores of decisions that a threshold was fitted on, or some of them.
///
/// ```
/// use journeyman::stations::select::FittedScores;
///
/// // At tasks of the same kinds later decisions have scores like these.
/// let scores = FittedScores::new(vec![8.5, 12.0, 3.25, 9.0, 7.5, 14.0, 6.0, 10.5]);
/// assert!(scores.values.len() as u64 >= FittedScores::LEAST);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FittedScores {
    /// The scores of the candidates that were decided about, one for each task, in the score's unit. A fit keeps at most
    /// [`MOST`](Self::MOST), drawn by its seed.
    pub values: Vec<f64>,
}

impl FittedScores {
    /// The finite scores of at least [`LEAST`](Self::LEAST) candidates, one for each task, in the score's unit.
    pub fn new(values: Vec<f64>) -> Self {
        Self { values }
    }
}

impl FittedScores {
    /// Minimum number of scores: beside fewer nothing stands out.
    pub const LEAST: u64 = 8;
    /// Greatest number of scores that a fit keeps.
    pub const MOST: usize = 256;

    /// Scores of a fit, drawn by chance where there are too many; `None` of too few. What is no finite number is left out.
    pub(crate) fn drawn(scores: impl IntoIterator<Item = f64>, seed: Seed) -> Option<Self> {
        let numbered = (0..).zip(scores).filter(|(_, score)| score.is_finite());
        let places = numbered.map(|(number, score)| (seed.derive("fitted score", number).0, score));
        let mut drawn: Vec<(u64, f64)> = places.collect();
        drawn.sort_by_key(|(place, _)| *place);
        drawn.truncate(Self::MOST);
        let values: Vec<f64> = drawn.into_iter().map(|(_, score)| score).collect();
        (values.len() as u64 >= Self::LEAST).then_some(Self { values })
    }
}

/// The gate of a selector ([`SelectProgram::gate`](crate::policy::SelectProgram::gate)), and which skills it decides about.
///
/// ```
/// use journeyman::stations::select::{GatePolicy, SelectorGate};
///
/// let policy = GatePolicy::default();
/// let gate = SelectorGate::of(&policy);
/// assert!(gate.own_candidates.is_none() && !gate.exempts_general);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SelectorGate<'a> {
    /// The tests.
    pub policy: &'a GatePolicy,
    /// Greatest number of skills beside the general ones that the selector finds by itself and the gate decides about. `None` for a
    /// gate that decides about the candidates that the recipe finds.
    pub own_candidates: Option<NonZeroUsize>,
    /// Whether general skills need not pass it.
    pub exempts_general: bool,
}

impl<'a> SelectorGate<'a> {
    /// A gate that decides about the candidates that the recipe finds.
    pub fn of(policy: &'a GatePolicy) -> Self {
        Self {
            policy,
            own_candidates: None,
            exempts_general: false,
        }
    }
}

/// The score and the model that a threshold is valid for: values of another score or model are on another scale.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThresholdFor {
    /// The score.
    pub score: ScoreKind,
    /// The model that scored.
    pub model: ModelId,
    /// A digest of the prompt format's words, where it is known. Calibrations that lie on disk say `dialect`.
    #[serde(default, alias = "dialect", skip_serializing_if = "Option::is_none")]
    pub prompt_format: Option<String>,
}

impl ThresholdFor {
    /// A score of a model, for any prompt format.
    pub fn new(score: ScoreKind, model: impl Into<ModelId>) -> Self {
        Self {
            score,
            model: model.into(),
            prompt_format: None,
        }
    }
}

/// The fact of an error by which it says that a threshold is not valid for what scores: the model that it was fitted for.
pub(crate) const FITTED_FOR: &str = "fitted_for";

impl ThresholdFor {
    /// Checks that the threshold was fitted for the model that scores.
    ///
    /// # Errors
    /// `Invalid`, naming both models.
    pub(crate) fn check_model(&self, model: &ModelId) -> Result<()> {
        if self.model == *model {
            return Ok(());
        }
        Err(self.not_valid(format!(
            "the threshold was fitted for the model {}, and {model} scores",
            self.model
        )))
    }

    /// The error that the threshold is not valid for what scores.
    pub(crate) fn not_valid(&self, message: String) -> Error {
        invalid(message).with(FITTED_FOR, &self.model).hint(
            "fit it for this model with `journeyman model calibrate`, or choose one by hand and leave `GatePolicy::fitted_for` empty",
        )
    }
}

impl Default for GatePolicy {
    /// PMI above 5 nats (the query makes the skill some 150 times as likely), and no relative test.
    fn default() -> Self {
        Self {
            score: ScoreKind::Pmi,
            temperature: 1.0,
            relative: None,
            absolute: Some(5.0),
            most_wrong: Some(0.02),
            found: None,
            epsilon: 0.1,
            fitted_for: None,
            fitted_on: None,
        }
    }
}

impl GatePolicy {
    /// The paper's gate: the summed log-probability, probability at least 0.35, epsilon 0.1 (Table 3).
    pub fn paper() -> Self {
        Self {
            score: ScoreKind::Sum,
            temperature: 1.0,
            relative: Some(0.35),
            absolute: None,
            most_wrong: None,
            found: None,
            epsilon: 0.1,
            fitted_for: None,
            fitted_on: None,
        }
    }

    /// A gate that asks the model whether the best candidate fits ([`ScoreKind::Fits`]): it has to hold that likelier than not.
    /// It is for a model that answers such questions well, and costs a reading of every candidate. With SmolLM2-135M-Instruct, which was
    /// not trained for it, the right one of eight was first in 3% of tasks, less often than by chance (`docs/results/gate.md`): measure it
    /// with your own tasks.
    pub fn fits() -> Self {
        Self {
            score: ScoreKind::Fits,
            absolute: Some(0.0),
            most_wrong: None,
            ..Self::default()
        }
    }

    /// The share of wrong injections that a threshold is to be fitted for; `None` where there is one: fitted, or chosen by hand.
    pub(crate) fn to_fit(&self) -> Option<f64> {
        let default = Self::default();
        let untouched = (self.score, self.absolute) == (default.score, default.absolute);
        self.most_wrong
            .filter(|_| self.fitted_for.is_none() && untouched)
    }

    /// Checks the ranges that the fields document, and that a fitted threshold was fitted for this score.
    ///
    /// # Errors
    /// `Invalid`, naming the field, its value and its range.
    pub(crate) fn in_range(&self) -> Result<()> {
        let sigma = self.temperature;
        check(
            sigma.is_finite() && sigma > 0.0,
            "temperature",
            sigma,
            "finite and positive",
        )?;
        if let Some(delta) = self.relative {
            check((0.0..=1.0).contains(&delta), "relative", delta, "in [0, 1]")?;
        }
        if let Some(nats) = self.absolute {
            check(nats.is_finite(), "absolute", nats, "finite")?;
        }
        if let Some(share) = self.most_wrong {
            let range = "above 0 and at most 0.5";
            check(share > 0.0 && share <= 0.5, "most_wrong", share, range)?;
        }
        if let Some(found) = self.found {
            let FoundWeight {
                nats,
                words_power,
                most,
            } = found;
            check(
                nats.is_finite() && nats >= 0.0,
                "found.nats",
                nats,
                "finite and not negative",
            )?;
            check(
                (0.0..=1.0).contains(&words_power),
                "found.words_power",
                words_power,
                "in [0, 1]",
            )?;
            check(most.is_finite(), "found.most", most, "finite")?;
            if !matches!(self.score, ScoreKind::Pmi | ScoreKind::CardPmi) {
                return Err(invalid(format!(
                    "found counts beside PMI alone, and the score is {}",
                    self.score.name()
                )));
            }
        }
        let epsilon = self.epsilon;
        check(
            (0.0..=1.0).contains(&epsilon),
            "epsilon",
            epsilon,
            "in [0, 1]",
        )?;
        match &self.fitted_for {
            Some(fitted) if fitted.score != self.score => Err(invalid(format!(
                "the threshold was fitted for {}, and the score is {}",
                fitted.score.name(),
                self.score.name()
            ))),
            _ => Ok(()),
        }
    }

    /// Checks the ranges, and that a fitted threshold was fitted for the model that scores.
    ///
    /// # Errors
    /// `Invalid` for a field out of range, and for a threshold that was fitted for another score or model.
    pub fn validate_for(&self, model: &ModelId) -> Result<()> {
        self.in_range()?;
        match &self.fitted_for {
            Some(fitted) => fitted.check_model(model),
            None => Ok(()),
        }
    }
}

fn check(holds: bool, field: &str, value: impl fmt::Display, range: &str) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(invalid(format!("{field} must be {range}, and is {value}")))
}

fn invalid(message: String) -> Error {
    Error::invalid("GatePolicy::validate", message)
}

/// The threshold by which a gate decides with a model that nobody calibrated: what the best of wrong skills rarely exceeds with it.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FittedThreshold {
    /// The score.
    pub score: ScoreKind,
    /// The value that a skill must exceed, nats.
    pub threshold: f64,
    /// What the search's score counts beside it: then the skill that the search finds first is injected or none, since a search knows a
    /// skill more surely than a model does that was not trained for it. `None` where it is the best by score: without a search, with one whose scores
    /// do not compare from task to task, with a ranking by weights, a bank, or a relative test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundWeight>,
    /// The weights that score, with their adapter.
    pub model: ModelId,
    /// The share of tasks without a right skill at which one may be injected.
    pub most_wrong: f64,
    /// Number of tasks that it was fitted by. They are none of the library's, and no skill is taken for right at them.
    pub tasks: u32,
    /// At how many of them a skill exceeds the threshold that the others give: with few tasks, how sure it is.
    pub exceeded: u32,
}

impl FittedThreshold {
    /// A threshold for a score of a model, fitted by no task.
    pub fn new(score: ScoreKind, threshold: f64, model: impl Into<ModelId>) -> Self {
        Self {
            score,
            threshold,
            found: None,
            model: model.into(),
            most_wrong: 0.0,
            tasks: 0,
            exceeded: 0,
        }
    }
}

/// How much the score of a search counts beside the model's.
///
/// ```
/// use journeyman::domain::FoundWeight;
///
/// let weight = FoundWeight::new(2.0, 0.5, 9.0);
/// // Four different words.
/// assert_eq!(weight.counts(3.0, "open the jar, the lid"), 3.0);
/// assert_eq!(weight.counts(30.0, "open the jar, the lid"), 9.0);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FoundWeight {
    /// Nats for each unit of the search's score, not negative.
    pub nats: f64,
    /// The search's score is divided by the number of different words in the task to this power, from 0 to 1: so much a wrong skill's
    /// score grows with the length of a task.
    pub words_power: f64,
    /// What it counts at most, nats. With the threshold that a session fits: so much that the search alone injects nothing, and the model has to
    /// hold a skill for likelier than it does wrong ones in the mean.
    pub most: f64,
}

impl FoundWeight {
    /// Nats for each unit of a search's score, the power of the number of words, and the most that it counts, nats.
    pub const fn new(nats: f64, words_power: f64, most: f64) -> Self {
        Self {
            nats,
            words_power,
            most,
        }
    }
}

impl FoundWeight {
    /// What a search's score counts for a task, nats.
    pub fn counts(&self, found: f64, task: &str) -> f64 {
        let words: BTreeSet<String> = (task.split(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect();
        if !found.is_finite() {
            return 0.0;
        }
        let counts = self.nats * found / (words.len().max(1) as f64).powf(self.words_power);
        counts.min(self.most)
    }
}

impl fmt::Display for FoundWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "of the skill that the search finds first, and {:.2} nats for each unit of its score there by the number of different words to the \
             power {:.2}, together",
            self.nats, self.words_power
        )
    }
}

impl fmt::Display for FittedThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.score.name())?;
        if let Some(found) = &self.found {
            write!(f, " {found}")?;
        }
        write!(
            f,
            " above {:.2} nats with {}, fitted to it by {} tasks that no skill is for, so that at most {:.1}% of such tasks get one; at {} of \
             them a skill exceeds what the others give",
            self.threshold,
            self.model,
            self.tasks,
            100.0 * self.most_wrong,
            self.exceeded
        )
    }
}

/// Which skill a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DecidedOn {
    /// The one that a search finds first; the best by score of so many, where the search's scores do not compare from task to task.
    First {
        /// The number of skills that the search finds at most.
        among: usize,
    },
    /// The best by score of so many.
    BestOf(usize),
}
