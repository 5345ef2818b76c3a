//! The figures' panels.

use crate::{
    chart::{Drawing, Mark, Panel, Row, Series},
    stats::Spread,
    summary::{Metric, Point, Results, changed, size},
};

const LEARNED: &str = "tasks learned from";

/// All panels, differences first.
pub(crate) fn panels(results: &Results<'_>) -> Vec<Panel> {
    let plan = results.plan;
    let percent =
        |metric: Metric| move |arm| scaled(results.curve(arm, metric), 100.0, Some((0.0, 100.0)));
    let over = plan.without_skills();
    vec![
        Panel {
            title: format!(
                "Difference from {} at the first attempt",
                name(results, plan.baseline)
            ),
            x: "percentage points, with 95% interval over seeds",
            y: "",
            drawing: Drawing::Rows(differences(results)),
        },
        Panel {
            title: "Held-out tasks done at the first attempt".to_owned(),
            x: LEARNED,
            y: "%, mean ± standard deviation over seeds",
            drawing: lines(results, percent(Metric::First)),
        },
        Panel {
            title: "Injected skills on held-out tasks".to_owned(),
            x: LEARNED,
            y: "% with a skill injected",
            drawing: lines(results, percent(Metric::Injected)),
        },
        Panel {
            title: "Library growth".to_owned(),
            x: LEARNED,
            y: "skills that are offered",
            drawing: lines(results, |arm| scaled(results.library(arm, size), 1.0, None)),
        },
        Panel {
            title: "Changes of the library".to_owned(),
            x: LEARNED,
            y: "moves and changes of state so far",
            drawing: lines(results, |arm| {
                scaled(results.library(arm, changed), 1.0, None)
            }),
        },
        Panel {
            title: format!("Token overhead over {}", name(results, over)),
            x: LEARNED,
            y: "% more tokens a held-out task",
            drawing: lines(results, |arm| match arm == over {
                true => Vec::new(),
                false => scaled(results.overheads(arm, over), 100.0, None),
            }),
        },
    ]
}

/// The entries of the legend.
pub(crate) fn names(results: &Results<'_>) -> Vec<String> {
    let arms = 0..results.plan.arms.len();
    let seeds = |at| results.of(at).count();
    arms.map(|at| format!("{} ({} seeds)", name(results, at), seeds(at)))
        .collect()
}

fn name<'a>(results: &Results<'a>, at: usize) -> &'a str {
    let arm = results.plan.arms.get(at);
    arm.map_or("", |arm| arm.name.as_str())
}

fn differences(results: &Results<'_>) -> Vec<Row> {
    let arms = 0..results.plan.arms.len();
    let others = arms.filter(|arm| *arm != results.plan.baseline);
    let rows = others.filter_map(|at| {
        let points = results.difference(at, Metric::First)?.times(100.0);
        let (low, high) = points.interval().unwrap_or((points.mean, points.mean));
        Some(Row {
            at,
            label: format!("{} ({} seeds)", name(results, at), points.n),
            value: points.mean,
            low,
            high,
        })
    });
    rows.collect()
}

fn lines(results: &Results<'_>, points: impl Fn(usize) -> Vec<Mark>) -> Drawing {
    let series = (0..results.plan.arms.len()).map(|at| Series {
        at,
        points: points(at),
    });
    Drawing::Lines(series.filter(|series| !series.points.is_empty()).collect())
}

/// Points with a band of one standard deviation, cut to `range`.
fn scaled(points: Vec<Point>, factor: f64, range: Option<(f64, f64)>) -> Vec<Mark> {
    let mark = |(x, spread): (f64, Spread)| {
        let spread = spread.times(factor);
        let sd = spread.sd.unwrap_or(0.0);
        let (least, most) = range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        Mark {
            x,
            value: spread.mean,
            low: (spread.mean - sd).max(least),
            high: (spread.mean + sd).min(most),
        }
    };
    points.into_iter().map(mark).collect()
}
