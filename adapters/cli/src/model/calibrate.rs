//! `model calibrate`: fits the gate's threshold to a model, and says what it does on held-out tasks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    sync::Arc,
};

use journeyman::{
    Error, Result, Seed, SkillId, TaskId,
    builtin::ChatDialect,
    contract::{Backends, Dialect, Retriever},
    domain::{Judgement, Query, ScoreKind, Skill},
    library::SkillLibrary,
    policy::Answer as Answered,
    recipe::Limits,
    run::{Need, Performer},
    select::{GateCalibration, GateRates, LabeledScores, Share, null_tasks, stand_ins},
};
use journeyman_tantivy::Bm25Retriever;
use journeyman_toolworld::dialect::{ApprenticeDialect, Mode};
use serde::Deserialize;
use serde_json::json;

use super::{
    arguments::{Calibrate, DialectName},
    load::Model,
};
use crate::{
    files::{unreadable, whole},
    library::{find, read},
    output::{Answer, table},
    progress::Progress,
};

const CALIBRATE: &str = "calibrate";

/// A task, and the skills that are right for it.
#[derive(Debug, Default)]
struct Labeled {
    instruction: String,
    right: BTreeSet<SkillId>,
}

/// A line of the tasks' file. It may have what else a task of a run has.
#[derive(Debug, Deserialize)]
struct Line {
    id: String,
    instruction: String,
    skill: Option<Names>,
}

/// The names or ids of skills.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Names {
    One(String),
    Several(Vec<String>),
}

pub(super) async fn calibrate(root: &Path, command: &Calibrate) -> Result<Answer> {
    let library = read(root).await?.library;
    let labeled = match &command.tasks {
        Some(file) => of_file(&library, file)?,
        None => of_library(&library),
    };
    let right = labeled.values().filter(|task| !task.right.is_empty());
    let has_labels = match command.tasks {
        Some(_) => right.count() > 0,
        None => right.count() >= FEWEST,
    };
    let (labeled, is_shipped) = match (&command.tasks, has_labels) {
        (None, false) => match kept(&library) {
            kept if kept.len() < FEWEST => (shipped(), true),
            kept => (kept, false),
        },
        _ => (labeled, false),
    };
    let retriever = Bm25Retriever::new(Default::default())?;
    library.refresh(&retriever).await?;
    let model = Model::load(&command.load)?;
    let dialect: Arc<dyn Dialect> = match command.dialect {
        DialectName::Chat => Arc::new(ChatDialect::default()),
        DialectName::Apprentice => Arc::new(ApprenticeDialect::new(Mode::Row)),
    };
    let scoring = Scoring {
        library: &library,
        retriever: &retriever,
        performer: performer(&model, dialect.clone()),
        score: command
            .score
            .map_or_else(|| default_score(&model), Into::into),
        candidates: command.candidates.get() as usize,
        fills: is_shipped,
    };
    let progress = Progress::of("scoring");
    let mut scored = Vec::with_capacity(labeled.len());
    for (task, labeled) in &labeled {
        scored.push(scoring.of(task, labeled).await?);
        progress.step("scoring");
    }
    drop(progress);
    let of = (model.scorer.model(), scoring.score, dialect.as_ref());
    let fitted = match has_labels {
        true => GateCalibration::fit(&scored, of, command.most_wrong, Seed(command.seed))?,
        false => {
            // A task from which all skills were written has no wrong one.
            scored.retain(|task| !task.wrong.is_empty());
            GateCalibration::without_labels(&scored, of, command.most_wrong)?
        }
    };
    if let Some(file) = &command.out {
        let text = format!("{:#}\n", json!(fitted));
        whole(CALIBRATE, file, text.as_bytes())?;
    }
    Ok(Answer {
        text: as_text(&fitted, has_labels, command.out.as_deref()),
        json: json!({
            "calibration": fitted,
            "labels": has_labels,
            "tasks": scored.len(),
            "file": command.out.as_ref().map(|file| file.display().to_string()),
        }),
        ..Answer::default()
    })
}

/// Fewer tasks of the library give no threshold, with labels or without.
const FEWEST: usize = 8;

/// The score by which a session decides with this model.
fn default_score(model: &Model) -> ScoreKind {
    match model.scorer.is_trained_to_score() {
        true => ScoreKind::Pmi,
        false => ScoreKind::CardPmi,
    }
}

fn performer(model: &Model, dialect: Arc<dyn Dialect>) -> Performer {
    let backends = Backends::own_loop()
        .with_scorer(model.scorer.clone())
        .with_dialect(dialect);
    let limits = Limits {
        score: model.time_limit,
        ..Limits::default()
    };
    Performer::new(Arc::new(backends), limits)
}

/// Scores the candidates of a task as a run does.
struct Scoring<'a> {
    library: &'a SkillLibrary,
    retriever: &'a Bm25Retriever,
    performer: Performer,
    score: ScoreKind,
    candidates: usize,
    /// Whether skills stand in for those that a small library does not have yet, as where a session fits a threshold.
    fills: bool,
}

impl Scoring<'_> {
    /// The scores of the right skills, and of the wrong ones that a search finds: with too few of them, of others too.
    async fn of(&self, task: &TaskId, labeled: &Labeled) -> Result<LabeledScores> {
        let offered = self.library.entries();
        let offered = offered.filter(|entry| entry.skill.state.is_offered());
        let others: Vec<SkillId> = offered
            .map(|entry| entry.skill.id.clone())
            .filter(|id| !labeled.right.contains(id))
            .collect();
        let query = Query {
            text: labeled.instruction.clone(),
            limit: self.candidates,
            among: Some(others.clone()),
        };
        let found = self.retriever.search(&query).await?;
        let mut wrong: Vec<SkillId> = found.into_iter().map(|one| one.skill.id).collect();
        let known: BTreeSet<SkillId> = wrong.iter().cloned().collect();
        wrong.extend(others.into_iter().filter(|id| !known.contains(id)));
        wrong.truncate(self.candidates);

        let chosen = labeled.right.iter().chain(&wrong);
        let chosen = chosen.filter_map(|id| self.library.get(id));
        let skills = chosen.map(|entry| entry.skill.clone());
        let missing = match self.fills {
            true => self.candidates.saturating_sub(wrong.len()),
            false => 0,
        };
        let skills: Arc<[Skill]> =
            (skills.chain(stand_ins().iter().take(missing).cloned())).collect();
        let need = Need::Score {
            query: labeled.instruction.clone(),
            skills,
            score: self.score,
            repeatable: false,
        };
        let Answered::Scored(scores) = self.performer.perform(need).await? else {
            return Err(Error::invalid(CALIBRATE, "the model gave no scores"));
        };
        let of_task = |error: Error| error.with("task", task);
        let (mut right, mut other) = (Vec::new(), Vec::new());
        for one in scores.map_err(of_task)? {
            let value = one.value(self.score).ok_or_else(|| {
                Error::invalid(CALIBRATE, "no token of a skill was scored")
                    .with("skill", &one.skill.id)
                    .hint("give the skill a text, or release another version of it")
            })?;
            match labeled.right.contains(&one.skill.id) {
                true => right.push(value),
                false => other.push(value),
            }
        }
        Ok(LabeledScores {
            task: task.clone(),
            right,
            wrong: other,
        })
    }
}

/// The tasks of a file of JSON Lines.
fn of_file(library: &SkillLibrary, file: &Path) -> Result<BTreeMap<TaskId, Labeled>> {
    let text = fs::read_to_string(file).map_err(|source| unreadable(CALIBRATE, file, source))?;
    let (mut labeled, mut labels) = (BTreeMap::new(), None);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let place = |error: Error| error.with("path", file.display()).with("line", number);
        // The parser's message is left out: it may repeat the content.
        let line: Line = serde_json::from_str(line).map_err(|_| {
            place(Error::invalid(CALIBRATE, "the line is no labeled task")).hint(
                "each line is a JSON object with id, instruction, and skill: the name of the right skill, or a list of names; [] where no skill is right. Leave skill out of all lines where nobody knows",
            )
        })?;
        if *labels.get_or_insert(line.skill.is_some()) != line.skill.is_some() {
            return Err(place(Error::invalid(
                CALIBRATE,
                "some lines have `skill`, and some have not",
            ))
            .hint("give it to all lines, `[]` where no skill is right, or leave it out of all"));
        }
        let names = match line.skill {
            Some(Names::One(name)) => vec![name],
            Some(Names::Several(names)) => names,
            None => Vec::new(),
        };
        let ids = names.iter().map(|name| {
            let entry = find(library, name).map_err(place)?;
            Ok(entry.skill.id.clone())
        });
        let task = Labeled {
            instruction: line.instruction,
            right: ids.collect::<Result<_>>()?,
        };
        if labeled.insert(TaskId::new(&line.id), task).is_some() {
            return Err(place(Error::invalid(CALIBRATE, "another task has this id")));
        }
    }
    Ok(labeled)
}

/// The kept attempts of the library at which a skill helped: it was judged helpful, or the agent followed it and succeeded.
fn of_library(library: &SkillLibrary) -> BTreeMap<TaskId, Labeled> {
    let mut labeled: BTreeMap<TaskId, Labeled> = BTreeMap::new();
    for trace in library.traces().filter(|trace| trace.is_success()) {
        let attempt = &trace.trajectory.attempt;
        let helped = |id: &SkillId| {
            let judged = library
                .get(id)
                .into_iter()
                .flat_map(|entry| &entry.life.judged);
            let mut judged = judged.map(|one| &one.attribution);
            judged.any(|one| one.attempt == *attempt && one.judgement == Judgement::Helpful)
        };
        let exposures = trace.trajectory.exposures.iter();
        let right = exposures
            .filter(|seen| seen.used.is_followed() || helped(&seen.skill.id))
            .map(|seen| seen.skill.id.clone())
            .filter(|id| library.get(id).is_some());
        let right: Vec<SkillId> = right.collect();
        if !right.is_empty() {
            let task = labeled.entry(trace.task.id.clone()).or_default();
            task.instruction.clone_from(&trace.task.instruction);
            task.right.extend(right);
        }
    }
    labeled
}

/// The kept attempts of a library in which nobody judged any skill: of each task, the skills that were written from it count as its own.
fn kept(library: &SkillLibrary) -> BTreeMap<TaskId, Labeled> {
    let tasks = library.traces().map(|trace| {
        let task = &trace.task;
        let own = library.entries().filter(|entry| {
            let mut versions = entry.versions();
            versions.any(|version| version.provenance.tasks.contains(&task.id))
        });
        let labeled = Labeled {
            instruction: task.instruction.clone(),
            right: own.map(|entry| entry.skill.id.clone()).collect(),
        };
        (task.id.clone(), labeled)
    });
    tasks.collect()
}

/// Tasks of many kinds, which are none of the library's.
fn shipped() -> BTreeMap<TaskId, Labeled> {
    let tasks = (1..).zip(null_tasks()).map(|(number, task)| {
        let labeled = Labeled {
            instruction: task.to_owned(),
            right: BTreeSet::new(),
        };
        (TaskId::new(format!("shipped-{number:02}")), labeled)
    });
    tasks.collect()
}

fn as_text(fitted: &GateCalibration, has_labels: bool, file: Option<&Path>) -> String {
    let share = |share: Share| match share.of {
        0 => "not known".to_owned(),
        _ => format!(
            "{:.1}% ({:.1} to {:.1})",
            100.0 * share.value(),
            100.0 * share.low,
            100.0 * share.high
        ),
    };
    let row = |name: &str, rates: &GateRates| {
        vec![
            name.to_owned(),
            match has_labels {
                true => rates.right_injected.of,
                false => rates.wrong_injected.of,
            }
            .to_string(),
            share(rates.right_injected),
            share(rates.wrong_injected),
        ]
    };
    let rows = match has_labels {
        true => [
            row("fitted on", &fitted.fitted),
            row("held out", &fitted.held_out),
        ],
        false => [
            row("all", &fitted.fitted),
            row("each by the others", &fitted.held_out),
        ],
    };
    let of = &fitted.fitted_for;
    let kept = match file {
        Some(file) => format!(
            "Written to {}: name it as `calibration` in [model] of a run's file.\n",
            file.display()
        ),
        None => "Not written: --out FILE keeps it for runs.\n".to_owned(),
    };
    let how = match has_labels {
        true => "Wrong: a skill is injected although the right ones were taken away.",
        false => {
            "No task names a right skill, so the threshold is what a wrong skill rarely exceeds. Wrong: a skill is injected that was not written from \
             the task."
        }
    };
    format!(
        "{}threshold {:.3} nats of {}, model {}\nBehind a share: its interval of 95%. {how}\n{kept}",
        table(
            &["TASKS OF", "TASKS", "RIGHT INJECTED", "WRONG INJECTED"],
            &rows
        ),
        fitted.threshold,
        of.score.name(),
        of.model,
    )
}
