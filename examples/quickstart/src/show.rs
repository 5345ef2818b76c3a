//! What people and programs are shown.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use journeyman::{
    Error,
    domain::{Decision, NothingReason, ScoreKind},
    library::SkillLibrary,
    policy::PolicyOptions,
    recipe::Recipe,
    run::report::{Event, EventKind, RunReport, TaskReport},
    stations::select::{First, GatePolicy, Nothing, Random},
};
use quickstart::{Parts, Summaries, Summary, Tasks};
use serde_json::{Value, json};

/// A heading.
pub(crate) fn title(out: &mut dyn Write, text: &str) -> io::Result<()> {
    writeln!(out, "\n== {text}")
}

/// The message of an error, its facts and what to do next, a line each.
pub(crate) fn in_words(error: &Error) -> String {
    let mut text = error.message().to_owned();
    for (name, value) in error.facts() {
        text.push_str(&format!("\n  {name}: {value}"));
    }
    if let Some(hint) = error.hint_text() {
        text.push_str(&format!("\n  hint: {hint}"));
    }
    text
}

/// What the run is made of.
pub(crate) fn opening(
    out: &mut dyn Write,
    seed: u64,
    parts: &Parts,
    tasks: &Tasks,
    recipe: &Recipe,
) -> io::Result<()> {
    use journeyman::contract::{LanguageModel, Scorer};
    writeln!(out, "Journeyman quickstart, seed {seed}")?;
    writeln!(out, "  model      {}", parts.model.capabilities().model)?;
    writeln!(
        out,
        "  world      simulated services; some tools have a contract that no task tells"
    )?;
    let is_trained = parts.model.is_trained_to_score();
    writeln!(out, "  selection  {}", selection(recipe, is_trained))?;
    writeln!(
        out,
        "  tasks      {} to learn from, {} attempts each; {} held out: the same contracts in other words and with other values",
        tasks.stream.len(),
        recipe.attempts.group,
        tasks.held_out.len()
    )
}

/// A run is never silent for much longer.
pub(crate) const SILENCE: Duration = Duration::from_secs(8);

/// How a skill is chosen with a model that was trained to score skills, or with one that a session fits a threshold to, in words.
fn selection(recipe: &Recipe, is_trained: bool) -> String {
    let policy = match (recipe.select.selector.name.as_str(), recipe.gate()) {
        (Nothing::NAME, _) => return "nothing is ever injected".to_owned(),
        (First::NAME, _) => return "the skill that a search finds first, always".to_owned(),
        (Random::NAME, _) => return "any skill, at random".to_owned(),
        (GatePolicy::NAME, Some(policy)) => policy,
        _ => return "by a policy of its own".to_owned(),
    };
    let default = GatePolicy::default();
    let is_default = (policy.score, policy.absolute) == (default.score, default.absolute);
    if !is_trained && policy.most_wrong.is_some() && is_default {
        return "the skill that a search finds first, if its score and the model's together exceed a threshold that is fitted to the model"
            .to_owned();
    }
    let score = match policy.score {
        ScoreKind::Pmi => "how much likelier the task makes it (PMI)",
        ScoreKind::Sum => "the sum of its tokens' log-probabilities",
        ScoreKind::Mean => "the mean of its tokens' log-probabilities",
        _ => "the model's own answer whether it fits",
    };
    let mut words = format!("the skill with the best score, {score}");
    if let Some(least) = policy.absolute {
        words.push_str(&format!("; it has to be above {least} nats"));
    }
    if let Some(ahead) = policy.relative {
        words.push_str(&format!(
            "; its share of all scores has to be above {ahead}"
        ));
    }
    words
}

/// Shows events as they come.
#[derive(Debug)]
pub(crate) struct Progress {
    total: usize,
    done: usize,
    in_full: bool,
    injected: Option<String>,
    start: Instant,
    /// When the last line was written.
    last: Instant,
    /// Attempts at the present task.
    attempts: usize,
}

impl Progress {
    pub(crate) fn new(total: usize, in_full: bool) -> Self {
        Self {
            total,
            done: 0,
            in_full,
            injected: None,
            start: Instant::now(),
            last: Instant::now(),
            attempts: 0,
        }
    }

    /// How long from now a line is due.
    pub(crate) fn until_line(&self) -> Duration {
        SILENCE.saturating_sub(self.last.elapsed())
    }

    /// A line, where nothing else was written for a while.
    pub(crate) fn alive(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.last.elapsed() < SILENCE {
            return Ok(());
        }
        self.last = Instant::now();
        writeln!(
            out,
            "  ... at task {} of {}, {} attempts made at it, {} s",
            (self.done + 1).min(self.total),
            self.total,
            self.attempts,
            self.start.elapsed().as_secs()
        )?;
        out.flush()
    }

    pub(crate) fn event(&mut self, out: &mut dyn Write, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Selected { selection, .. } => {
                self.injected = selection.skill().map(|skill| skill.id.to_string());
                Ok(())
            }
            EventKind::Admitted { skill, revised, .. } if self.in_full => self.line(writeln!(
                out,
                "      {} {}: {}",
                if *revised { "revised" } else { "learned" },
                skill.name,
                skill.body.split_whitespace().collect::<Vec<_>>().join(" ")
            )),
            EventKind::Attempted { .. } => {
                self.attempts += 1;
                Ok(())
            }
            EventKind::TaskFinished { report, .. } => {
                self.done += 1;
                self.attempts = 0;
                if self.in_full {
                    let written = self.task(out, report);
                    self.line(written)
                } else if self.done.is_multiple_of(16) || self.done == self.total {
                    let (done, total) = (self.done, self.total);
                    self.line(writeln!(out, "  {done} of {total} attempted"))
                } else {
                    Ok(())
                }
            }
            _ => Ok(()),
        }
    }

    /// A line was written.
    fn line(&mut self, written: io::Result<()>) -> io::Result<()> {
        self.last = Instant::now();
        written
    }

    fn task(&self, out: &mut dyn Write, report: &TaskReport) -> io::Result<()> {
        let n = report.attempts.len();
        let count = |holds: &dyn Fn(&journeyman::run::report::AttemptReport) -> bool| {
            report.attempts.iter().filter(|a| holds(a)).count()
        };
        writeln!(
            out,
            "  [{:>3}/{}] {:<7} done {}/{n}, at once {}/{n}, {}",
            self.done,
            self.total,
            report.tags.first().map_or("", String::as_str),
            count(&|a| a.success == Some(true)),
            count(&|a| a.parts.get("first_attempt") == Some(&1.0)),
            if self.injected.is_some() {
                "with a skill"
            } else {
                "without a skill"
            },
        )
    }
}

/// Before and after, side by side.
pub(crate) fn table(out: &mut dyn Write, before: &Summaries, after: &Summaries) -> io::Result<()> {
    title(out, "held-out tasks, before -> after")?;
    writeln!(
        out,
        "  tokens are the agent's own, prompts and output; what the gate scores is not counted"
    )?;
    let mut row = |name: &str, b: &Summary, a: &Summary| {
        writeln!(
            out,
            "  {name:<16} n {:>4}   first attempt {:>5.1}% -> {:>5.1}%   success {:>5.1}% -> {:>5.1}%   steps {:.2} -> {:.2}   tokens {:.0} -> {:.0}   skill use {:.0}%",
            b.n,
            100.0 * b.first_attempt_success,
            100.0 * a.first_attempt_success,
            100.0 * b.success,
            100.0 * a.success,
            b.steps,
            a.steps,
            b.tokens,
            a.tokens,
            100.0 * a.skill_use,
        )
    };
    row("all", &before.all, &after.all)?;
    row("hidden contract", &before.hidden, &after.hidden)?;
    row("plain", &before.plain, &after.plain)
}

/// What the gate injected and refused.
pub(crate) fn gate(out: &mut dyn Write, after: &RunReport, learned: &RunReport) -> io::Result<()> {
    title(out, "what the gate decided")?;
    for (name, report) in [("in the stream", learned), ("held-out tasks", after)] {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for selection in report.tasks.iter().flat_map(|task| &task.selections) {
            *counts.entry(kind(&selection.decision)).or_default() += 1;
        }
        let counts: Vec<String> = counts
            .iter()
            .map(|(kind, n)| format!("{kind} {n}"))
            .collect();
        writeln!(out, "  {name:<15} {}", counts.join(", "))?;
    }
    Ok(())
}

fn kind(decision: &Decision) -> &'static str {
    match decision {
        Decision::Inject {
            explored: false, ..
        } => "injected",
        Decision::Inject { explored: true, .. } => "injected to explore",
        Decision::Nothing(NothingReason::NoCandidates) => "no candidates",
        Decision::Nothing(NothingReason::BelowRelative { .. }) => "refused: not clearly the best",
        Decision::Nothing(NothingReason::BelowAbsolute { .. }) => "refused: below the threshold",
        Decision::Nothing(NothingReason::ScorerUnavailable(_)) => "the scorer failed",
        Decision::Nothing(NothingReason::RetrieverUnavailable(_)) => "the retriever failed",
        Decision::Nothing(NothingReason::Disabled) => "selection is off",
        Decision::Nothing(NothingReason::Uncalibrated(_)) => "refused: no threshold for this model",
        _ => "declined",
    }
}

/// Attempts that could not be made or judged, where there are any: they say nothing about the agent.
pub(crate) fn errors(out: &mut dyn Write, reports: [(&str, &RunReport); 3]) -> io::Result<()> {
    let mut titled = false;
    for (name, report) in reports {
        let attempts = || report.tasks.iter().flat_map(|task| &task.attempts);
        let mut errors = attempts().filter_map(|attempt| attempt.error.as_ref());
        let Some(first) = errors.next() else {
            continue;
        };
        if !titled {
            title(out, "what failed outside the agent")?;
            titled = true;
        }
        let (count, of) = (1 + errors.count(), attempts().count());
        writeln!(
            out,
            "  {name:<15} {count} of {of} attempts, the first: {}",
            in_words(first)
        )?;
    }
    Ok(())
}

/// Where everything lies.
pub(crate) fn closing(
    out: &mut dyn Write,
    skills: usize,
    folder: &Path,
    journal: &Path,
) -> io::Result<()> {
    title(out, "where it lies")?;
    writeln!(
        out,
        "  {skills} skills   {}/<name>/SKILL.md",
        folder.display()
    )?;
    writeln!(out, "  the journal {}", journal.display())
}

/// The same for programs.
pub(crate) fn object(
    seed: u64,
    tasks: &Tasks,
    before: &Summaries,
    after: &Summaries,
    library: &SkillLibrary,
    folder: &Path,
) -> Value {
    let skills: Vec<Value> = library
        .entries()
        .map(|entry| {
            json!({
                "name": entry.skill.name,
                "state": entry.skill.state,
                "utility": entry.utility,
                "uses": entry.uses,
                "version": entry.skill.version,
            })
        })
        .collect();
    json!({
        "seed": seed,
        "tasks": tasks.stream.len(),
        "held_out": tasks.held_out.len(),
        "before": before,
        "after": after,
        "skills": skills,
        "library": folder,
    })
}
