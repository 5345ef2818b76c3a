//! The threshold of a gate for a model that nobody calibrated: what the best of wrong skills rarely exceeds, at tasks that are none
//! of the host's.

use std::time::Duration;

use super::{fits::Fit, performer::Performer, scoring::Wanted};
use crate::{
    contract::{Dialect, Scorer},
    domain::{DecidedOn, FittedThreshold, FoundWeight, Query, ScoreKind, Skill},
    error::{Error, Result},
    id::{SkillId, TaskId},
    library::SkillLibrary,
    select::{CANDIDATES, GateCalibration, LabeledScores, null_tasks, stand_ins},
};

/// The score by which skills are compared with a model that was not trained to score.
const SCORE: ScoreKind = ScoreKind::CardPmi;

/// The longest time that a fit may take by the model's measured speed. It comes before the first decision, once.
pub(super) const LONGEST: Duration = Duration::from_secs(300);

/// Tokens of a task that is fitted by, in the mean, with those of its prompt.
const TASK_TOKENS: usize = 150;

impl Performer {
    /// The threshold for the model that scores and decisions about these skills, fitted where it has not been, or where the library has
    /// twice as many skills as then.
    ///
    /// # Errors
    /// `Unsupported` for a model that would take too long; else the error of a search or of scoring.
    pub(super) async fn threshold(
        &self,
        (most_wrong, on): (f64, DecidedOn),
        repeatable: bool,
    ) -> Result<Option<Box<FittedThreshold>>> {
        // Without them nothing is scored, and that says why.
        let Ok((scorer, dialect)) = self.scoring_parts() else {
            return Ok(None);
        };
        if scorer.is_trained_to_score() {
            return Ok(None);
        }
        let library = self.follow().clone();
        let offered: Vec<SkillId> = offered(&library).cloned().collect();
        let on = match (on, &self.backends.retriever) {
            (DecidedOn::First, Some(_)) => DecidedOn::First,
            // Without a search all skills are candidates.
            (DecidedOn::First, None) => DecidedOn::BestOf(fitted_among(offered.len())),
            (DecidedOn::BestOf(candidates), _) => DecidedOn::BestOf(fitted_among(candidates)),
        };
        let of = (scorer.weights(None), most_wrong.to_bits(), on, repeatable);
        // Decisions that wait for the same fit do not make it twice.
        let mut fits = self.fits.lock().await;
        let known = fits.iter().position(|fit| fit.of == of);
        if let Some(fit) = known.and_then(|at| fits.get(at))
            && offered.len() < 2 * fit.offered.max(1)
        {
            return Ok(Some(Box::new(fit.fitted.clone())));
        }
        quick_enough(scorer, on)?;
        tracing::info!(model = %of.0, most_wrong, "fitting the gate's threshold to the model");
        let nulls = self.nulls((scorer, dialect), (&library, &offered), (on, repeatable));
        let (tasks, found) = match on {
            DecidedOn::First => together(&nulls.await?),
            DecidedOn::BestOf(_) => (nulls.await?, None),
        };
        let of_model = (&of.0, SCORE, dialect);
        let tasks: Vec<LabeledScores> = tasks.iter().enumerate().map(labeled).collect();
        let calibration = GateCalibration::without_labels(&tasks, of_model, most_wrong)?;
        let fitted = FittedThreshold {
            score: SCORE,
            threshold: calibration.threshold,
            found,
            model: of.0.clone(),
            most_wrong,
            tasks: u32::try_from(tasks.len()).unwrap_or(u32::MAX),
            exceeded: calibration.held_out.wrong_injected.count,
        };
        tracing::info!(
            threshold = fitted.threshold,
            "the gate's threshold is fitted"
        );
        let fit = Fit {
            of,
            offered: offered.len(),
            fitted: fitted.clone(),
        };
        match known {
            Some(at) => fits[at] = fit,
            None => fits.push(fit),
        }
        Ok(Some(Box::new(fitted)))
    }

    /// What is scored of each task that no skill is for.
    async fn nulls(
        &self,
        parts: (&dyn Scorer, &dyn Dialect),
        of: (&SkillLibrary, &[SkillId]),
        (on, repeatable): (DecidedOn, bool),
    ) -> Result<Vec<NullTask>> {
        let wanted = Wanted {
            score: SCORE,
            repeatable,
        };
        let mut tasks = Vec::new();
        let now = || self.backends.clock.as_ref().map(|clock| clock.now().0);
        let begun = now();
        for (number, task) in null_tasks().enumerate() {
            let among = match on {
                DecidedOn::First => 1,
                DecidedOn::BestOf(candidates) => candidates,
            };
            let (skills, found) = self.candidates(of, task, among).await?;
            let scores = self.score_again(parts, task, &skills, wanted).await?;
            tasks.push(NullTask {
                task,
                found,
                scores: scores.iter().filter_map(|one| one.value(SCORE)).collect(),
            });
            // A server's speed is not known before.
            if let (0, Some(begun), Some(now)) = (number, begun, now()) {
                let took = Duration::from_millis(now.saturating_sub(begun));
                let tasks = u32::try_from(null_tasks().len()).unwrap_or(u32::MAX);
                short_enough(took.saturating_mul(tasks))?;
            }
        }
        Ok(tasks)
    }

    /// The candidates of a task as in a run, with the search's score of the first, 0 where it finds none; where there are too few, with
    /// skills that stand in for those that the library does not have yet.
    async fn candidates(
        &self,
        (library, offered): (&SkillLibrary, &[SkillId]),
        task: &str,
        among: usize,
    ) -> Result<(Vec<Skill>, f64)> {
        let mut found = Vec::new();
        if !offered.is_empty() {
            let query = Query {
                text: task.to_owned(),
                limit: among,
                among: Some(offered.to_vec()),
            };
            found = self.retrieve(&query).await?;
        }
        let score = found.first().map_or(0.0, |first| first.score);
        let found = found.iter().map(|one| &one.skill.id);
        let found = found.filter(|id| offered.contains(id));
        // What a search does not find is scored as a candidate, too, where there is room.
        let mut ids: Vec<&SkillId> = Vec::new();
        for id in found.chain(offered) {
            if ids.len() < among && !ids.contains(&id) {
                ids.push(id);
            }
        }
        let skills = ids.into_iter().filter_map(|id| library.get(id));
        let skills = skills.map(|entry| entry.skill.clone());
        let skills = skills.chain(stand_ins().iter().cloned());
        Ok((skills.take(among).collect(), score))
    }
}

/// What is scored of a task that no skill is for.
struct NullTask {
    task: &'static str,
    /// The search's score of the skill that it finds first.
    found: f64,
    /// The model's scores.
    scores: Vec<f64>,
}

fn labeled((number, task): (usize, &NullTask)) -> LabeledScores {
    LabeledScores {
        task: TaskId::new(format!("null-{number}")),
        right: Vec::new(),
        wrong: task.scores.clone(),
    }
}

/// How much the model's score counts beside the search's, in deviations of both at these tasks. The search alone injects at too many
/// tasks of a host's own field, whose words wrong skills have too.
const MODEL: f64 = 2.0;

/// The scores of both together, and what the search's counts.
fn together(tasks: &[NullTask]) -> (Vec<NullTask>, Option<FoundWeight>) {
    // One skill of each.
    let model: Vec<f64> = tasks
        .iter()
        .flat_map(|task| task.scores.first().copied())
        .collect();
    let mut weight = FoundWeight {
        nats: 1.0,
        words: growth(tasks),
    };
    let search = tasks
        .iter()
        .map(|task| weight.counts(task.found, task.task));
    let search = deviation(&search.collect::<Vec<_>>());
    weight.nats = match search > f64::EPSILON {
        true => deviation(&model) / (MODEL * search),
        // It does not tell one task from another.
        false => 0.0,
    };
    let both = tasks.iter().map(|task| NullTask {
        scores: (task.scores.iter())
            .map(|score| score + weight.counts(task.found, task.task))
            .collect(),
        ..*task
    });
    (both.collect(), Some(weight))
}

/// The power of a task's number of words with which the search's score grows: the slope of their logarithms, from 0 to 1.
fn growth(tasks: &[NullTask]) -> f64 {
    let words = FoundWeight {
        nats: 1.0,
        words: 1.0,
    };
    let points: Vec<(f64, f64)> = (tasks.iter())
        .filter(|task| task.found > 0.0)
        // The number of words, as what a score of 1 is divided by.
        .map(|task| (-words.counts(1.0, task.task).ln(), task.found.ln()))
        .collect();
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    let variance: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    match variance > 0.0 {
        true => (covariance / variance).clamp(0.0, 1.0),
        false => 0.0,
    }
}

fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0).max(1.0)).sqrt()
}

/// The skills that runs may offer.
fn offered(library: &SkillLibrary) -> impl Iterator<Item = &SkillId> {
    let entries = library.entries();
    let offered = entries.filter(|entry| entry.skill.state.is_offered());
    offered.map(|entry| &entry.skill.id)
}

/// The number of candidates by which decisions among so many are fitted: ten, or that doubled often enough, so that a library that
/// grows does not want a fit at each decision.
fn fitted_among(candidates: usize) -> usize {
    CANDIDATES * candidates.div_ceil(CANDIDATES).next_power_of_two()
}

/// # Errors
/// `Unsupported` for a model whose measured speed makes the fit too long.
pub(crate) fn quick_enough(scorer: &dyn Scorer, on: DecidedOn) -> Result<()> {
    let Some(speed) = scorer.speed() else {
        return Ok(());
    };
    let skills = match on {
        DecidedOn::First => 1,
        DecidedOn::BestOf(candidates) => fitted_among(candidates),
    };
    let tokens = null_tasks().len() * (TASK_TOKENS + skills * SCORE.tokens(usize::MAX));
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    short_enough(speed.read_token.saturating_mul(tokens))
}

/// # Errors
/// `Unsupported` for a fit that takes so long.
fn short_enough(time: Duration) -> Result<()> {
    if time <= LONGEST {
        return Ok(());
    }
    let message = format!(
        "the gate's threshold was not fitted to this model, and that would take about {} minutes here",
        time.as_secs().div_ceil(60)
    );
    Err(Error::unsupported("Scorer::score", message).hint(
        "fit it once with `journeyman model calibrate` and give the result to `Recipe::calibrate` (`calibration` in a run's file), or set a threshold by hand: `GatePolicy::absolute`, with `most_wrong` as `None`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tasks whose wrong skills are found with a score that grows with the words to this power, and a model's scores.
    fn tasks(power: f64, found: f64) -> Vec<NullTask> {
        const TASKS: [&str; 4] = [
            "a",
            "a b c d",
            "a b c d e f g h i",
            "a b c d e f g h i j k l m n o p",
        ];
        let task = |(number, task): (usize, &&'static str)| NullTask {
            task,
            found: found * [1.0_f64, 4.0, 9.0, 16.0][number].powf(power),
            scores: vec![[1.0, 3.0, 2.0, 6.0][number]],
        };
        TASKS.iter().enumerate().map(task).collect()
    }

    #[test]
    fn the_growth_of_a_searchs_score_with_the_length_of_a_task_is_found() {
        for (power, expect) in [(0.0, 0.0), (0.5, 0.5), (0.9, 0.9), (1.5, 1.0), (-0.5, 0.0)] {
            let found = growth(&tasks(power, 3.0));
            assert!((found - expect).abs() < 1e-9, "{power}: {found}");
        }
        // Nothing was found at any task.
        assert_eq!(growth(&tasks(0.5, 0.0)), 0.0);
    }

    #[test]
    fn the_search_counts_half_as_much_as_the_model() {
        let mut all = tasks(0.0, 3.0);
        all[1].found = 5.0;
        let model: Vec<f64> = all.iter().map(|task| task.scores[0]).collect();
        let (both, weight) = together(&all);
        assert!(weight.is_some_and(|weight| weight.nats > 0.0));
        let search: Vec<f64> = both
            .iter()
            .zip(&model)
            .map(|(both, model)| both.scores[0] - model)
            .collect();
        assert!((deviation(&search) - deviation(&model) / MODEL).abs() < 1e-9);
        // A search that says the same of all tasks counts nothing.
        let (both, weight) = together(&tasks(0.0, 3.0));
        assert_eq!(weight.expect("a search").nats, 0.0);
        assert_eq!(both[2].scores, [2.0]);
    }
}
