//! The report: Markdown for people, figures beside it, and the same numbers as JSON.

use journeyman::Error;
use serde_json::{Value, json};

use super::{
    chart::draw,
    panels::{names, panels},
    plan::Plan,
    stats::Spread,
    summary::{Metric, Results, offered_skills},
    tables::{Table, differences, tables},
};
use crate::output::table;

/// The cells that are there, and what there is to say of the others.
pub(super) struct Report<'a> {
    results: &'a Results<'a>,
    model: &'a str,
    failed: &'a [((usize, u64), Error)],
}

impl<'a> Report<'a> {
    pub(super) fn new(
        results: &'a Results<'a>,
        model: &'a str,
        failed: &'a [((usize, u64), Error)],
    ) -> Self {
        Self {
            results,
            model,
            failed,
        }
    }

    fn plan(&self) -> &Plan {
        self.results.plan
    }

    fn cell(&self, (arm, seed): (usize, u64)) -> String {
        let arm = self
            .plan()
            .arms
            .get(arm)
            .map_or("", |arm| arm.name.as_str());
        format!("{arm}, seed {seed}")
    }

    pub(super) fn svg(&self) -> String {
        let plan = self.plan();
        let title = format!(
            "{}: {} of {} cells, {} seeds, {} held-out tasks a seed",
            plan.name,
            self.results.count(),
            plan.arms.len() * plan.seeds.len(),
            plan.seeds.len(),
            plan.world.held_out
        );
        draw(&title, &names(self.results), &panels(self.results))
    }

    pub(super) fn markdown(&self) -> String {
        let mut text = format!("# Experiment {}\n\n", escaped(&self.plan().name));
        text.push_str(&self.conditions());
        text.push_str(&self.gaps());
        for (at, table) in tables(self.results).iter().enumerate() {
            text.push_str(&markdown(table));
            if at == 0 {
                text.push_str("![The figures: differences, learning curves, skill use, library, token overhead](report.svg)\n\n");
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// Under what the numbers were taken.
    fn conditions(&self) -> String {
        let plan = self.plan();
        let world = &plan.world;
        let seeds: Vec<String> = plan.seeds.iter().map(u64::to_string).collect();
        let universe = &world.universe;
        let lines = [
            format!("- Model: {}", escaped(self.model)),
            format!("- Seeds: {} ({})", seeds.len(), seeds.join(", ")),
            format!(
                "- Tasks a seed: {} to learn from, {} held out, attempted at {} points of the stream",
                world.stream,
                world.held_out,
                world.checkpoints + 1
            ),
            format!(
                "- World: toolworld with {} hidden contracts and {} plain tools, at most {} steps an attempt",
                universe.hidden, universe.plain, world.steps
            ),
            match plan.deterministic {
                true => "- Deterministic: the same file gives the same numbers on the same machine and build".to_owned(),
                false => "- Not deterministic: requests share batches, and numbers may differ from run to run".to_owned(),
            },
            format!(
                "- Cells (an arm with a seed): {} of {}",
                self.results.count(),
                plan.arms.len() * plan.seeds.len()
            ),
        ];
        lines.join("\n") + "\n\n"
    }

    /// What is missing and why, and what does not go together.
    fn gaps(&self) -> String {
        let mut lines = Vec::new();
        for place in self.results.missing() {
            let failed = self.failed.iter().find(|(failed, _)| *failed == place);
            let why = match failed {
                Some((_, error)) => escaped(error.message()),
                None => "not run yet".to_owned(),
            };
            lines.push(format!("- Missing: {}: {why}", escaped(&self.cell(place))));
        }
        if self.results.builds().len() > 1 {
            lines.push("- The cells were made by different builds of the command.".to_owned());
        }
        match lines.is_empty() {
            true => String::new(),
            false => lines.join("\n") + "\n\n",
        }
    }

    /// The differences, for a terminal.
    pub(super) fn text(&self) -> String {
        let differences = differences(self.results);
        let mut text = format!("{}\n", differences.title);
        text.push_str(&table(&differences.head, &differences.rows));
        for place in self.results.missing() {
            text.push_str(&format!("missing: {}\n", self.cell(place)));
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        let plan = self.plan();
        let (baseline, over) = (plan.baseline, plan.without_skills());
        let name = |at: usize| plan.arms.get(at).map(|arm| &arm.name);
        let arms = plan.arms.iter().enumerate().map(|(at, arm)| {
            let metrics = |of: &dyn Fn(Metric) -> Option<Spread>| -> Value {
                let fields =
                    Metric::ALL.map(|metric| (metric.name().to_owned(), spread(of(metric))));
                Value::Object(fields.into_iter().collect())
            };
            let curve = |metric| -> Vec<Value> {
                let points = self.results.curve(at, metric).into_iter();
                let point =
                    |(learned, value)| json!({"learned": learned, "value": spread(Some(value))});
                points.map(point).collect()
            };
            let skills = self
                .results
                .spread(at, |r| r.library.last().map(offered_skills));
            let shelves = self.results.shelves(at).into_iter();
            let shelves = shelves.map(|(name, value)| (name, spread(Some(value))));
            let changes = self.results.changes(at).into_iter();
            let changes = changes.map(|(name, value)| (name, spread(Some(value))));
            json!({
                "name": arm.name,
                "recipe": arm.told,
                "held_out": metrics(&|metric| self.results.last(at, metric)),
                "difference": match at == baseline {
                    true => Value::Null,
                    false => metrics(&|metric| self.results.difference(at, metric)),
                },
                "token_overhead": match at == over {
                    true => Value::Null,
                    false => spread(self.results.overhead(at, over)),
                },
                "first_attempt": curve(Metric::First),
                "skill_use": curve(Metric::Use),
                "skills": spread(skills),
                "library": shelves.collect::<serde_json::Map<String, Value>>(),
                "changes": changes.collect::<serde_json::Map<String, Value>>(),
            })
        });
        json!({
            "name": plan.name,
            "model": self.model,
            "seeds": plan.seeds,
            "held_out": plan.world.held_out,
            "baseline": name(baseline),
            "without_skills": name(over),
            "arms": arms.collect::<Vec<Value>>(),
        })
    }
}

/// A mean over seeds with its spread and interval.
fn spread(spread: Option<Spread>) -> Value {
    let Some(spread) = spread else {
        return Value::Null;
    };
    json!({
        "mean": spread.mean,
        "sd": spread.sd,
        "interval": spread.interval().map(|(low, high)| [low, high]),
        "seeds": spread.n,
    })
}

fn markdown(table: &Table) -> String {
    let line = |cells: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut text = format!(
        "## {}\n\n{}\n\n",
        escaped(&table.title),
        escaped(&table.note)
    );
    text.push_str(&line(&mut table.head.iter().map(|name| escaped(name))));
    text.push_str(&line(&mut table.head.iter().map(|_| "---".to_owned())));
    for row in &table.rows {
        text.push_str(&line(&mut row.iter().map(|cell| escaped(cell))));
    }
    text.push('\n');
    text
}

/// Text of others, as text and on one line (S17).
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            // A bracket alone is none of a link's.
            ']' if !matches!(rest.peek(), Some('(' | '[' | ':')) => escaped.push(c),
            '|' | '\\' | '`' | '*' | '_' | ']' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
