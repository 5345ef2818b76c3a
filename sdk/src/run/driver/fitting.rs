//! The threshold of a gate for a model that nobody calibrated: what the best of wrong skills rarely exceeds, at tasks that are none
//! of the host's.

use std::time::Duration;

use super::{fits::Fit, performer::Performer, scoring::Wanted};
use crate::{
    contract::{Dialect, Scorer},
    domain::{FittedThreshold, Query, ScoreKind, Skill},
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
    /// The threshold for the model that scores and decisions among so many skills, fitted where it has not been, or where the library
    /// has twice as many skills as then.
    ///
    /// # Errors
    /// `Unsupported` for a model that would take too long; else the error of a search or of scoring.
    pub(super) async fn threshold(
        &self,
        (most_wrong, candidates): (f64, usize),
        repeatable: bool,
    ) -> Result<Option<Box<FittedThreshold>>> {
        // Without them nothing is scored, and that says why.
        let Ok((scorer, dialect)) = self.scoring_parts() else {
            return Ok(None);
        };
        if scorer.is_trained_to_score() {
            return Ok(None);
        }
        let among = fitted_among(candidates);
        let weights = scorer.weights(None);
        let of = (weights, most_wrong.to_bits(), among, repeatable);
        // Decisions that wait for the same fit do not make it twice.
        let mut fits = self.fits.lock().await;
        let known = fits.iter().position(|fit| fit.of == of);
        if let Some(fit) = known.and_then(|at| fits.get(at))
            && offered(&self.follow()).count() < 2 * fit.offered.max(1)
        {
            return Ok(Some(Box::new(fit.fitted.clone())));
        }
        quick_enough(scorer, candidates)?;
        let library = self.follow().clone();
        let offered: Vec<SkillId> = offered(&library).cloned().collect();
        tracing::info!(model = %of.0, most_wrong, "fitting the gate's threshold to the model");
        let tasks = self.null_scores((scorer, dialect), (&library, &offered), (among, repeatable));
        let tasks = tasks.await?;
        let of_model = (&of.0, SCORE, dialect);
        let calibration = GateCalibration::without_labels(&tasks, of_model, most_wrong)?;
        let fitted = FittedThreshold {
            score: SCORE,
            threshold: calibration.threshold,
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

    /// The scores of the candidates of each task that no skill is for.
    async fn null_scores(
        &self,
        parts: (&dyn Scorer, &dyn Dialect),
        (library, offered): (&SkillLibrary, &[SkillId]),
        (among, repeatable): (usize, bool),
    ) -> Result<Vec<LabeledScores>> {
        let wanted = Wanted {
            score: SCORE,
            repeatable,
        };
        let mut tasks = Vec::new();
        let now = || self.backends.clock.as_ref().map(|clock| clock.now().0);
        let begun = now();
        for (number, task) in null_tasks().enumerate() {
            let skills = self.candidates((library, offered), task, among).await?;
            let scores = self.score_again(parts, task, &skills, wanted).await?;
            tasks.push(LabeledScores {
                task: TaskId::new(format!("null-{number}")),
                right: Vec::new(),
                wrong: scores.iter().filter_map(|one| one.value(SCORE)).collect(),
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

    /// The candidates of a task as in a run; where there are too few, with skills that stand in for those that the library does not
    /// have yet.
    async fn candidates(
        &self,
        (library, offered): (&SkillLibrary, &[SkillId]),
        task: &str,
        among: usize,
    ) -> Result<Vec<Skill>> {
        let mut found = Vec::new();
        if !offered.is_empty() {
            let query = Query {
                text: task.to_owned(),
                limit: among,
                among: Some(offered.to_vec()),
            };
            found = self.retrieve(&query).await?;
        }
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
        Ok(skills
            .chain(stand_ins().iter().cloned())
            .take(among)
            .collect())
    }
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
/// `Unsupported` for a model whose measured speed makes the fit for decisions among so many too long.
pub(crate) fn quick_enough(scorer: &dyn Scorer, candidates: usize) -> Result<()> {
    let Some(speed) = scorer.speed() else {
        return Ok(());
    };
    let of_skills = fitted_among(candidates) * SCORE.tokens(usize::MAX);
    let tokens = null_tasks().len() * (TASK_TOKENS + of_skills);
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
