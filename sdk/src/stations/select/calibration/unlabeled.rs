//! A threshold without labels: from the scores of skills at tasks that are not theirs.

use std::f64::consts::FRAC_PI_2;

use super::{
    FittedScores, GateCalibration, GateRates, LabeledScores, SCORES, Share, TASKS, fitted_for,
    schema_of,
};
use crate::{
    contract::PromptFormat,
    domain::{FittedThreshold, ScoreKind},
    error::{Error, Result},
    id::{ModelId, Seed},
};

impl GateCalibration {
    /// Fits a threshold where nobody knows which skills are right: from the best of the wrong scores of each task
    /// ([`LabeledScores::wrong`]; the right ones are not looked at). They are taken for draws of one normal distribution, and the
    /// threshold is what the best wrong score of one more task exceeds with the probability `most_wrong`: `mean + t * sd * sqrt(1 + 1/n)`,
    /// `t` by Student's distribution with `n - 1` degrees of freedom.
    ///
    /// Leave the skills out that were written for a task. A right skill among the wrong ones makes the threshold higher, so that
    /// fewer skills are injected, right and wrong. What [`held_out`](Self::held_out) counts of wrong injections is for
    /// each task by the threshold of all the others; of right ones nothing is known.
    ///
    /// The [`scores`](Self::scores) are kept where no task has right ones, up to a number: else decisions at tasks like these have others,
    /// those of the right skills. Take them out where the tasks are not such as the agent gets.
    ///
    /// ```
    /// use journeyman::{
    ///     domain::ScoreKind,
    ///     stations::select::{GateCalibration, LabeledScores},
    ///     testing::ScriptedFormat,
    /// };
    ///
    /// let scored = |number: u32| {
    ///     let wrong = vec![20.0 + f64::from(number % 7), 3.0];
    ///     LabeledScores::new(format!("task-{number}"), Vec::new(), wrong)
    /// };
    /// let tasks: Vec<LabeledScores> = (0..20).map(scored).collect();
    /// let of = (&"a-model@1".into(), ScoreKind::Pmi, &ScriptedFormat as _);
    /// let fitted = GateCalibration::without_labels(&tasks, of, 0.05)?;
    /// assert!(26.0 < fitted.threshold && fitted.threshold < 28.0);
    /// assert_eq!(fitted.held_out.wrong_injected.value(), 0.0);
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` for fewer than 8 tasks, a task without a wrong candidate, a score that is not finite, and a `most_wrong` that is not above
    /// 0 and at most 0.5.
    pub fn without_labels(
        tasks: &[LabeledScores],
        of: (&ModelId, ScoreKind, &dyn PromptFormat),
        most_wrong: f64,
    ) -> Result<Self> {
        let best = best(tasks, most_wrong)?;
        let limit = threshold(&best, student_t(most_wrong, best.len() - 1));
        let t_of_others = student_t(most_wrong, best.len() - 2);
        let count = |exceeds: &dyn Fn(usize) -> bool| {
            let exceeding = (0..best.len()).filter(|&at| exceeds(at)).count();
            let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
            GateRates {
                right_injected: Share::new(0, 0),
                wrong_injected: Share::new(number(exceeding), number(best.len())),
            }
        };
        let by_the_others = |at: usize| {
            let mut others = best.clone();
            let own = others.swap_remove(at);
            own > threshold(&others, t_of_others)
        };
        let nothing_left_out = tasks.iter().all(|task| !task.has_right());
        // The fit draws nothing, and has no seed.
        let scores = FittedScores::drawn(best.iter().copied(), Seed(0));
        let scores = scores.filter(|_| nothing_left_out);
        Ok(Self {
            schema: schema_of(scores.as_ref()),
            fitted_for: fitted_for(of),
            threshold: limit,
            found: None,
            most_wrong,
            fitted: count(&|at| best[at] > limit),
            held_out: count(&by_the_others),
            outcomes: None,
            scores,
        })
    }

    /// The threshold that a session fitted ([`Journeyman::gate`](crate::run::Journeyman::gate)), for other sessions: those that have no
    /// time for a fit, or that shall not fit again when the library grows. It counts the tasks that exceed what the others give.
    ///
    /// ```
    /// use journeyman::{
    ///     domain::{FittedThreshold, ScoreKind},
    ///     recipe,
    ///     stations::select::GateCalibration,
    ///     testing::ScriptedFormat,
    /// };
    ///
    /// let mut fitted = FittedThreshold::new(ScoreKind::CardPmi, 21.5, "a-model@1");
    /// (fitted.most_wrong, fitted.tasks, fitted.exceeded) = (0.02, 24, 1);
    /// let calibration = GateCalibration::of_session(&fitted, &ScriptedFormat);
    /// assert_eq!(calibration.held_out.wrong_injected.count, 1);
    /// let mut recipe = recipe::standard();
    /// recipe.calibrate(&calibration)?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    pub fn of_session(fitted: &FittedThreshold, prompt_format: &dyn PromptFormat) -> Self {
        let rates = |wrong_injected| GateRates {
            right_injected: Share::new(0, 0),
            wrong_injected,
        };
        Self {
            schema: SCORES,
            fitted_for: fitted_for((&fitted.model, fitted.score, prompt_format)),
            threshold: fitted.threshold,
            found: fitted.found,
            most_wrong: fitted.most_wrong,
            fitted: rates(Share::new(0, 0)),
            held_out: rates(Share::new(fitted.exceeded, fitted.tasks)),
            outcomes: None,
            // Those of its tasks, which are none of the host's, say nothing of decisions.
            scores: None,
        }
    }
}

/// The best wrong score of each task.
fn best(tasks: &[LabeledScores], most_wrong: f64) -> Result<Vec<f64>> {
    let invalid = |message: String| Error::invalid("GateCalibration::without_labels", message);
    if !(most_wrong > 0.0 && most_wrong <= 0.5) {
        return Err(invalid(format!(
            "most_wrong must be above 0 and at most 0.5, and is {most_wrong}"
        )));
    }
    if tasks.len() < TASKS {
        let message = format!("{TASKS} tasks are needed, and there are {}", tasks.len());
        return Err(invalid(message).hint("give more tasks, of the kinds that the agent will get"));
    }
    let of = |task: &LabeledScores| match LabeledScores::best(&task.wrong) {
        best if best.is_finite() && task.wrong.iter().all(|score| score.is_finite()) => Ok(best),
        _ => {
            let message = "a task has no wrong candidate, or one without a finite score";
            Err(invalid(message.to_owned()).with("task", &task.task))
        }
    };
    tasks.iter().map(of).collect()
}

/// The upper end of the interval of one more draw.
fn threshold(draws: &[f64], t: f64) -> f64 {
    let n = draws.len() as f64;
    let mean = draws.iter().sum::<f64>() / n;
    let squares: f64 = draws.iter().map(|draw| (draw - mean).powi(2)).sum();
    let deviation = (squares / (n - 1.0)).sqrt();
    mean + t * deviation * (1.0 + 1.0 / n).sqrt()
}

/// What Student's t with so many degrees of freedom exceeds with this probability, at most a half. With `t = sqrt(d) tan(a)` its
/// density is that of `cos(a)^(d - 1)`, which is summed up from the far end.
fn student_t(exceeded: f64, degrees: usize) -> f64 {
    const STEPS: usize = 20_000;
    let width = FRAC_PI_2 / STEPS as f64;
    let degrees = degrees as f64;
    let density = |step: usize| ((step as f64 + 0.5) * width).cos().powf(degrees - 1.0);
    let half: f64 = (0..STEPS).map(density).sum();
    let mut tail = 0.0;
    for step in (0..STEPS).rev() {
        tail += density(step);
        if tail >= 2.0 * exceeded * half {
            return degrees.sqrt() * (step as f64 * width).tan();
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{id::Seed, testing::ScriptedFormat};

    fn scored(best: &[f64]) -> Vec<LabeledScores> {
        let task = |(number, best): (usize, &f64)| LabeledScores {
            task: format!("t{number}").as_str().into(),
            right: vec![best + 100.0],
            wrong: vec![best - 3.0, *best],
            right_is_first: None,
        };
        best.iter().enumerate().map(task).collect()
    }

    fn fitted(best: &[f64], most_wrong: f64) -> Result<GateCalibration> {
        let of = (
            &"m".into(),
            ScoreKind::Pmi,
            &ScriptedFormat as &dyn PromptFormat,
        );
        GateCalibration::without_labels(&scored(best), of, most_wrong)
    }

    #[test]
    fn it_is_students_t() {
        for (exceeded, degrees, expect) in [
            (0.025, 4, 2.776),
            (0.05, 7, 1.895),
            (0.05, 22, 1.717),
            (0.01, 22, 2.508),
            (0.05, 1_000, 1.646),
            (0.5, 9, 0.0),
        ] {
            let found = student_t(exceeded, degrees);
            assert!(
                (found - expect).abs() < 0.01,
                "{exceeded} {degrees}: {found}"
            );
        }
    }

    /// Sums of twelve uniform numbers are nearly normal.
    fn draws(seed: Seed, count: u64) -> Vec<f64> {
        let one = |number| {
            let parts = (0..12).map(|part| seed.derive("draw", number).derive("part", part).unit());
            20.0 + 4.0 * (parts.sum::<f64>() - 6.0)
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn one_more_task_exceeds_the_threshold_as_often_as_was_asked() {
        for most_wrong in [0.05, 0.2] {
            let mut exceeding = 0;
            for round in 0..400 {
                let seed = Seed(round);
                let limit = fitted(&draws(seed, 24), most_wrong).unwrap().threshold;
                exceeding += u32::from(draws(seed.derive("more", 0), 1)[0] > limit);
            }
            let share = f64::from(exceeding) / 400.0;
            assert!((share - most_wrong).abs() < 0.04, "{share} of {most_wrong}");
        }
    }

    #[test]
    fn right_scores_do_not_matter_and_equal_ones_have_their_own_value() {
        let same = fitted(&[7.0; 9], 0.05).unwrap();
        assert_eq!(same.threshold, 7.0);
        assert_eq!(same.held_out.wrong_injected.count, 0);
        assert_eq!(same.held_out.right_injected.of, 0);
        assert_eq!(same.scores, None);
        // One far out is not known from the others.
        let mut one_out = vec![7.0, 8.0, 9.0, 8.0, 7.0, 8.0, 9.0, 8.0];
        one_out.push(60.0);
        assert_eq!(
            fitted(&one_out, 0.05)
                .unwrap()
                .held_out
                .wrong_injected
                .count,
            1
        );
    }

    #[test]
    fn the_scores_of_tasks_at_which_nothing_is_left_out_are_kept() {
        let mut tasks = scored(&[7.0, 8.0, 9.0, 8.5, 7.5, 6.0, 6.5, 9.5]);
        tasks.iter_mut().for_each(|task| task.right.clear());
        let of = (&"m".into(), ScoreKind::Pmi, &ScriptedFormat as _);
        let fitted = GateCalibration::without_labels(&tasks, of, 0.05).unwrap();
        assert_eq!(fitted.scores.unwrap().values.len(), 8);
    }

    #[test]
    fn what_cannot_be_fitted_is_refused() {
        for (best, most_wrong, expect) in [
            (&[1.0; 7][..], 0.05, "8 tasks are needed"),
            (&[1.0; 8], 0.0, "most_wrong"),
            (&[1.0; 8], 0.6, "most_wrong"),
            (&[f64::NAN; 8], 0.05, "finite"),
        ] {
            let error = fitted(best, most_wrong).unwrap_err();
            assert!(error.message().contains(expect), "{error}");
        }
        let mut tasks = scored(&[1.0; 8]);
        tasks[3].wrong.clear();
        let of = (
            &"m".into(),
            ScoreKind::Pmi,
            &ScriptedFormat as &dyn PromptFormat,
        );
        assert!(GateCalibration::without_labels(&tasks, of, 0.05).is_err());
    }
}
