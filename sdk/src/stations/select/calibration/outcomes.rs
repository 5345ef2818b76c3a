//! A threshold by what tasks came to with and without the candidate: the share of tasks that an injection harms stays under a bound
//! that the host names (row J4).

use std::{collections::BTreeSet, fmt};

use rand_chacha::rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::{FittedScores, GateCalibration, GateRates, OUTCOMES, Share, fitted_for};
use crate::{
    contract::PromptFormat,
    domain::ScoreKind,
    error::{Error, Result},
    id::{ModelId, Seed, TaskId},
};

/// The operation that errors name.
const OPERATION: &str = "GateCalibration::by_outcomes";

/// The score that the gate decides by at a task, and what the task came to without and with the candidate that it decides about.
///
/// Both outcomes are made under the same conditions, whatever the score is: a task that was tried only where the gate let the candidate
/// through says nothing of lower scores. An attempt with temperature 0, or the mean of several, keeps chance out; a task that goes
/// worse by chance alone counts as harmed.
///
/// ```
/// use journeyman::stations::select::OutcomeScores;
///
/// // Half of the attempts were done without the skill, all with it.
/// let tried = OutcomeScores::new("ticket-17", 12.5, 0.5, 1.0);
/// assert!(tried.with > tried.before);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeScores {
    /// The task. Each is there once.
    pub task: TaskId,
    /// The candidate's value, in the score's unit, with what the score of a search counts: that of
    /// [`Selection::best`](crate::domain::Selection::best).
    pub score: f64,
    /// What the task came to without it, in [0, 1].
    pub before: f64,
    /// With it, in [0, 1].
    pub with: f64,
}

impl OutcomeScores {
    /// The score of a task's best skill, nats, and how the task went before and with it, in [0, 1].
    pub fn new(task: impl Into<TaskId>, score: f64, before: f64, with: f64) -> Self {
        Self {
            task: task.into(),
            score,
            before,
            with,
        }
    }
}

impl OutcomeScores {
    /// Whether a gate with this threshold injects the candidate, and the task goes worse for it.
    fn is_harmed(&self, threshold: f64) -> bool {
        self.score > threshold && self.with < self.before
    }

    /// Whether a gate with this threshold injects the candidate, and the task goes better for it.
    fn is_helped(&self, threshold: f64) -> bool {
        self.score > threshold && self.with > self.before
    }
}

/// How much harm a gate may do, and how sure that has to be.
///
/// ```
/// use journeyman::stations::select::HarmBound;
///
/// // With a probability of at least 90%, at most one task in twenty goes worse.
/// let bound = HarmBound::new(0.05, 0.1);
/// bound.validate()?;
/// // Fewer tasks do not show it, even if none of them goes worse: 0.95 to the power of 44 is above 0.1.
/// assert_eq!(bound.least_tasks(), 45);
/// assert!(bound.with_most(0.0).validate().is_err());
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarmBound {
    /// The greatest share of all tasks at which a skill is injected and the task goes worse for it, above 0 and below 1. It is a share
    /// of tasks, not of injections.
    pub most: f64,
    /// The greatest probability that the share is larger after all, above 0 and below 1: over the draw of the tasks that the threshold is
    /// fitted on.
    pub error: f64,
}

impl HarmBound {
    /// A greatest share of tasks that may go worse, and how often a fit may break it, both above 0 and below 1.
    pub const fn new(most: f64, error: f64) -> Self {
        Self { most, error }
    }

    /// The same with another greatest share.
    #[must_use]
    pub fn with_most(mut self, most: f64) -> Self {
        self.most = most;
        self
    }
}

impl Default for HarmBound {
    /// One task in twenty, with a confidence of 90%.
    fn default() -> Self {
        Self {
            most: 0.05,
            error: 0.1,
        }
    }
}

impl HarmBound {
    /// Checks the ranges.
    ///
    /// # Errors
    /// `Invalid`, naming the field and its value.
    pub fn validate(&self) -> Result<()> {
        for (field, value) in [("most", self.most), ("error", self.error)] {
            if !(value > 0.0 && value < 1.0) {
                let message = format!("{field} must be above 0 and below 1, and is {value}");
                return Err(Error::invalid("HarmBound::validate", message).hint(
                    "take 0.05 for 5%; no number of tasks shows that nothing is ever harmed",
                ));
            }
        }
        Ok(())
    }

    /// The number of tasks below which no threshold is fitted: so few may all go well by chance, with a probability above `error`, where
    /// a share `most` is harmed. `ln(error) / ln(1 - most)`, rounded up.
    pub fn least_tasks(&self) -> u64 {
        (self.error.ln() / (-self.most).ln_1p()).ceil() as u64
    }

    /// The greatest number of harmed tasks among so many at which the claim that the share is above `most` is refused: so few or
    /// fewer of them have a probability of at most `error` where the share is `most` (the upper end of the interval of Clopper and
    /// Pearson 1934). `None` where not even 0 is enough.
    fn most_harmed(&self, tasks: usize) -> Option<usize> {
        let n = tasks as f64;
        // The logarithm: for many tasks the first terms are too small for a number.
        let mut term = n * (-self.most).ln_1p();
        let odds = self.most.ln() - (-self.most).ln_1p();
        let (mut sum, mut most) = (0.0, None);
        for count in 0..=tasks {
            sum += term.exp();
            if sum > self.error {
                break;
            }
            most = Some(count);
            let count = count as f64;
            term += ((n - count) / (count + 1.0)).ln() + odds;
        }
        most
    }

    /// The lowest threshold that keeps the bound; `None` where there are too few tasks.
    ///
    /// Thresholds are tried from the strictest one down, and the first that is not shown to keep the bound ends it. The harmed tasks
    /// only get more on the way, so what ends it is the first harmed task too many: its score is the last threshold that passes.
    ///
    /// `without` is the number of further tasks, at which no candidate is found: no threshold harms them.
    fn threshold(&self, tasks: &[&OutcomeScores], without: usize) -> Option<f64> {
        let most = self.most_harmed(tasks.len() + without)?;
        let worse = tasks.iter().filter(|task| task.with < task.before);
        let mut worse: Vec<f64> = worse.map(|task| task.score).collect();
        worse.sort_by(|one, other| other.total_cmp(one));
        // Below the lowest score nothing was tried.
        let least = tasks
            .iter()
            .map(|task| task.score)
            .fold(f64::INFINITY, f64::min);
        Some(worse.get(most).copied().unwrap_or(least))
    }
}

impl fmt::Display for HarmBound {
    /// In percent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [most, sure] = [self.most, 1.0 - self.error].map(|share| 100.0 * share);
        write!(
            f,
            "at most {most:.1}% of the tasks go worse for an injection, with a confidence of {sure:.1}%"
        )
    }
}

/// What a threshold does to tasks that were tried with and without the candidate. The shares are of all of these tasks.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRates {
    /// Tasks at which the candidate is injected, and that go worse with it.
    pub harmed: Share,
    /// Tasks at which the candidate is injected, and that go better with it.
    pub helped: Share,
}

impl OutcomeRates {
    /// The shares of tasks that go worse and better.
    pub fn new(harmed: Share, helped: Share) -> Self {
        Self { harmed, helped }
    }
}

impl OutcomeRates {
    /// Of groups of tasks, each with its threshold, and of tasks without a candidate.
    fn of(groups: &[(&[&OutcomeScores], f64)], without: usize) -> Self {
        let count = |holds: fn(&OutcomeScores, f64) -> bool| {
            let holding = groups.iter().map(|(tasks, threshold)| {
                let tasks = tasks.iter();
                tasks.filter(|task| holds(task, *threshold)).count()
            });
            u32::try_from(holding.sum::<usize>()).unwrap_or(u32::MAX)
        };
        let without = u32::try_from(without).unwrap_or(u32::MAX);
        let all = count(|_, _| true).saturating_add(without);
        Self {
            harmed: Share::new(count(OutcomeScores::is_harmed), all),
            helped: Share::new(count(OutcomeScores::is_helped), all),
        }
    }
}

impl fmt::Display for OutcomeRates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (harmed, helped) = (self.harmed, self.helped);
        write!(
            f,
            "of {} tasks an injection harms {harmed} and helps {helped}",
            harmed.of
        )
    }
}

/// The bound that a threshold was fitted for on outcomes, and what it does.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeFit {
    /// The bound.
    pub bound: HarmBound,
    /// What the threshold does on the tasks that it was fitted on, which are all.
    pub fitted: OutcomeRates,
    /// The same of thresholds that were fitted on one half of the tasks, each on the other half: what one may expect of new tasks. It is
    /// of no tasks where a half is too few for a threshold. Half of the tasks show less, so these thresholds are mostly stricter than the
    /// one in force.
    pub held_out: OutcomeRates,
}

impl OutcomeFit {
    /// A fit under a bound: its rates by the tasks that it was fitted by, and by others.
    pub fn new(bound: HarmBound, fitted: OutcomeRates, held_out: OutcomeRates) -> Self {
        Self {
            bound,
            fitted,
            held_out,
        }
    }
}

impl fmt::Display for OutcomeFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.bound)?;
        match self.held_out.harmed.of {
            0 => f.write_str("; there are too few tasks to hold any out"),
            _ => write!(f, "; held out, {}", self.held_out),
        }
    }
}

/// What outcomes say of the gate's threshold.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ByOutcomes {
    /// The threshold.
    Fitted(Box<GateCalibration>),
    /// The tasks are too few for any threshold, or no task with a candidate has a verdict. The threshold that is in force stays: without
    /// labels, a session's own. `Journeyman::calibrate_by_outcomes` (feature `measure`) draws the tasks and attempts them by itself.
    NotYet {
        /// The number of tasks that are missing, if none of all these goes worse. With some that do it may be a strict threshold.
        more: u64,
    },
}

impl GateCalibration {
    /// Fits a threshold on outcomes, so that with a probability of at least `1 - error` at most a share `most` of tasks gets a skill and
    /// goes worse for it. It is the lowest threshold that is shown to keep the bound; each higher one keeps it, too.
    ///
    /// A gate begins with a threshold that needs no outcomes: that of [`without_labels`](Self::without_labels), which a session finds by
    /// itself. It stays in force while this says [`NotYet`](ByOutcomes::NotYet).
    ///
    /// ```
    /// use journeyman::{
    ///     ModelId, Seed,
    ///     domain::ScoreKind,
    ///     recipe,
    ///     stations::select::{ByOutcomes, GateCalibration, HarmBound, OutcomeScores},
    ///     testing::ScriptedFormat,
    /// };
    ///
    /// // Up to 2 nats the candidate does harm, from 5 on it helps.
    /// let tried = |number: u32| {
    ///     let score = f64::from(number % 10);
    ///     let (before, with) = (f64::from(u8::from(score <= 2.0)), f64::from(u8::from(score >= 5.0)));
    ///     OutcomeScores::new(format!("task-{number}"), score, before, with)
    /// };
    /// let tasks: Vec<OutcomeScores> = (0..60).map(tried).collect();
    /// let model: ModelId = "a-model@1".into();
    /// let bound = HarmBound::new(0.1, 0.1);
    /// let fit = |tasks: &[OutcomeScores]| {
    ///     let of = (&model, ScoreKind::CardPmi, &ScriptedFormat as _);
    ///     GateCalibration::by_outcomes(tasks, of, bound, Seed(1))
    /// };
    /// // Ten tasks say too little, whatever they came to.
    /// assert_eq!(fit(&tasks[..10])?, ByOutcomes::NotYet { more: 12 });
    ///
    /// let ByOutcomes::Fitted(fitted) = fit(&tasks)? else {
    ///     unreachable!("60 tasks are enough");
    /// };
    /// assert_eq!(fitted.threshold, 2.0);
    /// let outcomes = fitted.outcomes.expect("it was fitted on them");
    /// assert_eq!((outcomes.fitted.harmed.count, outcomes.fitted.helped.count), (0, 30));
    ///
    /// let mut recipe = recipe::standard();
    /// recipe.calibrate(&fitted)?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # What the bound holds for
    /// - For tasks that are drawn as these were, each by itself, that have a candidate and an outcome. For other tasks, another library
    ///   or another model it says nothing: a session watches the [`scores`](Self::scores) by
    ///   [`ScoreDrift`](crate::stations::select::ScoreDrift).
    /// - For the model, its adapter, the score and the prompt format that the tasks were scored with, as `of` says; `model` is that of
    ///   [`Scorer::weights`](crate::contract::Scorer::weights). Where the gate counted the score of a search, set [`found`](Self::found)
    ///   to what it had.
    /// - For the threshold alone: a gate that explores injects more ([`GatePolicy::epsilon`](crate::stations::select::GatePolicy::epsilon)).
    /// - For a gate that decides about one candidate a task. A selector that injects each skill that passes, as SkillRL's bank does, may do
    ///   more harm: [`Recipe::calibrate`](crate::recipe::Recipe::calibrate) refuses it.
    /// - For one fit. Each further fit may be wrong with the probability `error` again: who fits ten times and keeps the lowest threshold
    ///   has a probability of up to `10 * error`. Fit with a share of the error for each, or take the latest threshold, whatever it is.
    ///
    /// # Method
    /// Learn-then-Test (Angelopoulos, Bates, Candès, Jordan and Lei 2021) with fixed-sequence testing: the thresholds are tried from
    /// the strictest one down, each by an exact binomial test of the claim that it harms more than `most`, and the first test that does not
    /// refuse the claim ends it. All scores of the tasks are tried. That the order hangs on the data does no harm, since a lower threshold
    /// never harms fewer tasks (Bates, Angelopoulos, Lei, Malik and Jordan 2021, section 2): to go too far, the test has to be wrong at
    /// one threshold that does not hang on the data, the highest at which the bound is broken. So no half has to be kept back, and the
    /// threshold is fitted on all tasks; the halves, which the seed draws, say only what to expect ([`OutcomeFit::held_out`]).
    ///
    /// The calibration's own [`fitted`](Self::fitted) and [`held_out`](Self::held_out) are of no tasks, since nobody said which
    /// skills are right, and [`most_wrong`](Self::most_wrong) is 1.
    ///
    /// # Errors
    /// `Invalid` for a bound out of its ranges, a task that is there twice, a score that is not finite, and an outcome outside of [0, 1].
    pub fn by_outcomes(
        tasks: &[OutcomeScores],
        of: (&ModelId, ScoreKind, &dyn PromptFormat),
        bound: HarmBound,
        seed: Seed,
    ) -> Result<ByOutcomes> {
        Self::by_outcomes_with(tasks, 0, of, bound, seed)
    }

    /// The same with the number of further tasks, drawn like these, at which no candidate is found. They count among those that are not
    /// harmed.
    ///
    /// # Errors
    /// As [`by_outcomes`](Self::by_outcomes); `Invalid` where no task has a candidate and there are enough without.
    pub(crate) fn by_outcomes_with(
        tasks: &[OutcomeScores],
        without: usize,
        of: (&ModelId, ScoreKind, &dyn PromptFormat),
        bound: HarmBound,
        seed: Seed,
    ) -> Result<ByOutcomes> {
        bound.validate()?;
        check(tasks)?;
        let all: Vec<&OutcomeScores> = tasks.iter().collect();
        let Some(threshold) = bound.threshold(&all, without) else {
            let more = (bound.least_tasks()).saturating_sub((tasks.len() + without) as u64);
            return Ok(ByOutcomes::NotYet { more: more.max(1) });
        };
        if tasks.is_empty() {
            let message = "at no task a candidate was found, so that there is no score to fit on";
            return Err(Error::invalid(OPERATION, message)
                .hint("add skills to the library that are about such tasks"));
        }
        let not_known = GateRates {
            right_injected: Share::new(0, 0),
            wrong_injected: Share::new(0, 0),
        };
        Ok(ByOutcomes::Fitted(Box::new(Self {
            schema: OUTCOMES,
            fitted_for: fitted_for(of),
            threshold,
            found: None,
            most_wrong: 1.0,
            fitted: not_known,
            held_out: not_known,
            outcomes: Some(OutcomeFit {
                bound,
                fitted: OutcomeRates::of(&[(all.as_slice(), threshold)], without),
                held_out: held_out(all, without, bound, seed),
            }),
            scores: FittedScores::drawn(tasks.iter().map(|task| task.score), seed),
        })))
    }
}

/// What thresholds that are fitted on one half of the tasks do on the other. Those `without` a candidate are halved by themselves.
fn held_out(
    tasks: Vec<&OutcomeScores>,
    without: usize,
    bound: HarmBound,
    seed: Seed,
) -> OutcomeRates {
    let mut rng = seed.derive("outcomes", 0).rng();
    let mut drawn: Vec<(u64, &OutcomeScores)> = tasks
        .into_iter()
        .map(|task| (rng.next_u64(), task))
        .collect();
    drawn.sort_by_key(|(place, _)| *place);
    let drawn: Vec<&OutcomeScores> = drawn.into_iter().map(|(_, task)| task).collect();
    let (one, other) = drawn.split_at(drawn.len() / 2);
    let (one, other) = ((one, without.div_ceil(2)), (other, without / 2));
    let (mut halves, mut all_without): (Vec<(&[&OutcomeScores], f64)>, usize) = (Vec::new(), 0);
    for ((tasks, own), (others, of_others)) in [(one, other), (other, one)] {
        if let Some(threshold) = bound.threshold(others, of_others)
            && !others.is_empty()
        {
            halves.push((tasks, threshold));
            all_without += own;
        }
    }
    OutcomeRates::of(&halves, all_without)
}

fn check(tasks: &[OutcomeScores]) -> Result<()> {
    let mut seen = BTreeSet::new();
    for tried in tasks {
        let invalid =
            |message: String| Error::invalid(OPERATION, message).with("task", &tried.task);
        if !seen.insert(&tried.task) {
            return Err(invalid("a task is there twice".to_owned()).hint(
                "give each task once, with the mean of its attempts: attempts at one task are too alike to count as several",
            ));
        }
        if !tried.score.is_finite() {
            return Err(invalid("a score is not finite".to_owned())
                .hint("leave out the tasks at which no candidate was scored"));
        }
        for (field, outcome) in [("before", tried.before), ("with", tried.with)] {
            if !(0.0..=1.0).contains(&outcome) {
                let message = format!("{field} must be in [0, 1], and is {outcome}");
                return Err(
                    invalid(message).hint("give the verdict's score, or 1 for done and 0 for not")
                );
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{error::ErrorKind, recipe, testing::ScriptedFormat};

    /// A task with a score that goes worse (below 0), as well (0) or better (above 0).
    fn tried(number: usize, score: f64, change: i32) -> OutcomeScores {
        OutcomeScores {
            task: TaskId::new(format!("task-{number}")),
            score,
            before: if change < 0 { 1.0 } else { 0.0 },
            with: if change > 0 { 1.0 } else { 0.0 },
        }
    }

    fn fit(tasks: &[OutcomeScores], bound: HarmBound) -> Result<ByOutcomes> {
        let of = (&ModelId::new("m"), ScoreKind::CardPmi, &ScriptedFormat as _);
        GateCalibration::by_outcomes(tasks, of, bound, Seed(7))
    }

    fn fitted(tasks: &[OutcomeScores], bound: HarmBound) -> GateCalibration {
        match fit(tasks, bound).unwrap() {
            ByOutcomes::Fitted(fitted) => *fitted,
            ByOutcomes::NotYet { more } => unreachable!("{more} more tasks are needed"),
        }
    }

    const TENTH: HarmBound = HarmBound {
        most: 0.1,
        error: 0.1,
    };

    #[test]
    fn so_many_may_be_harmed_as_the_exact_binomial_test_says() {
        for (tasks, most, error, expect, least) in [
            (0, 0.1, 0.1, None, 22),
            (21, 0.1, 0.1, None, 22),
            (22, 0.1, 0.1, Some(0), 22),
            (37, 0.1, 0.1, Some(0), 22),
            (38, 0.1, 0.1, Some(1), 22),
            (229, 0.01, 0.1, None, 230),
            (230, 0.01, 0.1, Some(0), 230),
            (400, 0.01, 0.1, Some(1), 230),
            (400, 0.05, 0.1, Some(14), 45),
            (400, 0.1, 0.1, Some(31), 22),
            (1_000, 0.3, 0.01, Some(266), 13),
            (5_000, 0.05, 0.05, Some(224), 59),
        ] {
            let bound = HarmBound { most, error };
            assert_eq!(bound.most_harmed(tasks), expect, "{tasks} {bound:?}");
            assert_eq!(bound.least_tasks(), least, "{bound:?}");
        }
    }

    #[test]
    fn the_first_harmed_task_too_many_is_the_threshold() {
        // 40 tasks may have one that is harmed.
        let change = |number: usize| if number % 10 == 5 { -1 } else { 1 };
        let tasks: Vec<_> = (0..40).map(|n| tried(n, n as f64, change(n))).collect();
        let one = fitted(&tasks, TENTH);
        assert_eq!(one.threshold, 25.0);
        let outcomes = one.outcomes.unwrap();
        let counts = |rates: OutcomeRates| (rates.harmed.count, rates.helped.count);
        assert_eq!(counts(outcomes.fitted), (1, 13));
        assert_eq!(outcomes.fitted.harmed.of, 40);
        // Half of them are too few.
        assert_eq!(outcomes.held_out.harmed.of, 0);
        assert!(outcomes.to_string().contains("too few tasks"), "{outcomes}");
        // Tasks of one score are injected together or not at all.
        let tied: Vec<_> = (0..40)
            .map(|n| tried(n, (n / 20) as f64, change(n)))
            .collect();
        let tied = fitted(&tied, TENTH);
        assert_eq!(tied.threshold, 1.0);
        assert_eq!(counts(tied.outcomes.unwrap().fitted), (0, 0));
    }

    #[test]
    fn where_nothing_harms_all_scores_that_were_tried_pass_but_the_least() {
        let tasks: Vec<_> = (0..60)
            .map(|n| tried(n, 3.0 + n as f64, i32::from(n % 2 == 0)))
            .collect();
        let one = fitted(&tasks, TENTH);
        assert_eq!(one.threshold, 3.0);
        let outcomes = one.outcomes.unwrap();
        assert_eq!(outcomes.held_out.harmed.of, 60);
        assert_eq!(outcomes.held_out.harmed.count, 0);
        // Of 30 that go better a half leaves out those below the least of the other.
        assert!(outcomes.held_out.helped.count >= 25, "{outcomes}");
        // The halves depend on the seed alone.
        assert_eq!(fitted(&tasks, TENTH), one);
    }

    #[test]
    fn too_few_tasks_are_not_yet_and_never_a_threshold() {
        let tasks: Vec<_> = (0..22).map(|n| tried(n, n as f64, 1)).collect();
        let more = |count: usize| fit(&tasks[..count], TENTH).unwrap();
        assert_eq!(more(0), ByOutcomes::NotYet { more: 22 });
        assert_eq!(more(21), ByOutcomes::NotYet { more: 1 });
        assert!(matches!(more(22), ByOutcomes::Fitted(_)));
    }

    #[test]
    fn tasks_without_a_candidate_count_among_those_that_are_not_harmed() {
        let fit = |tasks: &[OutcomeScores], without| {
            let of = (&ModelId::new("m"), ScoreKind::CardPmi, &ScriptedFormat as _);
            GateCalibration::by_outcomes_with(tasks, without, of, TENTH, Seed(7))
        };
        let tasks: Vec<_> = (0..20)
            .map(|n| tried(n, n as f64, if n == 5 { -1 } else { 1 }))
            .collect();
        // 21 tasks are too few; of 22 to 37 none may be harmed, of 38 one.
        assert_eq!(fit(&tasks, 1).unwrap(), ByOutcomes::NotYet { more: 1 });
        for (without, threshold) in [(2, 5.0), (17, 5.0), (18, 0.0)] {
            let Ok(ByOutcomes::Fitted(one)) = fit(&tasks, without) else {
                unreachable!("{without}");
            };
            assert_eq!(one.threshold, threshold, "{without}");
            let harmed = one.outcomes.unwrap().fitted.harmed;
            assert_eq!(harmed.of as usize, 20 + without);
            assert_eq!(one.scores.unwrap().values.len(), 20);
        }
        let error = fit(&[], 22).unwrap_err();
        assert!(error.message().contains("no task a candidate"), "{error}");
        assert_eq!(fit(&[], 21).unwrap(), ByOutcomes::NotYet { more: 1 });
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        let tasks: Vec<_> = (0..30).map(|n| tried(n, n as f64, 1)).collect();
        let refused = |change: &dyn Fn(&mut OutcomeScores), message: &str| {
            let mut tasks = tasks.clone();
            change(&mut tasks[3]);
            let error = fit(&tasks, TENTH).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Invalid);
            assert!(error.message().contains(message), "{error}");
            assert!(error.hint_text().is_some(), "{error}");
        };
        refused(&|one| one.score = f64::NAN, "not finite");
        refused(&|one| one.before = 1.5, "before must be in [0, 1]");
        refused(&|one| one.with = f64::NAN, "with must be in [0, 1]");
        refused(&|one| one.task = TaskId::new("task-2"), "twice");
        for (most, error) in [
            (0.0, 0.1),
            (1.0, 0.1),
            (0.1, 0.0),
            (0.1, 1.0),
            (f64::NAN, 0.1),
        ] {
            let refused = fit(&tasks, HarmBound { most, error }).unwrap_err();
            assert!(
                refused.message().contains("above 0 and below 1"),
                "{refused}"
            );
        }
    }

    #[test]
    fn the_json_form_keeps_the_outcomes_and_a_recipe_takes_the_threshold() {
        let tasks: Vec<_> = (0..60).map(|n| tried(n, n as f64, 1)).collect();
        let one = fitted(&tasks, TENTH);
        let json = serde_json::to_string(&one).unwrap();
        assert_eq!(GateCalibration::from_json(&json).unwrap(), one);
        let mut recipe = recipe::standard();
        recipe.calibrate(&one).unwrap();
        let gate = recipe.gate().unwrap();
        assert_eq!(
            (gate.score, gate.absolute),
            (ScoreKind::CardPmi, Some(one.threshold))
        );
        // Its version is not that of a form without outcomes.
        assert!(json.contains("\"schema\":3"), "{json}");
        // Without outcomes the form has no such field.
        let other = GateCalibration {
            outcomes: None,
            ..one
        };
        let json = serde_json::to_string(&other).unwrap();
        assert!(!json.contains("outcomes"), "{json}");
        assert_eq!(GateCalibration::from_json(&json).unwrap(), other);
    }

    #[test]
    fn a_file_with_a_bound_out_of_its_ranges_is_refused() {
        let tasks: Vec<_> = (0..60).map(|n| tried(n, n as f64, 1)).collect();
        let mut one = fitted(&tasks, TENTH);
        let mut outcomes = one.outcomes.unwrap();
        outcomes.bound.most = 1.5;
        one.outcomes = Some(outcomes);
        let json = serde_json::to_string(&one).unwrap();
        let error = GateCalibration::from_json(&json).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        let expect = "most must be above 0 and below 1, and is 1.5";
        assert!(error.message().contains(expect), "{error}");
        assert!(error.hint_text().is_some(), "{error}");
    }

    #[test]
    fn the_true_share_of_harmed_tasks_rarely_exceeds_the_bound() {
        // A candidate with a score from 0 to 1 does harm with a chance of (1 - score) / 2: above t, (1 - t)^2 / 4 of all tasks.
        let mut exceeding = 0;
        for round in 0..400 {
            let mut rng = Seed(round).rng();
            let mut unit = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
            let tasks: Vec<_> = (0..80)
                .map(|n| {
                    let score = unit();
                    let is_harmed = unit() < 0.5 * (1.0 - score);
                    tried(n, score, if is_harmed { -1 } else { 1 })
                })
                .collect();
            let threshold = fitted(&tasks, TENTH).threshold;
            exceeding += u32::from((1.0 - threshold).powi(2) / 4.0 > TENTH.most);
        }
        // 10%, and three standard errors of 400 rounds.
        assert!(exceeding <= 58, "{exceeding} of 400");
    }
}
