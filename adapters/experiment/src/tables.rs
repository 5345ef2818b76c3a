//! The tables of a report.

use std::collections::BTreeMap;

use crate::{
    arm::value_text,
    plan::Plan,
    result::{CellResult, HeldOut, Written},
    stats::{Spread, mean},
    summary::{Metric, Results, offered_skills, share},
};

/// A table of a report, as plain text without markup.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The title.
    pub title: String,
    /// How to read it.
    pub note: String,
    /// The names of the columns.
    pub head: Vec<&'static str>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<String>>,
}

/// An absent value.
const NOTHING: &str = "–";

/// All tables that have rows, differences first.
pub(crate) fn tables(results: &Results<'_>) -> Vec<Table> {
    let mut tables = vec![differences(results), arms(results)];
    tables.extend((0..results.plan.sweeps.len()).filter_map(|at| sweep(results, at)));
    tables.extend([
        overhead(results),
        curves(results),
        stream(results),
        library(results),
        changes(results),
        times(results),
    ]);
    tables.retain(|table| !table.rows.is_empty());
    tables
}

fn row(results: &Results<'_>, arm: usize, cells: Vec<String>) -> Vec<String> {
    let name = results.plan.arms.get(arm).map(|arm| arm.name.clone());
    name.into_iter().chain(cells).collect()
}

fn seeds(results: &Results<'_>, arm: usize) -> String {
    results.of(arm).count().to_string()
}

fn held_out(plan: &Plan) -> String {
    format!("{} held-out tasks a seed", plan.held_out)
}

pub(crate) fn differences(results: &Results<'_>) -> Table {
    let plan = results.plan;
    let baseline = plan
        .arms
        .get(plan.baseline)
        .map_or("", |arm| arm.name.as_str());
    let others = (0..plan.arms.len()).filter(|arm| *arm != plan.baseline);
    let rows = others.map(|arm| {
        let points = |metric| {
            let difference: Option<Spread> = results.difference(arm, metric);
            signed(difference.map(|spread| spread.times(100.0)))
        };
        let pairs = results
            .difference(arm, Metric::First)
            .map_or(0, |spread| spread.n);
        let tokens = results.overhead(arm, plan.baseline);
        let cells = vec![
            points(Metric::First),
            points(Metric::Hidden),
            points(Metric::Plain),
            points(Metric::Success),
            signed(tokens.map(|spread| spread.times(100.0))),
            pairs.to_string(),
        ];
        row(results, arm, cells)
    });
    Table {
        title: format!("Differences from {baseline}"),
        note: format!(
            "At the end of the stream, the baseline's value taken off, in percentage points (tokens in per cent of the baseline's). Paired: {}, the same for both arms; the mean over them is one value a seed. In brackets the 95% interval over seeds by Student's t, of each comparison by itself: of one seed there is none, and where all seeds agree it has no width. Seeds: those that both arms have.",
            held_out(plan)
        ),
        head: vec![
            "arm",
            "first attempt",
            "of it hidden",
            "plain",
            "within budget",
            "tokens, %",
            "seeds",
        ],
        rows: rows.collect(),
    }
}

fn arms(results: &Results<'_>) -> Table {
    let plan = results.plan;
    let rows = plan.arms.iter().enumerate().map(|(at, arm)| {
        let percent = |metric| plus_minus(results.last(at, metric).map(|s| s.times(100.0)));
        let skills = results.spread(at, |result| result.library.last().map(offered_skills));
        let cells = vec![
            arm.description.clone(),
            percent(Metric::First),
            percent(Metric::Hidden),
            percent(Metric::Plain),
            percent(Metric::Success),
            percent(Metric::Injected),
            percent(Metric::Followed),
            percent(Metric::UseUnknown),
            plus_minus(results.last(at, Metric::Tokens)),
            plus_minus(skills),
            seeds(results, at),
        ];
        row(results, at, cells)
    });
    Table {
        title: "Arms and ablations".to_owned(),
        note: format!(
            "At the end of the stream, in per cent of {}: mean ± standard deviation over seeds. Injected: a skill stood in the prompt; followed: the agent said that it followed one; use unknown: it did not say whether it did. Tokens: the agent's own, prompt and output, a task. Skills: those that are offered.",
            held_out(plan)
        ),
        head: vec![
            "arm",
            "recipe",
            "first attempt",
            "of it hidden",
            "plain",
            "within budget",
            "injected",
            "followed",
            "use unknown",
            "tokens",
            "skills",
            "seeds",
        ],
        rows: rows.collect(),
    }
}

fn sweep(results: &Results<'_>, at: usize) -> Option<Table> {
    let sweep = results.plan.sweeps.get(at)?;
    let rows = sweep.values.iter().map(|(value, arm)| {
        let percent = |metric| plus_minus(results.last(*arm, metric).map(|s| s.times(100.0)));
        let skills = results.spread(*arm, |result| result.library.last().map(offered_skills));
        vec![
            value_text(value),
            percent(Metric::First),
            percent(Metric::Success),
            percent(Metric::Injected),
            plus_minus(results.last(*arm, Metric::Tokens)),
            plus_minus(skills),
            seeds(results, *arm),
        ]
    });
    Some(Table {
        title: format!("Sweep of {} over {}", sweep.arm, sweep.path),
        note: format!(
            "At the end of the stream, in per cent of {}: mean ± standard deviation over seeds.",
            held_out(results.plan)
        ),
        head: vec![
            "value",
            "first attempt",
            "within budget",
            "injected",
            "tokens",
            "skills",
            "seeds",
        ],
        rows: rows.collect(),
    })
}

fn overhead(results: &Results<'_>) -> Table {
    let plan = results.plan;
    let over = plan.without_skills();
    let name = plan.arms.get(over).map_or("", |arm| arm.name.as_str());
    let others = (0..plan.arms.len()).filter(|arm| *arm != over);
    let rows = others.filter_map(|arm| {
        let overhead = results.overhead(arm, over)?;
        let mean_of =
            |value: &dyn Fn(&CellResult) -> Option<f64>| plus_minus(results.spread(arm, value));
        let cells = vec![
            signed(Some(overhead.times(100.0))),
            mean_of(&|result| tokens(result, |task| task.prompt_tokens)),
            mean_of(&|result| tokens(result, |task| task.output_tokens)),
            overhead.n.to_string(),
        ];
        Some(row(results, arm, cells))
    });
    Table {
        title: format!("Token overhead over {name}"),
        note: format!(
            "How many more tokens a held-out task takes at the end of the stream, in per cent, with the 95% interval over seeds; beside it prompt and output tokens a task, mean ± standard deviation over seeds. {}; what the gate reads and what roles write is not counted.",
            held_out(plan)
        ),
        head: vec!["arm", "overhead, %", "prompt", "output", "seeds"],
        rows: rows.collect(),
    }
}

fn tokens(result: &CellResult, of: impl Fn(&HeldOut) -> u64) -> Option<f64> {
    let tasks = result.checkpoints.last()?.tasks.iter();
    mean(&tasks.map(|task| of(task) as f64).collect::<Vec<_>>())
}

fn curves(results: &Results<'_>) -> Table {
    let plan = results.plan;
    let mut rows = Vec::new();
    for (at, arm) in plan.arms.iter().enumerate().filter(|(_, arm)| arm.learns) {
        let (first, use_) = (
            results.curve(at, Metric::First),
            results.curve(at, Metric::Injected),
        );
        for ((learned, first), (_, use_)) in first.into_iter().zip(use_) {
            rows.push(vec![
                arm.name.clone(),
                format!("{learned}"),
                plus_minus(Some(first.times(100.0))),
                plus_minus(Some(use_.times(100.0))),
                first.n.to_string(),
            ]);
        }
    }
    Table {
        title: "Learning curves".to_owned(),
        note: format!(
            "After so many tasks of the stream, with the library as it was then and nothing learned meanwhile, in per cent of {}: mean ± standard deviation over seeds.",
            held_out(plan)
        ),
        head: vec!["arm", "learned from", "first attempt", "injected", "seeds"],
        rows,
    }
}

fn stream(results: &Results<'_>) -> Table {
    let plan = results.plan;
    let learning = plan.arms.iter().enumerate().filter(|(_, arm)| arm.learns);
    let rows = learning.map(|(at, _)| {
        let percent = |value: &dyn Fn(&CellResult) -> Option<f64>| {
            plus_minus(results.spread(at, value).map(|spread| spread.times(100.0)))
        };
        let count = |holds: &dyn Fn(&Written) -> bool| {
            plus_minus(results.spread(at, |result| Some(written(result, holds))))
        };
        let failed = |result: &CellResult| {
            Some(result.stream.iter().map(|task| task.failed).sum::<usize>() as f64)
        };
        let cells = vec![
            percent(&|result| share(result, |task| task.first)),
            percent(&|result| share(result, |task| task.success)),
            percent(&|result| share(result, |task| task.injected)),
            percent(&|result| share(result, |task| task.followed)),
            percent(&|result| share(result, |task| task.use_unknown)),
            count(&|written| written.admitted && !written.revised),
            count(&|written| written.admitted && written.revised),
            count(&|written| !written.admitted),
            percent(&fallbacks),
            plus_minus(results.spread(at, failed)),
            seeds(results, at),
        ];
        row(results, at, cells)
    });
    Table {
        title: "The stream".to_owned(),
        note: format!(
            "What happened while {} tasks were learned from: shares of attempts in per cent, counts a stream, mean ± standard deviation over seeds. Fallbacks: drafts that are a trace abstraction, in per cent of all drafts. Failed: attempts that could not be made or judged, and choices that could not be made.",
            plan.stream
        ),
        head: vec![
            "arm",
            "first attempt",
            "within budget",
            "injected",
            "followed",
            "use unknown",
            "added",
            "revised",
            "refused",
            "fallbacks, %",
            "failed",
            "seeds",
        ],
        rows: rows.collect(),
    }
}

fn written(result: &CellResult, holds: &dyn Fn(&Written) -> bool) -> f64 {
    let written = result.stream.iter().flat_map(|task| &task.written);
    written.filter(|written| holds(written)).count() as f64
}

fn fallbacks(result: &CellResult) -> Option<f64> {
    let drafts = written(result, &|written| written.drafted);
    let fallbacks = written(result, &|written| written.drafted && written.fallback);
    (drafts > 0.0).then(|| fallbacks / drafts)
}

fn library(results: &Results<'_>) -> Table {
    Table {
        title: "The library at the end".to_owned(),
        note: "Skills by tier and by state (aside: not offered), mean ± standard deviation over seeds."
            .to_owned(),
        head: vec!["arm", "where", "skills", "seeds"],
        rows: counted(results, |arm| results.shelves(arm)),
    }
}

fn changes(results: &Results<'_>) -> Table {
    Table {
        title: "Changes of the library".to_owned(),
        note: "How often a skill moved or changed its state, a stream with its start: mean ± standard deviation over seeds."
            .to_owned(),
        head: vec!["arm", "change", "times", "seeds"],
        rows: counted(results, |arm| results.changes(arm)),
    }
}

/// A row for each count of each arm that has skills.
fn counted(
    results: &Results<'_>,
    of: impl Fn(usize) -> BTreeMap<String, Spread>,
) -> Vec<Vec<String>> {
    let arms = results.plan.arms.iter().enumerate();
    let rows = arms
        .filter(|(_, arm)| arm.has_skills)
        .flat_map(|(at, arm)| {
            of(at).into_iter().map(|(name, spread)| {
                let (count, seeds) = (plus_minus(Some(spread)), spread.n.to_string());
                vec![arm.name.clone(), name.replace('_', " "), count, seeds]
            })
        });
    rows.collect()
}

fn times(results: &Results<'_>) -> Table {
    let rows = results.plan.arms.iter().enumerate().map(|(at, arm)| {
        let seconds: Vec<f64> = results.of(at).map(|cell| cell.seconds).collect();
        let spread = plus_minus(Spread::of(&seconds));
        vec![arm.name.clone(), spread, seconds.len().to_string()]
    });
    Table {
        title: "Time".to_owned(),
        note: "Seconds a cell on this machine, whatever ran beside it: mean ± standard deviation over seeds."
            .to_owned(),
        head: vec!["arm", "seconds", "seeds"],
        rows: rows.collect(),
    }
}

/// A difference with its sign and interval.
fn signed(spread: Option<Spread>) -> String {
    let Some(spread) = spread else {
        return NOTHING.to_owned();
    };
    let mean = tenths(spread.mean);
    match spread.interval() {
        Some((low, high)) => format!("{mean:+.1} [{:+.1}, {:+.1}]", tenths(low), tenths(high)),
        None => format!("{mean:+.1}"),
    }
}

fn plus_minus(spread: Option<Spread>) -> String {
    match spread {
        None => NOTHING.to_owned(),
        Some(Spread {
            mean, sd: Some(sd), ..
        }) => format!("{:.1} ± {sd:.1}", tenths(mean)),
        Some(Spread { mean, .. }) => format!("{:.1}", tenths(mean)),
    }
}

/// Rounded to tenths; a negative zero becomes a positive one.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0 + 0.0
}
