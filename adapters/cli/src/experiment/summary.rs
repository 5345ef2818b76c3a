//! What the cells add up to: spreads over seeds, and differences between arms that are paired by task and seed.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    measure::offered,
    plan::Plan,
    result::{CellResult, Checkpoint, HeldOut, LibraryPoint, StreamTask},
    stats::{Spread, mean},
    store::Saved,
};

/// What is said of a held-out task, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Metric {
    First,
    Hidden,
    Plain,
    Success,
    Score,
    Use,
    Reported,
    Tokens,
}

impl Metric {
    pub(super) const ALL: [Self; 8] = [
        Self::First,
        Self::Hidden,
        Self::Plain,
        Self::Success,
        Self::Score,
        Self::Use,
        Self::Reported,
        Self::Tokens,
    ];

    /// As JSON has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first_attempt",
            Self::Hidden => "first_attempt_hidden",
            Self::Plain => "first_attempt_plain",
            Self::Success => "success",
            Self::Score => "score",
            Self::Use => "skill_use",
            Self::Reported => "skill_use_reported",
            Self::Tokens => "tokens",
        }
    }

    /// None where the task does not count.
    fn value(self, task: &HeldOut) -> Option<f64> {
        let share = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::First => Some(share(task.first)),
            Self::Hidden => task.hidden.then(|| share(task.first)),
            Self::Plain => (!task.hidden).then(|| share(task.first)),
            Self::Success => Some(share(task.success)),
            Self::Score => Some(task.score),
            Self::Use => Some(share(task.injected)),
            Self::Reported => Some(share(task.used)),
            Self::Tokens => Some((task.prompt_tokens + task.output_tokens) as f64),
        }
    }
}

/// The cells that are done.
#[derive(Debug)]
pub(super) struct Results<'a> {
    pub(super) plan: &'a Plan,
    cells: BTreeMap<(usize, u64), Saved>,
}

/// A spread at a place of the stream.
pub(super) type Point = (f64, Spread);

impl<'a> Results<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            cells: BTreeMap::new(),
        }
    }

    pub(super) fn add(&mut self, arm: usize, saved: Saved) {
        self.cells.insert((arm, saved.seed), saved);
    }

    pub(super) fn count(&self) -> usize {
        self.cells.len()
    }

    pub(super) fn missing(&self) -> Vec<(usize, u64)> {
        let arms = 0..self.plan.arms.len();
        let all = arms.flat_map(|arm| self.plan.seeds.iter().map(move |seed| (arm, *seed)));
        all.filter(|place| !self.cells.contains_key(place))
            .collect()
    }

    /// The programs that made them.
    pub(super) fn builds(&self) -> BTreeSet<&str> {
        self.cells
            .values()
            .map(|cell| cell.build.as_str())
            .collect()
    }

    /// An arm's cells by seed.
    pub(super) fn of(&self, arm: usize) -> impl Iterator<Item = &Saved> {
        let seeds = self.plan.seeds.iter();
        seeds.filter_map(move |seed| self.cells.get(&(arm, *seed)))
    }

    /// One number of each cell of an arm, where it has it.
    pub(super) fn spread(
        &self,
        arm: usize,
        value: impl Fn(&CellResult) -> Option<f64>,
    ) -> Option<Spread> {
        let values = self.of(arm).filter_map(|cell| value(&cell.result));
        Spread::of(&values.collect::<Vec<_>>())
    }

    /// At the end of the stream.
    pub(super) fn last(&self, arm: usize, metric: Metric) -> Option<Spread> {
        self.spread(arm, |result| level(result.checkpoints.last()?, metric))
    }

    /// At each checkpoint. An arm that learns nothing has the same everywhere.
    pub(super) fn curve(&self, arm: usize, metric: Metric) -> Vec<Point> {
        self.at_checkpoints(|at| self.spread(arm, |result| level(checkpoint(result, at)?, metric)))
    }

    fn at_checkpoints(&self, value: impl Fn(usize) -> Option<Spread>) -> Vec<Point> {
        let positions = self.plan.world.positions().into_iter().enumerate();
        positions
            .filter_map(|(at, learned)| Some((learned as f64, value(at)?)))
            .collect()
    }

    /// How much more an arm has than the baseline at the end of the stream: for each seed that both have the mean over the
    /// same tasks, and their spread over seeds.
    pub(super) fn difference(&self, arm: usize, metric: Metric) -> Option<Spread> {
        self.paired(arm, self.plan.baseline, |own, other| {
            let (own, other) = (own.checkpoints.last()?, other.checkpoints.last()?);
            let pairs = own.tasks.iter().zip(&other.tasks);
            let differences = pairs.filter(|(own, other)| own.task == other.task);
            let differences = differences
                .filter_map(|(own, other)| Some(metric.value(own)? - metric.value(other)?));
            mean(&differences.collect::<Vec<_>>())
        })
    }

    /// How many more tokens a held-out task takes than in another arm, as a share of that.
    pub(super) fn overhead(&self, arm: usize, over: usize) -> Option<Spread> {
        self.paired(arm, over, |own, other| {
            more(own.checkpoints.last()?, other.checkpoints.last()?)
        })
    }

    /// The same at each checkpoint.
    pub(super) fn overheads(&self, arm: usize, over: usize) -> Vec<Point> {
        self.at_checkpoints(|at| {
            self.paired(arm, over, |own, other| {
                more(checkpoint(own, at)?, checkpoint(other, at)?)
            })
        })
    }

    fn paired(
        &self,
        arm: usize,
        over: usize,
        value: impl Fn(&CellResult, &CellResult) -> Option<f64>,
    ) -> Option<Spread> {
        let values = self.plan.seeds.iter().filter_map(|seed| {
            let own = self.cells.get(&(arm, *seed))?;
            let other = self.cells.get(&(over, *seed))?;
            value(&own.result, &other.result)
        });
        Spread::of(&values.collect::<Vec<_>>())
    }

    /// A number of the library after each task of the stream.
    pub(super) fn library(
        &self,
        arm: usize,
        value: impl Fn(&CellResult, usize) -> Option<f64>,
    ) -> Vec<Point> {
        let learned = 0..=self.plan.world.stream;
        let points = learned.filter_map(|at| {
            let spread = self.spread(arm, |result| value(result, at))?;
            Some((at as f64, spread))
        });
        points.collect()
    }

    /// How often each thing happened to a skill of an arm's library, a stream.
    pub(super) fn changes(&self, arm: usize) -> BTreeMap<String, Spread> {
        self.counts(arm, |result| {
            let mut counts = BTreeMap::new();
            for (name, count) in result.library.iter().flat_map(|point| &point.changes) {
                *counts.entry(name.clone()).or_default() += count;
            }
            counts
        })
    }

    /// The skills of an arm's library at the end, by tier and by state.
    pub(super) fn shelves(&self, arm: usize) -> BTreeMap<String, Spread> {
        self.counts(arm, |result| {
            let mut counts = BTreeMap::new();
            if let Some(point) = result.library.last() {
                let named =
                    |kind, (name, count): (&String, &usize)| (format!("{kind} {name}"), *count);
                counts.extend(point.tiers.iter().map(|counted| named("tier", counted)));
                counts.extend(point.states.iter().map(|counted| named("state", counted)));
                counts.insert("deleted".to_owned(), point.deleted);
            }
            counts
        })
    }

    /// What has no count in a cell has none there.
    fn counts(
        &self,
        arm: usize,
        of: impl Fn(&CellResult) -> BTreeMap<String, usize>,
    ) -> BTreeMap<String, Spread> {
        let cells: Vec<_> = self.of(arm).map(|cell| of(&cell.result)).collect();
        let names: BTreeSet<&String> = cells.iter().flat_map(BTreeMap::keys).collect();
        let spread = |name: &String| {
            let counts = cells
                .iter()
                .map(|cell| cell.get(name).copied().unwrap_or(0) as f64);
            Some((name.clone(), Spread::of(&counts.collect::<Vec<_>>())?))
        };
        names.into_iter().filter_map(spread).collect()
    }
}

/// A metric's mean over the tasks of a checkpoint.
fn level(checkpoint: &Checkpoint, metric: Metric) -> Option<f64> {
    let values = checkpoint
        .tasks
        .iter()
        .filter_map(|task| metric.value(task));
    mean(&values.collect::<Vec<_>>())
}

fn more(own: &Checkpoint, other: &Checkpoint) -> Option<f64> {
    let (own, other) = (level(own, Metric::Tokens)?, level(other, Metric::Tokens)?);
    (other > 0.0).then(|| own / other - 1.0)
}

fn checkpoint(result: &CellResult, at: usize) -> Option<&Checkpoint> {
    result.checkpoints.get(at).or(result.checkpoints.last())
}

/// Skills that are offered: those of the cache and the reservoir.
pub(super) fn offered_skills(point: &LibraryPoint) -> f64 {
    let tiers = offered();
    let counts = tiers.iter().filter_map(|tier| point.tiers.get(tier));
    counts.sum::<usize>() as f64
}

/// Offered skills after so many tasks; of an arm that learns nothing what it started with.
pub(super) fn size(result: &CellResult, learned: usize) -> Option<f64> {
    let point = result.library.get(learned).or(result.library.last());
    point.map(offered_skills)
}

/// All that happened to skills until then, its start left out.
pub(super) fn changed(result: &CellResult, learned: usize) -> Option<f64> {
    let points = result.library.iter().skip(1).take(learned);
    let counts = points.flat_map(|point| point.changes.values());
    Some(counts.sum::<usize>() as f64)
}

/// The share of a stream's attempts of which something holds.
pub(super) fn share(result: &CellResult, of: impl Fn(&StreamTask) -> usize) -> Option<f64> {
    let attempts: usize = result.stream.iter().map(|task| task.attempts).sum();
    let held: usize = result.stream.iter().map(of).sum();
    (attempts > 0).then(|| held as f64 / attempts as f64)
}
