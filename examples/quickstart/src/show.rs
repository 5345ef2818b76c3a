//! What people and programs are shown.

use std::{
    collections::BTreeMap,
    io::{self, Write},
    path::Path,
    time::{Duration, Instant},
};

use journeyman::{
    Error,
    domain::{Decision, NothingReason, Origin, ScoreKind, Skill},
    library::SkillLibrary,
    policy::PolicyOptions,
    recipe::Recipe,
    run::report::{Event, EventKind, RunReport, TaskReport},
    stations::select::{First, GatePolicy, Nothing, Random},
    text::plain_terminal,
};
use quickstart::{Parts, Summaries, Summary, Tasks};
use serde_json::{Value, json};

use crate::screen::{Screen, Tone};

/// A heading.
pub(crate) fn title(out: &mut Screen, text: &str) -> io::Result<()> {
    let heading = out.painted(&format!("== {text}"), Tone::Heading);
    writeln!(out, "\n{heading}")
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
    out: &mut Screen,
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
        "  world      a travel office of simulated services; some demand what no task tells"
    )?;
    let is_trained = parts.model.is_trained_to_score();
    writeln!(out, "  selection  {}", selection(recipe, is_trained))?;
    writeln!(
        out,
        "  tasks      {} to learn from, {} attempts each; {} held out: the same services in other words and with other values",
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
    /// Whether the present task was given a skill.
    has_skill: bool,
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
            has_skill: false,
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
    pub(crate) fn alive(&mut self, out: &mut Screen) -> io::Result<()> {
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

    pub(crate) fn event(&mut self, out: &mut Screen, event: &Event) -> io::Result<()> {
        match &event.kind {
            EventKind::Selected { selection, .. } => {
                self.has_skill = selection.skill().is_some();
                Ok(())
            }
            EventKind::Admitted { skill, revised, .. } if self.in_full => {
                let written = admitted(out, skill, *revised);
                self.line(written)
            }
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

    fn task(&self, out: &mut Screen, report: &TaskReport) -> io::Result<()> {
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
            if self.has_skill {
                "with a skill"
            } else {
                "without a skill"
            },
        )
    }
}

/// A skill that entered the library: its name, and its description as it was written.
fn admitted(out: &mut Screen, skill: &Skill, revised: bool) -> io::Result<()> {
    let how = match (revised, is_kept_calls(skill)) {
        (_, true) => "kept the calls of an attempt as",
        (true, false) => "revised",
        (false, false) => "learned",
    };
    let name = out.painted(skill.name.as_str(), Tone::Good);
    writeln!(out, "      {how} {name}: {}", one_line(&skill.description))
}

/// Whether a skill is the calls of an attempt, and no text of the model's.
pub(crate) fn is_kept_calls(skill: &Skill) -> bool {
    matches!(skill.provenance.origin, Origin::TraceAbstract)
}

/// A text on one line, without what a terminal would act on.
pub(crate) fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    plain_terminal(&words.join(" ")).into_owned()
}

/// The held-out tasks before and after.
pub(crate) fn table(out: &mut Screen, before: &Summaries, after: &Summaries) -> io::Result<()> {
    title(out, "held-out tasks, before and after")?;
    let kinds = [
        ("with a hidden demand", &before.hidden, &after.hidden),
        ("without one", &before.plain, &after.plain),
    ];
    for (kind, before, after) in kinds {
        if before.n > 0 {
            kind_of_tasks(out, kind, before, after)?;
        }
    }
    writeln!(
        out,
        "  First attempts: done without one refused or needless call. Tokens are the agent's own, prompts and output; what the gate"
    )?;
    writeln!(out, "  scores is not counted.")
}

fn kind_of_tasks(
    out: &mut Screen,
    kind: &str,
    before: &Summary,
    after: &Summary,
) -> io::Result<()> {
    writeln!(out, "  {} tasks {kind}", before.n)?;
    let share = |value: f64| format!("{:.0}%", 100.0 * value);
    let at_once = [before.first_attempt_success, after.first_attempt_success].map(share);
    writeln!(out, "    first attempts      {}", change(&at_once))?;
    for (when, summary, tone) in [("before", before, Tone::Bad), ("after", after, Tone::Good)] {
        let bar = out.bar(summary.first_attempt_success, tone);
        if !bar.is_empty() {
            writeln!(out, "      {when:<6}            {bar}")?;
        }
    }
    let rows = [
        (
            "done in the end",
            [before.success, after.success].map(share),
        ),
        (
            "steps",
            [before.steps, after.steps].map(|value| format!("{value:.1}")),
        ),
        (
            "tokens",
            [before.tokens, after.tokens].map(|value| format!("{value:.0}")),
        ),
        (
            "given a skill",
            [before.skill_use, after.skill_use].map(share),
        ),
    ];
    for (name, values) in rows {
        writeln!(out, "    {name:<19} {}", change(&values))?;
    }
    Ok(())
}

/// Two values in words.
fn change([before, after]: &[String; 2]) -> String {
    match before == after {
        true => format!("{before} before and after"),
        false => format!("{before} before, {after} after"),
    }
}

/// What the gate injected and refused.
pub(crate) fn gate(out: &mut Screen, after: &RunReport, learned: &RunReport) -> io::Result<()> {
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
pub(crate) fn errors(out: &mut Screen, reports: [(&str, &RunReport); 3]) -> io::Result<()> {
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

/// Where everything lies, and how to look at it.
pub(crate) fn closing(
    out: &mut Screen,
    library: &SkillLibrary,
    folder: &Path,
    journal: &Path,
) -> io::Result<()> {
    title(out, "where it lies")?;
    let names: Vec<&str> = library
        .cache()
        .map(|entry| entry.skill.name.as_str())
        .collect();
    let count = match names.len() {
        1 => "1 skill, in a folder".to_owned(),
        count => format!("{count} skills, a folder each"),
    };
    writeln!(out, "  {count:<25} {}", folder.display())?;
    writeln!(out, "  what happened, by line    {}", journal.display())?;
    let Some(first) = names.first() else {
        return Ok(());
    };
    let file = folder.join(first).join("SKILL.md");
    writeln!(out, "  look at one with          cat {}", quoted(&file))
}

/// A path as a shell reads it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-".contains(c);
    match text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// The same for programs.
pub(crate) fn object(
    seed: u64,
    tasks: &Tasks,
    before: &Summaries,
    after: &Summaries,
    library: &SkillLibrary,
    folder: &Path,
    story: Value,
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
        "story": story,
    })
}
