//! Calibration of raw scores by the rates of success that followed from them (SCRIBE A.2).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{AssessedSubgoal, SubgoalScore},
    id::PrototypeId,
    library::SkillLibrary,
    papers::scribe::{CalibrationPolicy, SubgoalWeights},
};

/// Number of raw scores: 0 to 3.
const SCORES: usize = SubgoalScore::MAX as usize + 1;

/// Judged subgoals of one type with one score: how many, and how many of them at tasks that were done.
type Cell = (u32, u32);

/// The lookup table from a subgoal's type and raw score to the rate of success (SCRIBE A.2). The type is its prototype; subgoals
/// without one are a type too. The order of the scores is kept: a greater score never has a smaller value.
///
/// ```
/// use journeyman::{papers::scribe::Calibration, domain::SubgoalScore, library::SkillLibrary};
///
/// // Nothing is known yet: the score divided by 3.
/// let table = Calibration::of(&SkillLibrary::new(), None);
/// assert_eq!(table.value(None, SubgoalScore::new(3)?), 1.0);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    types: BTreeMap<Option<PrototypeId>, [f64; SCORES]>,
    all: Option<[f64; SCORES]>,
}

impl Calibration {
    /// The table of the library's assessed subgoals whose tasks have a verdict; without a policy, no score is changed.
    pub fn of(library: &SkillLibrary, policy: Option<CalibrationPolicy>) -> Self {
        let Some(policy) = policy else {
            return Self::default();
        };
        let mut types: BTreeMap<Option<PrototypeId>, [Cell; SCORES]> = BTreeMap::new();
        let mut all = [(0, 0); SCORES];
        for known in library.subgoals() {
            let (Some(score), Some(success)) = (known.assessed.score, known.success) else {
                continue;
            };
            let route = known.assessed.route.as_ref();
            let own = types
                .entry(route.map(|route| route.prototype.clone()))
                .or_default();
            for cells in [own, &mut all] {
                if let Some((count, done)) = cells.get_mut(usize::from(score.get())) {
                    *count += 1;
                    *done += u32::from(success);
                }
            }
        }
        let least = policy.least.get();
        let raw: [f64; SCORES] = std::array::from_fn(|score| score as f64 / (SCORES - 1) as f64);
        let of_all = rates(&all, least, &raw);
        let types = types.into_iter();
        Self {
            types: types
                .map(|(of, cells)| (of, rates(&cells, least, &of_all)))
                .collect(),
            all: Some(of_all),
        }
    }

    /// The rate of success for a score of a type, in [0, 1].
    pub fn value(&self, of: Option<&PrototypeId>, score: SubgoalScore) -> f64 {
        let own = self.types.get(&of.cloned()).or(self.all.as_ref());
        let value = own.and_then(|values| values.get(usize::from(score.get())));
        value.copied().unwrap_or_else(|| score.share())
    }

    /// The weighted mean of the calibrated scores, in [0, 1] (SCRIBE 3.2); `None` where no subgoal has a score.
    pub fn process(&self, subgoals: &[AssessedSubgoal], weights: SubgoalWeights) -> Option<f64> {
        let (mut sum, mut total) = (0.0, 0.0);
        for assessed in subgoals {
            let Some(score) = assessed.score else {
                continue;
            };
            let weight = match weights {
                SubgoalWeights::Equal => 1.0,
                SubgoalWeights::Steps => {
                    (assessed.subgoal.last + 1 - assessed.subgoal.first) as f64
                }
            };
            let route = assessed.route.as_ref().map(|route| &route.prototype);
            sum += weight * self.value(route, score);
            total += weight;
        }
        (total > 0.0).then(|| sum / total)
    }
}

/// The rate of success for each score: its own where there are enough observations, else `fallback`; then the nearest values
/// that rise with the score.
fn rates(cells: &[Cell; SCORES], least: u32, fallback: &[f64; SCORES]) -> [f64; SCORES] {
    let weighted = cells.iter().zip(fallback).map(|((count, done), fallback)| {
        match *count >= least {
            true => (f64::from(*done) / f64::from(*count), f64::from(*count)),
            // Weighs as much as the least number of observations.
            false => (*fallback, f64::from(least)),
        }
    });
    let rising = rising(&weighted.collect::<Vec<_>>());
    std::array::from_fn(|score| rising.get(score).copied().unwrap_or_default())
}

/// Isotonic regression by pooling adjacent violators: the rising sequence with the least weighted squared distance.
fn rising(values: &[(f64, f64)]) -> Vec<f64> {
    // Value, weight and length of each pool.
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (value, weight) in values {
        pools.push((*value, *weight, 1));
        while let [.., (before, w, m), (after, v, n)] = pools.as_slice()
            && before > after
        {
            let merged = ((before * w + after * v) / (w + v), w + v, m + n);
            pools.truncate(pools.len() - 2);
            pools.push(merged);
        }
    }
    let spread = pools
        .into_iter()
        .flat_map(|(value, _, length)| std::iter::repeat_n(value, length));
    spread.collect()
}

#[cfg(test)]
mod tests;
