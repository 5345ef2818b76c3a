//! A change against what was before, by pairs of attempts at the same tasks.

use journeyman::{
    Seed,
    stations::proof::{ComparePolicy, Comparison, Conclusion},
};

use super::{ERROR, RUNS, percent, streams::Draws};
use crate::figures::{Bound, Figures, Outcome};

/// Pairs of a point, at most.
const PAIRS: u64 = 200;
/// Pairs after which a gate by the point score decides.
const POINT: u64 = 8;
/// Differences up to this do not matter, where a point asks for it.
const MARGIN: f64 = 0.1;

/// A point: the shares of pairs that the change wins and loses; the others are ties.
struct Point {
    name: &'static str,
    wins: f64,
    losses: f64,
    margin: f64,
}

const POINTS: [Point; 7] = [
    point(
        "a change that does nothing, half of the pairs differ",
        0.25,
        0.25,
        0.0,
    ),
    point(
        "a change that does nothing, few pairs differ",
        0.03,
        0.03,
        0.0,
    ),
    point("a loss of 10 points", 0.1, 0.2, 0.0),
    point("a gain of 10 points", 0.2, 0.1, 0.0),
    point("a gain of 30 points", 0.4, 0.1, 0.0),
    point("a gain of just the margin of 10 points", 0.2, 0.1, MARGIN),
    point(
        "no difference, few pairs differ, a margin of 10 points",
        0.02,
        0.02,
        MARGIN,
    ),
];

const fn point(name: &'static str, wins: f64, losses: f64, margin: f64) -> Point {
    Point {
        name,
        wins,
        losses,
        margin,
    }
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    for point in POINTS {
        figures.progress(format_args!("pairs: {}", point.name));
        let mut came = Vec::new();
        for run in 0..RUNS {
            came.push(one(&point, seed, run)?);
        }
        let share =
            |is: &dyn Fn(&Came) -> bool| percent(came.iter().filter(|one| is(one)).count(), RUNS);
        let name = |what: &str| format!("{}: {what}", point.name);
        let effect = point.wins - point.losses;
        let wrong = Bound::AtMost(100.0 * ERROR);
        let better = share(&|one| one.said == Some(Conclusion::Better));
        let bound = if effect <= 0.0 { wrong } else { Bound::None };
        figures.record(
            &name("released, looked at after each of 200 pairs, %"),
            better,
            bound,
        );
        let worse = share(&|one| one.said == Some(Conclusion::Worse));
        let bound = if effect >= 0.0 { wrong } else { Bound::None };
        figures.record(&name("said to be worse, %"), worse, bound);
        figures.record(
            &name("released by the point score after 8 pairs, %"),
            share(&|one| one.point),
            Bound::None,
        );
        figures.record(
            &name("released by a test for one look after 200 pairs, %"),
            share(&|one| one.fixed),
            Bound::None,
        );
        let pairs: u64 = came.iter().map(|one| one.pairs).sum();
        figures.record(
            &name("pairs that were made, mean"),
            pairs as f64 / RUNS as f64,
            Bound::None,
        );
        if point.margin > 0.0 {
            let same = share(&|one| one.said == Some(Conclusion::NoDifference));
            let bound = if effect >= point.margin {
                wrong
            } else {
                Bound::None
            };
            figures.record(&name("said to be no difference, %"), same, bound);
        }
        if effect >= 0.3 {
            figures.record(
                &name("found within 200 pairs, %"),
                better,
                Bound::AtLeast(90.0),
            );
        }
    }
    Ok(())
}

/// What a run came to.
struct Came {
    said: Option<Conclusion>,
    pairs: u64,
    point: bool,
    fixed: bool,
}

fn one(point: &Point, seed: Seed, run: usize) -> Result<Came, journeyman::Error> {
    let mut draws = Draws::of(seed, point.name, run);
    let mut policy = ComparePolicy::default();
    policy.error = ERROR;
    policy.margin = point.margin;
    policy.most = PAIRS;
    let mut comparison = Comparison::new(policy)?;
    let (mut wins, mut losses, mut by_point) = (0_u64, 0_u64, false);
    let mut said = None;
    let mut pairs = 0;
    for number in 1..=PAIRS {
        let drawn = draws.unit();
        let (first, second) = match drawn {
            drawn if drawn < point.wins => (0.0, 1.0),
            drawn if drawn < point.wins + point.losses => (1.0, 0.0),
            _ => (1.0, 1.0),
        };
        wins += u64::from(second > first);
        losses += u64::from(first > second);
        if number == POINT {
            by_point = wins > losses;
        }
        if said.is_some() {
            continue;
        }
        pairs = number;
        comparison.add(first, second);
        said = match comparison.conclusion() {
            Conclusion::NotYet { .. } => None,
            concluded => Some(concluded),
        };
    }
    Ok(Came {
        said,
        pairs,
        point: by_point,
        fixed: is_significant(wins, losses),
    })
}

/// A one-sided sign test at 5%, for a single look: the normal approximation with the correction for continuity.
fn is_significant(wins: u64, losses: u64) -> bool {
    let (wins, losses) = (wins as f64, losses as f64);
    wins - losses - 1.0 > 1.645 * (wins + losses).sqrt()
}
