//! Fitting the gate's absolute threshold to a model (row J4), with what it does on held-out tasks.

mod drift;
mod outcomes;
mod unlabeled;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::{
    drift::ScoreDrift,
    outcomes::{ByOutcomes, HarmBound, OutcomeFit, OutcomeRates, OutcomeScores},
};
use super::{FittedScores, GatePolicy, ThresholdFor};
use crate::{
    contract::{Components, PromptFormat},
    domain::{FoundWeight, ScoreKind},
    error::{Error, Result},
    id::{ModelId, Seed, TaskId, sha256_hex},
};

/// Minimum number of tasks with a right skill: each half then has some of which a share can be taken. Without labels, of tasks.
const TASKS: usize = 8;

/// The version of the JSON form of a calibration that was fitted on scores, and does not keep them.
const SCORES: u32 = 2;
/// That of one that was fitted on outcomes, or keeps scores, which readers of [`SCORES`] would not know.
const OUTCOMES: u32 = 3;

/// The scores of a task's candidates, of which it is known which are right.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabeledScores {
    /// The task.
    pub task: TaskId,
    /// The scores of the skills that are right for it; none where no skill is, or the search finds none first.
    pub right: Vec<f64>,
    /// The scores of the other candidates.
    pub wrong: Vec<f64>,
    /// Where decisions are about the skill that a search finds first: whether that is a right one. Then the others do not compete with it;
    /// if it is not, no right skill is injected, whatever the right ones score. `None` where decisions are about the best, and for a task
    /// that no skill is right for.
    #[serde(default)]
    pub right_is_first: Option<bool>,
}

impl LabeledScores {
    /// The scores of right and of wrong skills at a task.
    pub fn new(task: impl Into<TaskId>, right: Vec<f64>, wrong: Vec<f64>) -> Self {
        Self {
            task: task.into(),
            right,
            wrong,
            right_is_first: None,
        }
    }
}

impl LabeledScores {
    fn best(values: &[f64]) -> f64 {
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether the candidate that is decided about is a right one and exceeds the threshold.
    fn lets_right_through(&self, threshold: f64) -> bool {
        let right = Self::best(&self.right);
        let chosen = self.right_is_first;
        right > threshold && chosen.unwrap_or_else(|| right >= Self::best(&self.wrong))
    }

    /// The value of the candidate that is decided about.
    fn decided(&self) -> f64 {
        let (right, wrong) = (Self::best(&self.right), Self::best(&self.wrong));
        match self.right_is_first {
            Some(true) => right,
            Some(false) => wrong,
            None => right.max(wrong),
        }
    }

    /// Whether a skill is right for the task.
    fn has_right(&self) -> bool {
        !self.right.is_empty() || self.right_is_first.is_some()
    }

    /// Whether a right one has a score that counts.
    fn finds_right(&self) -> bool {
        !self.right.is_empty() && self.right_is_first != Some(false)
    }

    /// Whether a skill would be injected if none of the candidates were right.
    fn injects_wrong(&self, threshold: f64) -> bool {
        Self::best(&self.wrong) > threshold
    }
}

/// A share with its interval of 95% (Wilson).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// The number of tasks for which it holds.
    pub count: u32,
    /// The number of all tasks.
    pub of: u32,
    /// The interval's lower end, in [0, 1].
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Share {
    fn new(count: u32, of: u32) -> Self {
        const Z: f64 = 1.96;
        let n = f64::from(of.max(1));
        let p = f64::from(count) / n;
        let middle = (p + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half = Z / (1.0 + Z * Z / n) * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
        Self {
            count,
            of,
            low: (middle - half).max(0.0),
            high: (middle + half).min(1.0),
        }
    }

    /// The share, in [0, 1]; 0 of no tasks.
    pub fn value(&self) -> f64 {
        f64::from(self.count) / f64::from(self.of.max(1))
    }
}

impl fmt::Display for Share {
    /// In percent, with its interval.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [value, low, high] = [self.value(), self.low, self.high].map(|share| 100.0 * share);
        match self.of {
            0 => f.write_str("not known"),
            _ => write!(f, "{value:.1}% ({low:.1} to {high:.1})"),
        }
    }
}

/// What a threshold does on tasks.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GateRates {
    /// Of the tasks with a right skill: those at which the candidate that is decided about, the best or the one that a search finds first, is a
    /// right one and is injected.
    pub right_injected: Share,
    /// Tasks at which a skill is injected although none of the candidates is right: the right ones, if there are any, are taken
    /// away.
    pub wrong_injected: Share,
}

impl GateRates {
    /// The shares of tasks at which a right and a wrong skill is injected.
    pub fn new(right_injected: Share, wrong_injected: Share) -> Self {
        Self {
            right_injected,
            wrong_injected,
        }
    }
}

impl fmt::Display for GateRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (right, wrong) = (self.right_injected, self.wrong_injected);
        if right.of == 0 && wrong.of == 0 {
            return f.write_str("nothing is known of right and wrong skills");
        }
        // Without labels nobody knows what is right.
        if right.of == 0 {
            return write!(
                f,
                "a skill that was not written from the task is injected at {wrong} of {} tasks",
                wrong.of
            );
        }
        write!(
            f,
            "a right skill is injected at {right} of {} tasks, and a wrong skill is injected at {wrong} of {} tasks where no right one is there",
            right.of, wrong.of
        )
    }
}

impl GateRates {
    fn of(tasks: &[&LabeledScores], threshold: f64) -> Self {
        let count = |holds: &dyn Fn(&LabeledScores) -> bool| {
            let holding = tasks.iter().filter(|task| holds(task)).count();
            u32::try_from(holding).unwrap_or(u32::MAX)
        };
        let right = count(&|task| task.lets_right_through(threshold));
        let wrong = count(&|task| task.injects_wrong(threshold));
        Self {
            right_injected: Share::new(right, count(&LabeledScores::has_right)),
            wrong_injected: Share::new(wrong, count(&|_| true)),
        }
    }
}

/// A threshold that was fitted to a model, a score and a prompt format, with what it does on tasks that it was not fitted on. In JSON it
/// is the file of `journeyman model calibrate`.
///
/// ```
/// use journeyman::{
///     Seed,
///     domain::ScoreKind,
///     recipe,
///     stations::select::{GateCalibration, LabeledScores},
///     testing::ScriptedFormat,
/// };
///
/// // Right skills score about 6 nats, wrong ones about 1.
/// let scored = |number: u32| {
///     let (right, wrong) = (6.0 + f64::from(number % 3), 1.0 - f64::from(number % 4));
///     LabeledScores::new(format!("task-{number}"), vec![right], vec![wrong, -2.0])
/// };
/// let tasks: Vec<LabeledScores> = (0..40).map(scored).collect();
/// let fitted = GateCalibration::fit(
///     &tasks,
///     (&"a-model@1".into(), ScoreKind::Pmi, &ScriptedFormat),
///     0.05,
///     Seed(1),
/// )?;
/// assert!(1.0 < fitted.threshold && fitted.threshold < 6.0);
/// assert_eq!(fitted.held_out.right_injected.value(), 1.0);
/// assert_eq!(fitted.held_out.wrong_injected.value(), 0.0);
///
/// let mut recipe = recipe::standard();
/// recipe.calibrate(&fitted)?;
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateCalibration {
    /// The version of the JSON form.
    schema: u32,
    /// What it was fitted for.
    pub fitted_for: ThresholdFor,
    /// The value that the best candidate must exceed, in the score's unit ([`GatePolicy::absolute`]).
    pub threshold: f64,
    /// What the score of a search counts beside the model's ([`GatePolicy::found`]). A session with it needs the search that it was fitted with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundWeight>,
    /// The greatest share of wrong injections that the fit allowed.
    pub most_wrong: f64,
    /// What it does on the half that it was fitted on; without labels, on all tasks.
    pub fitted: GateRates,
    /// What it does on the other half; without labels, what that of all other tasks does at each.
    pub held_out: GateRates,
    /// The harm and the help that it does, where it was fitted on outcomes ([`by_outcomes`](Self::by_outcomes)).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<OutcomeFit>,
    /// The scores of the decisions that it was fitted on, one for each task, by which a session notices that they drift
    /// ([`GatePolicy::fitted_on`]). `None` where there are too few, or where they say nothing of later decisions: then nobody looks for
    /// drift.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<FittedScores>,
}

impl GateCalibration {
    /// The latest version of the JSON form, that of a calibration with [`outcomes`](Self::outcomes) or [`scores`](Self::scores). Others are
    /// written as version 2, and version 1, without [`found`](Self::found), is read, too.
    pub const SCHEMA: u32 = OUTCOMES;

    /// Fits a threshold on one half of the tasks, drawn by the seed: of those with at most a share `most_wrong` of wrong
    /// injections, the one with the greatest share of right ones less that of wrong ones. Between two scores it lies in the
    /// middle. Tasks for which no skill is right, and those whose right skill the search does not find first, are halved by themselves.
    ///
    /// The [`scores`](Self::scores) of all tasks are kept, up to a number. Take them out ([`without_scores`](Self::without_scores)) where the
    /// tasks are not such as the agent gets, and where the candidates are not those that a search finds.
    ///
    /// # Errors
    /// `Invalid` for fewer than 8 tasks with a right candidate, or at which one is found first where that is decided about, a task without wrong candidates, a score that is not finite, and
    /// a `most_wrong` outside [0, 1].
    pub fn fit(
        tasks: &[LabeledScores],
        of: (&ModelId, ScoreKind, &dyn PromptFormat),
        most_wrong: f64,
        seed: Seed,
    ) -> Result<Self> {
        check(tasks, most_wrong)?;
        let mut drawn: Vec<(u64, &LabeledScores)> = (0..)
            .zip(tasks)
            .map(|(number, task)| (seed.derive("calibrate", number).0, task))
            .collect();
        drawn.sort_by_key(|(place, _)| *place);
        let drawn = drawn.into_iter().map(|(_, task)| task);
        // Tasks with a right skill that is found first, with one that is not, and without one are halved by themselves.
        let (found, others): (Vec<_>, Vec<_>) = drawn.partition(|task| task.finds_right());
        let (missed, without): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|task| task.has_right());
        let (mut fitting, mut held_out) = (Vec::new(), Vec::new());
        for mut kind in [found, missed, without] {
            held_out.extend(kind.split_off(kind.len().div_ceil(2)));
            fitting.extend(kind);
        }
        let threshold = threshold(&fitting, most_wrong);
        let scores = FittedScores::drawn(tasks.iter().map(LabeledScores::decided), seed);
        Ok(Self {
            schema: schema_of(scores.as_ref()),
            fitted_for: fitted_for(of),
            threshold,
            found: None,
            most_wrong,
            fitted: GateRates::of(&fitting, threshold),
            held_out: GateRates::of(&held_out, threshold),
            outcomes: None,
            scores,
        })
    }

    /// The same without [`scores`](Self::scores), so that no session looks for drift. Without [`outcomes`](Self::outcomes) earlier
    /// versions of the program read its JSON form, too.
    #[must_use]
    pub fn without_scores(self) -> Self {
        let schema = match self.outcomes {
            Some(_) => OUTCOMES,
            None => SCORES,
        };
        Self {
            schema,
            scores: None,
            ..self
        }
    }

    /// Reads the JSON form.
    ///
    /// # Errors
    /// `Invalid` for a text that is none, and for a bound out of its ranges; `Unsupported` for one of another version.
    pub fn from_json(text: &str) -> Result<Self> {
        let refused = |message: String| {
            Error::invalid("GateCalibration::from_json", message)
                .hint("make one with `journeyman model calibrate`")
        };
        let none = |error: serde_json::Error| {
            refused(format!("this is no calibration of a gate ({error})"))
        };
        // A later version may have fields that are unknown here.
        let form: Form = serde_json::from_str(text).map_err(none)?;
        if !(1..=Self::SCHEMA).contains(&form.schema) {
            let message = "the calibration has a form of another version";
            return Err(Error::unsupported("GateCalibration::from_json", message)
                .with("schema", form.schema)
                .hint("make it again with `journeyman model calibrate`"));
        }
        let read: Self = serde_json::from_str(text).map_err(none)?;
        if let Some(outcomes) = &read.outcomes {
            let range = |error: Error| {
                refused(error.message().to_owned()).hint(
                    "fit it again, with a bound in its ranges (`GateCalibration::by_outcomes`)",
                )
            };
            outcomes.bound.validate().map_err(range)?;
        }
        match read.threshold.is_finite() {
            true => Ok(read),
            false => Err(refused("the threshold is not a finite number".to_owned())),
        }
    }

    /// Sets a gate's absolute threshold; and its score, where the session was to find both ([`GatePolicy::most_wrong`]). A bound on harm
    /// ([`outcomes`](Self::outcomes)) is for a gate that decides about one candidate a task.
    ///
    /// # Errors
    /// `Invalid` for a gate by another score, which somebody chose.
    pub fn apply(&self, gate: &mut GatePolicy) -> Result<()> {
        if gate.to_fit().is_some() {
            gate.score = self.fitted_for.score;
        }
        if gate.score != self.fitted_for.score {
            return Err(Error::invalid(
                "GateCalibration::apply",
                format!(
                    "the calibration is for the score {}, and the gate decides by {}",
                    self.fitted_for.score.name(),
                    gate.score.name()
                ),
            )
            .hint("calibrate the model for the recipe's score, or choose the other score"));
        }
        gate.absolute = Some(self.threshold);
        gate.found = self.found;
        gate.fitted_for = Some(self.fitted_for.clone());
        gate.fitted_on.clone_from(&self.scores);
        Ok(())
    }
}

/// The version of the JSON form without outcomes.
fn schema_of(scores: Option<&FittedScores>) -> u32 {
    scores.map_or(SCORES, |_| OUTCOMES)
}

/// The version of a JSON form, whatever else it has.
#[derive(Debug, Deserialize)]
struct Form {
    schema: u32,
}

fn fitted_for(
    (model, score, prompt_format): (&ModelId, ScoreKind, &dyn PromptFormat),
) -> ThresholdFor {
    ThresholdFor {
        score,
        model: model.clone(),
        prompt_format: Some(prompt_format_digest(prompt_format)),
    }
}

/// Checks that a threshold was fitted for the model, the adapter and the prompt format by which a host has skills scored. Without a scorer
/// nothing is compared with it, and it passes.
///
/// # Errors
/// `Invalid`, with the fact [`FITTED_FOR`](crate::domain::gate_policy::FITTED_FOR), naming both models or both prompt formats.
pub(crate) fn check_fitted_for(fitted: &ThresholdFor, components: &Components) -> Result<()> {
    let Some(scorer) = &components.scorer else {
        return Ok(());
    };
    let model = scorer.weights(None);
    fitted.check_model(&model)?;
    let (Some(wanted), Some(prompt_format)) = (&fitted.prompt_format, &components.prompt_format)
    else {
        return Ok(());
    };
    let present = prompt_format_digest(prompt_format.as_ref());
    if *wanted == present {
        return Ok(());
    }
    Err(fitted.not_valid(format!(
        "the threshold was fitted for the model {model} in another prompt format (digest {wanted}), and this one (digest {present}) asks it \
         in other words"
    )))
}

/// A digest of the texts by which a prompt format has skills scored: scores of another prompt format are on another scale.
fn prompt_format_digest(prompt_format: &dyn PromptFormat) -> String {
    let question = prompt_format.fit_question("a task", "a skill");
    let question = question.map(|one| (one.prompt.text(), one.fits, one.does_not));
    let texts = (prompt_format.score_prompt("a task").text(), question.ok());
    let digest = sha256_hex(format!("{texts:?}"));
    digest.chars().take(12).collect()
}

fn check(tasks: &[LabeledScores], most_wrong: f64) -> Result<()> {
    let invalid = |message: String| Error::invalid("GateCalibration::fit", message);
    if !(0.0..=1.0).contains(&most_wrong) {
        return Err(invalid(format!(
            "most_wrong must be in [0, 1], and is {most_wrong}"
        )));
    }
    let with = tasks.iter().filter(|task| task.has_right()).count();
    if with < TASKS {
        let message = format!("{TASKS} tasks with a right skill are needed, and there are {with}");
        return Err(
            invalid(message).hint("label more tasks with the skills that are right for them")
        );
    }
    let found = tasks.iter().filter(|task| task.finds_right()).count();
    if found < TASKS {
        let message = format!(
            "at {TASKS} tasks a right skill has to be found first, and the search finds one first at {found} of {with}"
        );
        return Err(invalid(message).hint(
            "give the skills the words of such tasks (description, trigger), or decide by the model's score alone (`--score`)",
        ));
    }
    for LabeledScores {
        task, right, wrong, ..
    } in tasks
    {
        if wrong.is_empty() {
            let message = "a task has no wrong candidate";
            return Err(invalid(message.to_owned()).with("task", task));
        }
        if !right.iter().chain(wrong).all(|score| score.is_finite()) {
            return Err(invalid("a score is not finite".to_owned()).with("task", task));
        }
    }
    Ok(())
}

fn threshold(tasks: &[&LabeledScores], most_wrong: f64) -> f64 {
    let values = tasks.iter().flat_map(|task| [&task.right, &task.wrong]);
    let values = values.filter(|values| !values.is_empty());
    let mut values: Vec<f64> = values.map(|values| LabeledScores::best(values)).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (least, greatest) = match (values.first(), values.last()) {
        (Some(least), Some(greatest)) => (*least, *greatest),
        _ => return 0.0,
    };
    let middles = values.windows(2).map(|pair| match pair {
        [low, high] => (low.midpoint(*high), high - low),
        _ => (least, 0.0),
    });
    // Below all, between two, and above all. Above all nothing is injected, so that one always keeps to `most_wrong`.
    let all = [(least - 1.0, 0.0), (greatest, 0.0)]
        .into_iter()
        .chain(middles);
    let rated = all.filter_map(|(threshold, gap)| {
        let rates = GateRates::of(tasks, threshold);
        let wrong = rates.wrong_injected.value();
        let gain = rates.right_injected.value() - wrong;
        (wrong <= most_wrong).then_some((threshold, gain, gap))
    });
    let best = rated.reduce(|best, one| {
        let by_gain = one.1.total_cmp(&best.1);
        // Of equal ones the widest gap, which other tasks are least likely to fall into.
        match by_gain.then_with(|| one.2.total_cmp(&best.2)) {
            std::cmp::Ordering::Greater => one,
            _ => best,
        }
    });
    best.map_or(greatest, |(threshold, ..)| threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::ErrorKind, recipe, stations::select::First, testing::ScriptedFormat};

    fn scored(number: usize, right: f64, wrong: f64) -> LabeledScores {
        LabeledScores {
            task: TaskId::new(format!("task-{number}")),
            right: vec![right, right - 3.0],
            wrong: vec![wrong - 9.0, wrong],
            right_is_first: None,
        }
    }

    fn fit(tasks: &[LabeledScores], most_wrong: f64) -> Result<GateCalibration> {
        let of = (&ModelId::new("m"), ScoreKind::Pmi, &ScriptedFormat as _);
        GateCalibration::fit(tasks, of, most_wrong, Seed(7))
    }

    #[test]
    fn what_separates_is_found_and_holds_on_the_other_half() {
        let tasks: Vec<_> = (0..100)
            .map(|n| scored(n, 5.0 + (n % 5) as f64, 2.0 - (n % 7) as f64))
            .collect();
        let fitted = fit(&tasks, 0.05).unwrap();
        assert_eq!(fitted.threshold, 3.5);
        assert_eq!(
            (
                fitted.fitted.right_injected.of,
                fitted.held_out.right_injected.of
            ),
            (50, 50)
        );
        assert_eq!(fitted.held_out.right_injected.count, 50);
        assert_eq!(fitted.held_out.wrong_injected.count, 0);
        assert!(fitted.held_out.wrong_injected.high < 0.08);
        // The halves depend on the seed alone.
        assert_eq!(fit(&tasks, 0.05).unwrap(), fitted);
        let json = serde_json::to_string(&fitted).unwrap();
        assert_eq!(GateCalibration::from_json(&json).unwrap(), fitted);
    }

    #[test]
    fn the_scores_of_the_candidates_that_are_decided_about_are_kept_up_to_a_number() {
        let kept = |tasks: &[LabeledScores]| {
            let scores = fit(tasks, 1.0).unwrap().scores.unwrap();
            let mut values = scores.values;
            values.sort_by(f64::total_cmp);
            values
        };
        // The best of all; where a search decides which, the one that it finds first.
        let best = |n: usize| scored(n, n as f64, 3.0);
        let tasks: Vec<_> = (0..8).map(best).collect();
        let expect = vec![3.0, 3.0, 3.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!(kept(&tasks), expect);
        let first = |n: usize| LabeledScores {
            right_is_first: Some(true),
            ..best(n)
        };
        let tasks: Vec<_> = (0..8).map(first).collect();
        assert_eq!(kept(&tasks), (0..8).map(f64::from).collect::<Vec<_>>());
        let many: Vec<_> = (0..600).map(best).collect();
        let values = kept(&many);
        assert_eq!(values.len(), FittedScores::MOST);
        assert!(values.iter().any(|value| *value > 400.0), "{values:?}");
        assert_eq!(FittedScores::drawn((0..7).map(f64::from), Seed(1)), None);
    }

    #[test]
    fn a_calibration_without_scores_and_outcomes_is_written_in_the_form_from_before_they_were_kept()
    {
        let tasks: Vec<_> = (0..8).map(|n| scored(n, n as f64, 3.0)).collect();
        let with = fit(&tasks, 1.0).unwrap();
        let schema =
            |fitted: &GateCalibration| serde_json::to_value(fitted).unwrap()["schema"].clone();
        assert_eq!(schema(&with), OUTCOMES);
        let fitted = with.without_scores();
        assert_eq!(schema(&fitted), SCORES);
        let json = serde_json::to_string(&fitted).unwrap();
        assert!(!json.contains("scores"), "{json}");
        assert_eq!(GateCalibration::from_json(&json).unwrap(), fitted);
    }

    #[test]
    fn the_bound_on_wrong_injections_is_kept_where_nothing_separates() {
        // Right and wrong ones have the same scores.
        let tasks: Vec<_> = (0..200)
            .map(|n| scored(n, (n % 10) as f64, (n / 3 % 10) as f64))
            .collect();
        for most_wrong in [0.0, 0.1, 0.3] {
            let fitted = fit(&tasks, most_wrong).unwrap();
            assert!(
                fitted.fitted.wrong_injected.value() <= most_wrong,
                "{fitted:?}"
            );
        }
        let (strict, lenient) = (fit(&tasks, 0.0).unwrap(), fit(&tasks, 0.3).unwrap());
        assert!(strict.threshold >= lenient.threshold);
        assert_eq!(strict.fitted.right_injected.count, 0, "{strict:?}");
    }

    #[test]
    fn a_right_skill_behind_a_wrong_one_is_not_let_through() {
        let tasks: Vec<_> = (0..20).map(|n| scored(n, 5.0, 6.0)).collect();
        let fitted = fit(&tasks, 1.0).unwrap();
        assert_eq!(fitted.held_out.right_injected.count, 0);
        // Where a search finds the right one first, the other is not decided about.
        let first = |task: &LabeledScores| LabeledScores {
            right_is_first: Some(true),
            ..task.clone()
        };
        let tasks: Vec<_> = tasks.iter().map(first).collect();
        let fitted = fit(&tasks, 1.0).unwrap();
        assert_eq!(fitted.held_out.right_injected.count, 10);
        assert_eq!(fitted.held_out.wrong_injected.count, 10);
        // Where it does not, the task counts as one whose skill is not injected.
        let missed = (20..40).map(|n| LabeledScores {
            right: Vec::new(),
            right_is_first: Some(false),
            ..scored(n, 0.0, 1.0)
        });
        let better = (0..20).map(|n| first(&scored(n, 9.0, 6.0)));
        let all: Vec<_> = better.chain(missed.clone()).collect();
        let shares = fit(&all, 1.0).unwrap().held_out.right_injected;
        assert_eq!((shares.count, shares.of), (10, 20));
        let error = fit(&missed.collect::<Vec<_>>(), 1.0).unwrap_err();
        assert!(
            error
                .message()
                .contains("the search finds one first at 0 of 20"),
            "{error}"
        );
    }

    #[test]
    fn tasks_for_which_no_skill_is_right_raise_the_threshold() {
        let with: Vec<_> = (0..20).map(|n| scored(n, 8.0, 1.0)).collect();
        // Small talk scores more than what the wrong skills of real tasks do.
        let without = (20..50).map(|n| LabeledScores {
            right: Vec::new(),
            ..scored(n, 0.0, 5.0)
        });
        let all: Vec<_> = with.iter().cloned().chain(without).collect();
        assert!(fit(&with, 0.05).unwrap().threshold < 5.0);
        let fitted = fit(&all, 0.05).unwrap();
        assert!(fitted.threshold > 5.0, "{fitted:?}");
        let counts = |share: Share| (share.count, share.of);
        assert_eq!(counts(fitted.held_out.right_injected), (10, 10));
        assert_eq!(counts(fitted.held_out.wrong_injected), (0, 25));
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let tasks: Vec<_> = (0..8).map(|n| scored(n, 5.0, 1.0)).collect();
        let refused = |tasks: &[LabeledScores], most_wrong, message: &str| {
            let error = fit(tasks, most_wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.message().contains(message), "{error}");
        };
        fit(&tasks, 0.05).unwrap();
        refused(&tasks[..7], 0.05, "8 tasks with a right skill are needed");
        refused(&tasks, 1.5, "most_wrong");
        let mut bad = tasks.clone();
        bad[3].wrong.clear();
        refused(&bad, 0.05, "no wrong candidate");
        bad[3].wrong = vec![f64::NAN];
        refused(&bad, 0.05, "not finite");
        let fitted = fit(&tasks, 0.05).unwrap();
        let mut recipe = recipe::standard();
        recipe.select.selector = GatePolicy::fits().into();
        assert!(
            recipe
                .calibrate(&fitted)
                .unwrap_err()
                .message()
                .contains("pmi")
        );
        recipe.select.selector = First.into();
        assert!(
            recipe
                .calibrate(&fitted)
                .unwrap_err()
                .message()
                .contains("no gate")
        );
        recipe.select.selector = GatePolicy::default().into();
        recipe.calibrate(&fitted).unwrap();
        let gate = recipe.gate().unwrap();
        assert_eq!(gate.absolute, Some(fitted.threshold));
        gate.validate_for(&"m".into()).unwrap();
        let json = serde_json::to_string(&fitted).unwrap();
        for fields in ["\"schema\":4", "\"schema\":4,\"of_a_later_build\":1"] {
            let other = json.replace("\"schema\":3", fields);
            let error = GateCalibration::from_json(&other).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        }
        assert!(GateCalibration::from_json("{}").is_err());
    }
}
