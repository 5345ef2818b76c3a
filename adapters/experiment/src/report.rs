//! The report: Markdown, figures as SVG, and the same numbers as JSON.

use serde_json::{Value, json};

use crate::{
    chart::draw,
    failure::Failure,
    panels::{names, panels},
    plan::{CellId, Plan},
    stats::Spread,
    summary::{Metric, Results, offered_skills},
    tables::{Table, differences, tables},
};

/// The report of the finished cells, with a note on each missing one.
#[derive(Debug)]
pub struct Report<'a> {
    results: &'a Results<'a>,
    failed: &'a [Failure],
}

impl<'a> Report<'a> {
    pub(crate) fn new(results: &'a Results<'a>, failed: &'a [Failure]) -> Self {
        Self { results, failed }
    }

    fn plan(&self) -> &Plan {
        self.results.plan
    }

    fn cell(&self, cell: CellId) -> String {
        let arm = self.plan().arms.get(cell.arm);
        let arm = arm.map_or("", |arm| arm.name.as_str());
        format!("{arm}, seed {}", cell.seed)
    }

    /// The figures as one SVG, without scripts and outside references.
    #[must_use]
    pub fn svg(&self) -> String {
        let plan = self.plan();
        let title = format!(
            "{}: {} of {} cells, {} seeds, {} held-out tasks a seed",
            plan.name,
            self.results.count(),
            plan.arms.len() * plan.seeds.len(),
            plan.seeds.len(),
            plan.held_out
        );
        draw(&title, &names(self.results), &panels(self.results))
    }

    /// The whole report in Markdown. It shows `report.svg`, a file beside it.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("# Experiment {}\n\n", escaped(&self.plan().name));
        text.push_str(&self.conditions());
        text.push_str(&self.gaps());
        for (at, table) in tables(self.results).iter().enumerate() {
            text.push_str(&markdown(table));
            if at == 0 {
                text.push_str("![The figures: differences, learning curves, injected skills, library, token overhead](report.svg)\n\n");
            }
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    /// The conditions of the measurement.
    fn conditions(&self) -> String {
        let plan = self.plan();
        let seeds: Vec<String> = plan.seeds.iter().map(u64::to_string).collect();
        let conditions = &plan.conditions;
        let points = match self.results.only_after_the_stream() {
            true => {
                "the end of the stream alone, since the world cannot be set up again".to_owned()
            }
            false => format!("{} points of the stream", plan.checkpoints + 1),
        };
        let lines = [
            format!("- Model: {}", escaped(&conditions.model)),
            format!("- Seeds: {} ({})", seeds.len(), seeds.join(", ")),
            format!(
                "- Tasks a seed: {} to learn from, {} held out, attempted at {points}",
                plan.stream, plan.held_out
            ),
            format!("- World: {}", escaped(&conditions.world)),
            match conditions.deterministic {
                true => "- Deterministic: the same file gives the same numbers on the same machine and build, as far as its world does".to_owned(),
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

    /// The missing cells with the reasons, and a note where cells come from different builds.
    fn gaps(&self) -> String {
        let mut lines = Vec::new();
        for cell in self.results.missing() {
            let failed = self.failed.iter().find(|failed| failed.cell == cell);
            let why = match failed {
                Some(failed) => escaped(failed.error.message()),
                None => "not run yet".to_owned(),
            };
            lines.push(format!("- Missing: {}: {why}", escaped(&self.cell(cell))));
        }
        if self.results.builds().len() > 1 {
            lines.push("- The cells were made by different builds of the program.".to_owned());
        }
        match lines.is_empty() {
            true => String::new(),
            false => lines.join("\n") + "\n\n",
        }
    }

    /// The differences of all arms from the baseline.
    #[must_use]
    pub fn differences(&self) -> Table {
        differences(self.results)
    }

    /// The names of the missing cells, such as `learning, seed 2`.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let missing = self.results.missing().into_iter();
        missing.map(|cell| self.cell(cell)).collect()
    }

    /// The numbers of the report: `name`, `model`, `seeds`, `held_out`, `baseline`, `without_skills`, and `arms` with an
    /// object for each arm.
    #[must_use]
    pub fn json(&self) -> Value {
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
                "recipe": arm.description,
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
                "injected": curve(Metric::Injected),
                "skills": spread(skills),
                "library": shelves.collect::<serde_json::Map<String, Value>>(),
                "changes": changes.collect::<serde_json::Map<String, Value>>(),
            })
        });
        json!({
            "name": plan.name,
            "model": plan.conditions.model,
            "seeds": plan.seeds,
            "held_out": plan.held_out,
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

/// Escapes untrusted text for one line of Markdown (S17).
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            // Only a bracket before one of these can end a link's text.
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
