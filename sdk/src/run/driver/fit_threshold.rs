//! The threshold of a gate for a model that nobody calibrated: what the best of wrong skills rarely exceeds, at tasks that are none
//! of the host's.

use std::time::Duration;

use crate::{
    contract::{PromptFormat, Scorer},
    domain::{DecidedOn, FittedThreshold, FoundWeight, Query, ScoreKind, Skill, SkillRef},
    error::{Error, Result},
    id::{SkillId, TaskId},
    library::SkillLibrary,
    run::driver::{
        fits::{Fit, Found, Known},
        performer::Performer,
        scores::Wanted,
    },
    stations::select::{CANDIDATES, GateCalibration, LabeledScores, null_tasks, stand_ins},
};

/// The score by which skills are compared with a model that was not trained to score.
const SCORE: ScoreKind = ScoreKind::CardPmi;

/// Skills that a model that was trained to score is asked about at most, to find whether it knows the library's.
const ASKED: usize = 32;

/// Tokens of a task that is fitted by, in the mean, with those of its prompt.
const TASK_TOKENS: usize = 150;

impl Performer {
    /// The threshold for the model that scores and decisions about these skills, fitted where it has not been, or where the library has
    /// grown. `None` for a model that was trained to score skills like the library's, and without a scorer.
    ///
    /// # Errors
    /// `Unsupported` for a model that would take too long; else the error of a search or of scoring.
    pub(super) async fn threshold(
        &self,
        (most_wrong, on): (f64, DecidedOn),
    ) -> Result<Option<Box<FittedThreshold>>> {
        // Without them nothing is scored, and that says why.
        let Ok((scorer, prompt_format)) = self.scoring_parts() else {
            return Ok(None);
        };
        let library = self.follow().clone();
        let offered: Vec<SkillId> = offered(&library).cloned().collect();
        // Decisions that wait for the same fit do not make it twice.
        let mut found = self.fits.lock().await;
        if scorer.is_trained_to_score() {
            let of = (&library, offered.as_slice());
            let known = self.knows(&mut found, (scorer, prompt_format), of);
            if known.await? {
                return Ok(None);
            }
        }
        let on = self.fitted_on(on, offered.len());
        let of = (scorer.weights(None), most_wrong.to_bits(), on);
        let fits = &mut found.thresholds;
        let known = fits.iter().position(|fit| fit.of == of);
        if let Some(fit) = known.and_then(|at| fits.get(at))
            && !has_grown(fit.offered, offered.len())
        {
            return Ok(Some(Box::new(fit.fitted.clone())));
        }
        quick_enough(scorer, on, self.limits.fit)?;
        tracing::info!(model = %of.0, most_wrong, "fitting the gate's threshold to the model");
        let nulls = self.nulls((scorer, prompt_format), (&library, &offered), on);
        let (tasks, found) = match on {
            DecidedOn::First { .. } => together(&nulls.await?),
            DecidedOn::BestOf(_) => (nulls.await?, None),
        };
        let of_model = (&of.0, SCORE, prompt_format);
        let tasks: Vec<LabeledScores> = tasks.iter().enumerate().map(labeled).collect();
        let calibration = GateCalibration::without_labels(&tasks, of_model, most_wrong)?;
        let fitted = FittedThreshold {
            score: SCORE,
            threshold: calibration.threshold,
            found: found.map(|(weight, model)| FoundWeight {
                // The search alone injects nothing.
                most: weight.most.min(calibration.threshold - model),
                ..weight
            }),
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

    /// Whether a model that was trained to score was trained on skills like these: it knows half of them at least. Found
    /// once, and again where the library has grown, or no longer offers a skill that was asked about in its version.
    ///
    /// # Errors
    /// The scorer's error.
    async fn knows(
        &self,
        found: &mut Found,
        parts: (&dyn Scorer, &dyn PromptFormat),
        (library, offered): (&SkillLibrary, &[SkillId]),
    ) -> Result<bool> {
        let weights = parts.0.weights(None);
        let is_offered = |asked: &SkillRef| {
            let entry = library.get(&asked.id);
            entry.is_some_and(|entry| {
                entry.skill.state.is_offered() && entry.skill.reference() == *asked
            })
        };
        if let Some(one) = &found.known
            && one.weights == weights
            && !has_grown(one.offered, offered.len())
            && one.asked.iter().all(is_offered)
        {
            return Ok(one.is_known);
        }
        let every = offered.len().div_ceil(ASKED).max(1);
        let skills = offered.iter().step_by(every);
        let skills: Vec<&Skill> = (skills.filter_map(|id| library.get(id)))
            .map(|entry| &entry.skill)
            .collect();
        let texts: Vec<String> = (skills.iter())
            .map(|skill| parts.1.skill_text(skill))
            .collect();
        // Scores that every session may use; and decisions by PMI need them.
        let wanted = Wanted {
            score: ScoreKind::Pmi,
            repeatable: true,
        };
        let scores = self.known_behind(parts, "", &texts, wanted).await?;
        let known = scores.iter().filter(|alone| alone.is_known()).count();
        let is_known = 2 * known >= scores.len();
        found.known = Some(Known {
            weights,
            offered: offered.len(),
            asked: skills.iter().map(|skill| skill.reference()).collect(),
            is_known,
        });
        Ok(is_known)
    }

    /// What is fitted for decisions about these skills, with so many offered.
    fn fitted_on(&self, on: DecidedOn, offered: usize) -> DecidedOn {
        match (on, &self.components.retriever) {
            (DecidedOn::First { .. }, Some(search)) if search.has_comparable_scores() => {
                DecidedOn::First { among: 1 }
            }
            // Without a search all skills are candidates.
            (DecidedOn::First { among }, None) => {
                DecidedOn::BestOf(fitted_among(among.max(offered)))
            }
            (DecidedOn::First { among } | DecidedOn::BestOf(among), _) => {
                DecidedOn::BestOf(fitted_among(among))
            }
        }
    }

    /// What is scored of each task that no skill is for.
    async fn nulls(
        &self,
        parts: (&dyn Scorer, &dyn PromptFormat),
        of: (&SkillLibrary, &[SkillId]),
        on: DecidedOn,
    ) -> Result<Vec<NullTask>> {
        // The same threshold in every session, whatever runs beside the fit.
        let wanted = Wanted {
            score: SCORE,
            repeatable: true,
        };
        let mut tasks = Vec::new();
        let now = || self.components.clock.as_ref().map(|clock| clock.now().0);
        let begun = now();
        for (number, task) in null_tasks().enumerate() {
            let among = match on {
                DecidedOn::First { among } | DecidedOn::BestOf(among) => among,
            };
            let (skills, found) = self.candidates(of, (number, task), among).await?;
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
                short_enough(took.saturating_mul(tasks), self.limits.fit)?;
            }
        }
        Ok(tasks)
    }

    /// The candidates of a task as in a run, with the search's score of the first, 0 where it finds none; where there are too few, with
    /// skills that stand in for those that the library does not have yet.
    async fn candidates(
        &self,
        (library, offered): (&SkillLibrary, &[SkillId]),
        (number, task): (usize, &str),
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
        let known = offered.iter().filter_map(|id| library.get(id));
        let others: Vec<&Skill> = match among {
            // Another one each time, and the same ones when the library has grown.
            1 => stand_ins().iter().cycle().skip(number).take(1).collect(),
            _ => (known.map(|entry| &entry.skill))
                .chain(stand_ins())
                .collect(),
        };
        let found = found.filter_map(|id| library.get(id));
        let mut skills: Vec<Skill> = Vec::with_capacity(among);
        for skill in found.map(|entry| &entry.skill).chain(others) {
            if skills.len() < among && !skills.iter().any(|one| one.id == skill.id) {
                skills.push(skill.clone());
            }
        }
        Ok((skills, score))
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
        right_is_first: None,
    }
}

/// Whether a library has grown so much since a fit that another one is due: each skill counts in a small one.
fn has_grown(fitted: usize, offered: usize) -> bool {
    offered >= 2 * fitted.max(1) || (fitted < CANDIDATES && offered > fitted)
}

/// How much the model's score counts beside the search's, in deviations of both at these tasks. The search alone injects at too many
/// tasks of a host's own field, whose words wrong skills have too.
const MODEL: f64 = 2.0;
/// What the search's score counts at most, in its deviations above its mean.
const MOST: f64 = 4.0;
/// Tasks at which a search has to find something, to say what its scores mean.
const FOUND: usize = 12;

/// The scores of both together, what the search's counts, and the mean of the model's.
fn together(tasks: &[NullTask]) -> (Vec<NullTask>, Option<(FoundWeight, f64)>) {
    // One skill of each.
    let model: Vec<f64> = tasks
        .iter()
        .flat_map(|task| task.scores.first().copied())
        .collect();
    let mut weight = FoundWeight {
        words_power: growth(tasks),
        ..PLAIN
    };
    let search = tasks
        .iter()
        .map(|task| weight.counts(task.found, task.task));
    let search: Vec<f64> = search.collect();
    let found = tasks.iter().filter(|task| task.found > 0.0).count();
    weight.nats = match deviation(&search) {
        varies if varies > f64::EPSILON && found >= FOUND => deviation(&model) / (MODEL * varies),
        // It does not tell one task from another, or has no words of theirs.
        _ => 0.0,
    };
    weight.most = weight.nats * (mean(&search) + MOST * deviation(&search));
    let both = tasks.iter().map(|task| NullTask {
        scores: (task.scores.iter())
            .map(|score| score + weight.counts(task.found, task.task))
            .collect(),
        ..*task
    });
    (both.collect(), Some((weight, mean(&model))))
}

/// The power of a task's number of words with which the search's score grows: the slope of their logarithms, from 0 to 1.
fn growth(tasks: &[NullTask]) -> f64 {
    let words = FoundWeight {
        words_power: 1.0,
        ..PLAIN
    };
    let points: Vec<(f64, f64)> = (tasks.iter())
        .filter(|task| task.found > 0.0)
        // The number of words, as what a score of 1 is divided by.
        .map(|task| (-words.counts(1.0, task.task).ln(), task.found.ln()))
        .collect();
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let (x, y) = (mean(&xs), mean(&ys));
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

/// Counts a search's score as it is.
const PLAIN: FoundWeight = FoundWeight {
    nats: 1.0,
    words_power: 0.0,
    most: f64::INFINITY,
};

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0).max(1.0)).sqrt()
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
pub(crate) fn quick_enough(scorer: &dyn Scorer, on: DecidedOn, longest: Duration) -> Result<()> {
    let Some(speed) = scorer.speed() else {
        return Ok(());
    };
    let skills = match on {
        DecidedOn::First { .. } => 1,
        DecidedOn::BestOf(candidates) => fitted_among(candidates),
    };
    let tokens = null_tasks().len() * (TASK_TOKENS + skills * SCORE.tokens(usize::MAX));
    let tokens = u32::try_from(tokens).unwrap_or(u32::MAX);
    short_enough(speed.read_token.saturating_mul(tokens), longest)
}

/// # Errors
/// `Unsupported` for a fit that takes so long.
fn short_enough(time: Duration, longest: Duration) -> Result<()> {
    if time <= longest {
        return Ok(());
    }
    let message = format!(
        "the gate's threshold is not fitted to this model, since that would take about {} minutes here and `Limits::fit` of the recipe \
         allows {} seconds",
        time.as_secs().div_ceil(60),
        longest.as_secs()
    );
    Err(Error::unsupported("Scorer::score", message).hint(
        "give the fit more time (`recipe.limits.fit`), fit once with `journeyman model calibrate` and give the result to `Recipe::calibrate` (`calibration` in a run's file), or set a threshold by hand: `GatePolicy::absolute`, with `most_wrong` as `None`",
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
        let task = |number: usize| NullTask {
            task: TASKS[number % 4],
            found: found * [1.0_f64, 4.0, 9.0, 16.0][number % 4].powf(power),
            scores: vec![[1.0, 3.0, 2.0, 6.0][number % 4]],
        };
        (0..24).map(task).collect()
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
        all.iter_mut().step_by(3).for_each(|task| task.found = 5.0);
        let model: Vec<f64> = all.iter().map(|task| task.scores[0]).collect();
        let (both, weight) = together(&all);
        assert!(weight.is_some_and(|(weight, _)| weight.nats > 0.0));
        let search: Vec<f64> = both
            .iter()
            .zip(&model)
            .map(|(both, model)| both.scores[0] - model)
            .collect();
        assert!((deviation(&search) - deviation(&model) / MODEL).abs() < 1e-9);
        // A search that says the same of all tasks counts nothing, nor does one that finds something at few.
        let mut few = tasks(0.0, 0.0);
        few.iter_mut()
            .take(FOUND - 1)
            .for_each(|task| task.found = 3.0);
        for tasks in [tasks(0.0, 3.0), few] {
            let (both, weight) = together(&tasks);
            assert_eq!(weight.map(|(weight, _)| weight.nats), Some(0.0));
            assert_eq!(both[2].scores, [2.0]);
        }
    }
}
