//! The gate fitted on outcomes: how often more tasks are harmed than its bound says, and what help that costs.

use journeyman::{
    ModelId, Result, Seed, TaskId,
    domain::ScoreKind,
    stations::select::{ByOutcomes, GateCalibration, HarmBound, OutcomeScores},
    testing::ScriptedFormat,
};

use super::{RUNS, at_most, percent, streams::Draws};
use crate::figures::{Bound, Figures, Outcome};

/// Tasks of a fit.
const TASKS: usize = 400;
/// How often more may be harmed than the bound says.
const ERROR: f64 = 0.1;

/// Tasks at which each of so many scores is equally likely, and goes worse or better with a chance that hangs on it.
struct World {
    name: &'static str,
    scores: usize,
    /// The chance that the candidate does harm, at the lowest score and at the highest.
    worse: (f64, f64),
    /// The chance that it helps.
    better: (f64, f64),
}

const FALLING: World = World {
    name: "harm falls with the score",
    scores: 1_000,
    worse: (0.4, 0.0),
    better: (0.0, 0.6),
};
const EIGHT: World = World {
    name: "harm falls with the score, of which there are eight",
    scores: 8,
    ..FALLING
};
const FLAT: World = World {
    name: "the score says nothing",
    scores: 1_000,
    worse: (0.15, 0.15),
    better: (0.3, 0.3),
};

/// The greatest share of tasks that may be harmed, in each world.
const POINTS: [(World, f64); 5] = [
    (FALLING, 0.01),
    (FALLING, 0.05),
    (FALLING, 0.1),
    (EIGHT, 0.05),
    (FLAT, 0.05),
];

/// Shares of all tasks.
#[derive(Clone, Copy)]
struct Truth {
    harmed: f64,
    helped: f64,
}

impl World {
    fn chance(&self, (lowest, highest): (f64, f64), score: usize) -> f64 {
        lowest + (highest - lowest) * (score as f64 + 0.5) / self.scores as f64
    }

    /// What each score does as a threshold.
    fn truth(&self) -> Vec<Truth> {
        let share = 1.0 / self.scores as f64;
        let mut above = Truth {
            harmed: 0.0,
            helped: 0.0,
        };
        let mut truth = Vec::with_capacity(self.scores);
        for score in (0..self.scores).rev() {
            truth.push(above);
            above.harmed += share * self.chance(self.worse, score);
            above.helped += share * self.chance(self.better, score);
        }
        truth.reverse();
        truth
    }

    fn draw(&self, draws: &mut Draws, tasks: &mut [OutcomeScores]) {
        for task in tasks {
            let score = (draws.unit() * self.scores as f64) as usize;
            let worse = self.chance(self.worse, score);
            let better = self.chance(self.better, score);
            let drawn = draws.unit();
            task.score = score as f64;
            (task.before, task.with) = match drawn {
                drawn if drawn < worse => (1.0, 0.0),
                drawn if drawn < worse + better => (0.0, 1.0),
                _ => (1.0, 1.0),
            };
        }
    }
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let task =
        |number: usize| OutcomeScores::new(TaskId::new(format!("task-{number}")), 0.0, 0.0, 0.0);
    let mut tasks: Vec<OutcomeScores> = (0..TASKS).map(task).collect();
    for (world, most) in POINTS {
        let name = format!("{}, {}% may be harmed", world.name, 100.0 * most);
        figures.progress(format_args!("gate on outcomes: {name}"));
        let truth = world.truth();
        let keeps = truth.iter().filter(|one| one.harmed <= most);
        let best = keeps.map(|one| one.helped).fold(0.0, f64::max);
        let (mut exceeding, mut by_point, mut lost, mut harmed) = (0, 0, 0.0, 0.0);
        for run in 0..RUNS {
            world.draw(&mut Draws::of(seed, world.name, run), &mut tasks);
            let came = match fitted(&tasks, most, seed)? {
                Some(threshold) => truth[threshold as usize],
                None => Truth {
                    harmed: 0.0,
                    helped: 0.0,
                },
            };
            exceeding += usize::from(came.harmed > most);
            harmed += 100.0 * came.harmed / RUNS as f64;
            lost += 100.0 * (1.0 - came.helped / best).max(0.0) / RUNS as f64;
            by_point += usize::from(truth[point(&tasks, most) as usize].harmed > most);
        }
        for (what, value, bound) in [
            (
                "more are harmed, % of fits",
                percent(exceeding, RUNS),
                at_most(ERROR, RUNS),
            ),
            (
                "more are harmed by the point estimate, % of fits",
                percent(by_point, RUNS),
                Bound::None,
            ),
            ("harmed, mean, % of tasks", harmed, Bound::None),
            (
                "helpful injections lost against the best threshold, mean, %",
                lost,
                Bound::None,
            ),
        ] {
            figures.record(&format!("gate on outcomes: {name}: {what}"), value, bound);
        }
    }
    Ok(())
}

/// The threshold; `None` where the tasks are too few.
fn fitted(tasks: &[OutcomeScores], most: f64, seed: Seed) -> Result<Option<f64>> {
    let model = ModelId::new("simulated");
    let bound = HarmBound::new(most, ERROR);
    let of = (&model, ScoreKind::CardPmi, &ScriptedFormat as _);
    Ok(
        match GateCalibration::by_outcomes(tasks, of, bound, seed)? {
            ByOutcomes::Fitted(fitted) => Some(fitted.threshold),
            _ => None,
        },
    )
}

/// The lowest threshold at which no larger share of these tasks is harmed.
fn point(tasks: &[OutcomeScores], most: f64) -> f64 {
    let worse = tasks.iter().filter(|task| task.with < task.before);
    let mut worse: Vec<f64> = worse.map(|task| task.score).collect();
    worse.sort_by(|one, other| other.total_cmp(one));
    let scores = tasks.iter().map(|task| task.score);
    let least = scores.fold(f64::INFINITY, f64::min);
    let allowed = (most * tasks.len() as f64) as usize;
    worse.get(allowed).copied().unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_of_a_world_is_as_by_hand() {
        let truth = EIGHT.truth();
        // Above the second highest there is the highest, an eighth of the tasks, of which 2.5% go worse.
        assert!((truth[6].harmed - 0.025 / 8.0).abs() < 1e-12);
        assert_eq!(truth[7].harmed, 0.0);
        let all = FLAT.truth()[0];
        assert!((all.harmed - 0.15 * 0.999).abs() < 1e-9, "{}", all.harmed);
        assert!((all.helped - 0.3 * 0.999).abs() < 1e-9, "{}", all.helped);
    }
}
