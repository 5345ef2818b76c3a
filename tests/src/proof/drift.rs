//! The alarm when scores drift: how often it is false, and how soon it is raised.

use std::f64::consts::TAU;

use journeyman::{Result, Seed, stations::select::ScoreDrift};

use super::{at_most, percent, streams::Draws};
use crate::figures::{Bound, Figures, Outcome};

/// Scores of the fit, and new ones before a drift.
const FITTED: usize = 200;
const BEFORE: usize = 200;
/// Streams without drift, and their new scores.
const STREAMS: usize = 1_000;
const NEW: usize = 500;
/// Streams with one, and scores after which it is not waited for the alarm any more.
const DRIFTS: usize = 200;
const LONGEST: usize = 2_000;
/// The error that the alarm is asked for.
const ERROR: f64 = 0.05;

/// How the scores are after a drift. Before, they are normal with a mean of 20 nats and a deviation of 4.
struct Change {
    name: &'static str,
    mean: f64,
    deviation: f64,
    bound: Bound,
}

const CHANGES: [Change; 4] = [
    change("lower by one deviation", 16.0, 4.0, Bound::AtMost(60.0)),
    change("higher by one deviation", 24.0, 4.0, Bound::AtMost(60.0)),
    change("lower by half a deviation", 18.0, 4.0, Bound::None),
    change("twice as wide", 20.0, 8.0, Bound::None),
];

const fn change(name: &'static str, mean: f64, deviation: f64, bound: Bound) -> Change {
    Change {
        name,
        mean,
        deviation,
        bound,
    }
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    figures.progress(format_args!("drift of scores"));
    let mut alarms = 0;
    for stream in 0..STREAMS {
        let mut draws = Draws::of(seed, "no drift", stream);
        let mut drift = watch(&mut draws, seed)?;
        alarms += usize::from((0..NEW).any(|_| drift.add(score(&mut draws, 20.0, 4.0))));
    }
    figures.record(
        &format!("drift of scores: there is none, alarm within {NEW}, % of streams"),
        percent(alarms, STREAMS),
        at_most(ERROR, STREAMS),
    );
    for change in CHANGES {
        let mut delays = Vec::with_capacity(DRIFTS);
        for stream in 0..DRIFTS {
            delays.extend(delay(&change, seed, stream)?);
        }
        delays.sort_unstable();
        let name = |what: &str| format!("drift of scores: {}: {what}", change.name);
        // Of those that raised the alarm before there was anything nothing is told.
        let median = delays.get(delays.len() / 2);
        figures.record(
            &name("scores until the alarm, median"),
            median.map_or(f64::NAN, |delay| *delay as f64),
            change.bound,
        );
        let missed = delays.iter().filter(|delay| **delay > LONGEST).count();
        figures.record(
            &name(&format!("no alarm within {LONGEST} scores, %")),
            percent(missed, delays.len()),
            Bound::None,
        );
    }
    Ok(())
}

/// The scores from a drift to the alarm, one more than the longest where there is none; `None` where it was raised before.
fn delay(change: &Change, seed: Seed, stream: usize) -> Result<Option<usize>> {
    let mut draws = Draws::of(seed, change.name, stream);
    let mut drift = watch(&mut draws, seed)?;
    if (0..BEFORE).any(|_| drift.add(score(&mut draws, 20.0, 4.0))) {
        return Ok(None);
    }
    let (mean, deviation) = (change.mean, change.deviation);
    let alarm = (1..=LONGEST).find(|_| drift.add(score(&mut draws, mean, deviation)));
    Ok(Some(alarm.unwrap_or(LONGEST + 1)))
}

fn watch(draws: &mut Draws, seed: Seed) -> Result<ScoreDrift> {
    let fitted: Vec<f64> = (0..FITTED).map(|_| score(draws, 20.0, 4.0)).collect();
    // Ties are broken otherwise in each stream.
    let seed = seed.derive("ties", (draws.unit() * 1e9) as u64);
    ScoreDrift::new(fitted, ERROR, seed)
}

/// A normal score (Box and Muller).
fn score(draws: &mut Draws, mean: f64, deviation: f64) -> f64 {
    let length = (-2.0 * (1.0 - draws.unit()).ln()).sqrt();
    mean + deviation * length * (TAU * draws.unit()).cos()
}
