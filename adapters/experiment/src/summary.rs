//! Statistics of all cells: spreads over seeds, and differences between arms, paired by task and seed.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::domain::SkillUse;

use crate::{
    measure::offered,
    plan::{CellId, Plan},
    result::{CellResult, Checkpoint, HeldOut, LibraryPoint, StreamTask},
    stats::{Spread, mean},
    store::Saved,
};

/// A number that each attempt at a held-out task has; a share is a mean of zeros and ones.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The share that succeeded at the first attempt: the verdict's part `first_attempt` is 1, or absent.
    First,
    /// The same among tasks with the tag `hidden`.
    Hidden,
    /// The same among tasks without that tag.
    Plain,
    /// The share that succeeded.
    Success,
    /// The verdict's score.
    Score,
    /// The share with an injected skill.
    Injected,
    /// The share whose agent is known to have followed a skill.
    Followed,
    /// The share with an injected skill of which nobody knows whether it was followed.
    UseUnknown,
    /// The agent's tokens, prompt and output together.
    Tokens,
}

impl Metric {
    /// All metrics, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::First,
        Self::Hidden,
        Self::Plain,
        Self::Success,
        Self::Score,
        Self::Injected,
        Self::Followed,
        Self::UseUnknown,
        Self::Tokens,
    ];

    /// The metric's name in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first_attempt",
            Self::Hidden => "first_attempt_hidden",
            Self::Plain => "first_attempt_plain",
            Self::Success => "success",
            Self::Score => "score",
            Self::Injected => "injected",
            Self::Followed => "followed",
            Self::UseUnknown => "use_unknown",
            Self::Tokens => "tokens",
        }
    }

    /// None where the metric leaves the task out.
    fn value(self, task: &HeldOut) -> Option<f64> {
        let share = |holds: bool| f64::from(u8::from(holds));
        match self {
            Self::First => Some(share(task.first)),
            Self::Hidden => task.hidden.then(|| share(task.first)),
            Self::Plain => (!task.hidden).then(|| share(task.first)),
            Self::Success => Some(share(task.success)),
            Self::Score => Some(task.score),
            Self::Injected => Some(share(task.injected)),
            Self::Followed => Some(share(task.used.is_followed())),
            Self::UseUnknown => Some(share(task.injected && task.used == SkillUse::Unknown)),
            Self::Tokens => Some((task.prompt_tokens + task.output_tokens) as f64),
        }
    }
}

/// The finished cells of a plan.
#[derive(Debug)]
pub struct Results<'a> {
    pub(crate) plan: &'a Plan,
    cells: BTreeMap<CellId, Saved>,
}

/// The number of learned tasks, and a spread there.
pub(crate) type Point = (f64, Spread);

impl<'a> Results<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            cells: BTreeMap::new(),
        }
    }

    pub(crate) fn add(&mut self, arm: usize, saved: Saved) {
        let seed = saved.seed;
        self.cells.insert(CellId { arm, seed }, saved);
    }

    /// The number of finished cells.
    #[must_use]
    pub fn count(&self) -> usize {
        self.cells.len()
    }

    /// The cells that are not finished, by arm and then by seed.
    #[must_use]
    pub fn missing(&self) -> Vec<CellId> {
        let arms = 0..self.plan.arms.len();
        let seeds = &self.plan.seeds;
        let all = arms.flat_map(|arm| seeds.iter().map(move |&seed| CellId { arm, seed }));
        all.filter(|cell| !self.cells.contains_key(cell)).collect()
    }

    /// The builds of the program that made the cells.
    pub(crate) fn builds(&self) -> BTreeSet<&str> {
        self.cells
            .values()
            .map(|cell| cell.build.as_str())
            .collect()
    }

    fn cell(&self, arm: usize, seed: u64) -> Option<&Saved> {
        self.cells.get(&CellId { arm, seed })
    }

    /// An arm's cells by seed.
    pub(crate) fn of(&self, arm: usize) -> impl Iterator<Item = &Saved> {
        let seeds = self.plan.seeds.iter();
        seeds.filter_map(move |seed| self.cell(arm, *seed))
    }

    /// The spread of one number over an arm's cells; cells without it are left out.
    pub(crate) fn spread(
        &self,
        arm: usize,
        value: impl Fn(&CellResult) -> Option<f64>,
    ) -> Option<Spread> {
        let values = self.of(arm).filter_map(|cell| value(&cell.result));
        Spread::of(&values.collect::<Vec<_>>())
    }

    /// An arm's mean over the held-out tasks at the end of the stream, and its spread over seeds. None where no cell has
    /// the metric.
    #[must_use]
    pub fn last(&self, arm: usize, metric: Metric) -> Option<Spread> {
        self.spread(arm, |result| level(result.checkpoints.last()?, metric))
    }

    /// An arm's mean over the held-out tasks at each checkpoint. An arm that does not learn has the same value everywhere.
    pub(crate) fn curve(&self, arm: usize, metric: Metric) -> Vec<Point> {
        self.at_checkpoints(|at| self.spread(arm, |result| level(checkpoint(result, at)?, metric)))
    }

    fn at_checkpoints(&self, value: impl Fn(usize) -> Option<Spread>) -> Vec<Point> {
        let positions = self.plan.positions().into_iter();
        positions
            .filter_map(|learned| Some((learned as f64, value(learned)?)))
            .collect()
    }

    /// Whether a cell that learns attempted the held-out tasks only after its stream, in a world that cannot be set up again.
    pub(crate) fn only_after_the_stream(&self) -> bool {
        let mut cells = self.cells.values();
        cells.any(|cell| {
            let first = cell.result.checkpoints.first();
            first.is_some_and(|first| first.learned > 0)
        })
    }

    /// An arm minus the baseline at the end of the stream, in the metric's unit: for each seed that both have, the mean
    /// difference over the same tasks, and the spread of these means over seeds. None where no seed has a pair.
    #[must_use]
    pub fn difference(&self, arm: usize, metric: Metric) -> Option<Spread> {
        self.paired(arm, self.plan.baseline, |own, other| {
            let (own, other) = (own.checkpoints.last()?, other.checkpoints.last()?);
            let pairs = own.tasks.iter().zip(&other.tasks);
            let differences = pairs.filter(|(own, other)| own.task == other.task);
            let differences = differences
                .filter_map(|(own, other)| Some(metric.value(own)? - metric.value(other)?));
            mean(&differences.collect::<Vec<_>>())
        })
    }

    /// The additional tokens of a held-out task at the end of the stream, as a share of the other arm's.
    pub(crate) fn overhead(&self, arm: usize, over: usize) -> Option<Spread> {
        self.paired(arm, over, |own, other| {
            more(own.checkpoints.last()?, other.checkpoints.last()?)
        })
    }

    /// The same as [`Results::overhead`] at each checkpoint.
    pub(crate) fn overheads(&self, arm: usize, over: usize) -> Vec<Point> {
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
            let own = self.cell(arm, *seed)?;
            let other = self.cell(over, *seed)?;
            value(&own.result, &other.result)
        });
        Spread::of(&values.collect::<Vec<_>>())
    }

    /// A number of the library before the stream and after each of its tasks.
    pub(crate) fn library(
        &self,
        arm: usize,
        value: impl Fn(&CellResult, usize) -> Option<f64>,
    ) -> Vec<Point> {
        let learned = 0..=self.plan.stream;
        let points = learned.filter_map(|at| {
            let spread = self.spread(arm, |result| value(result, at))?;
            Some((at as f64, spread))
        });
        points.collect()
    }

    /// Changes of an arm's library per stream, by name.
    pub(crate) fn changes(&self, arm: usize) -> BTreeMap<String, Spread> {
        self.counts(arm, |result| {
            let mut counts = BTreeMap::new();
            for (name, count) in result.library.iter().flat_map(|point| &point.changes) {
                *counts.entry(name.clone()).or_default() += count;
            }
            counts
        })
    }

    /// The skills of an arm's library at the end, by tier and by state.
    pub(crate) fn shelves(&self, arm: usize) -> BTreeMap<String, Spread> {
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

    /// The spread of each count over an arm's cells. A name that a cell lacks counts 0 in that cell.
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

/// The latest checkpoint after at most `learned` tasks.
fn checkpoint(result: &CellResult, learned: usize) -> Option<&Checkpoint> {
    let mut latest = result.checkpoints.iter().rev();
    latest.find(|checkpoint| checkpoint.learned <= learned as u64)
}

/// Skills that are offered: those of the cache and the reservoir.
pub(crate) fn offered_skills(point: &LibraryPoint) -> f64 {
    let tiers = offered();
    let counts = tiers.iter().filter_map(|tier| point.tiers.get(tier));
    counts.sum::<usize>() as f64
}

/// Offered skills after `learned` tasks. An arm that does not learn keeps the skills of its start.
pub(crate) fn size(result: &CellResult, learned: usize) -> Option<f64> {
    let point = result.library.get(learned).or(result.library.last());
    point.map(offered_skills)
}

/// Changes of skills in the first `learned` tasks, without those of the starting library.
pub(crate) fn changed(result: &CellResult, learned: usize) -> Option<f64> {
    let points = result.library.iter().skip(1).take(learned);
    let counts = points.flat_map(|point| point.changes.values());
    Some(counts.sum::<usize>() as f64)
}

/// The share of a stream's attempts that `of` counts.
pub(crate) fn share(result: &CellResult, of: impl Fn(&StreamTask) -> usize) -> Option<f64> {
    let attempts: usize = result.stream.iter().map(|task| task.attempts).sum();
    let held: usize = result.stream.iter().map(of).sum();
    (attempts > 0).then(|| held as f64 / attempts as f64)
}
