//! The tasks that a threshold is fitted by, with the skills that are right for them, where somebody knows.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use journeyman::{
    Error, Result, SkillId, TaskId, domain::Judgement, library::SkillLibrary,
    stations::select::null_tasks,
};
use serde::Deserialize;

use crate::{files::unreadable, library::find};

/// The operation that errors name.
pub(super) const CALIBRATE: &str = "calibrate";

/// Fewer tasks of the library give no threshold, with labels or without.
const FEWEST: usize = 8;

/// A task, and the skills that are right for it.
#[derive(Debug, Default)]
pub(super) struct Labeled {
    pub(super) instruction: String,
    pub(super) right: BTreeSet<SkillId>,
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

/// The tasks of a calibration.
pub(super) struct Labels {
    pub(super) tasks: BTreeMap<TaskId, Labeled>,
    /// Whether tasks name skills that are right for them.
    pub(super) are_given: bool,
    /// Whether the tasks came with the command.
    pub(super) are_shipped: bool,
}

impl Labels {
    /// The tasks of a file; else those of a library's kept attempts, or tasks of many kinds where there are too few.
    pub(super) fn read(library: &SkillLibrary, file: Option<&Path>) -> Result<Self> {
        let of = |tasks, are_given| Self {
            tasks,
            are_given,
            are_shipped: false,
        };
        let count = |tasks: &BTreeMap<TaskId, Labeled>| {
            tasks.values().filter(|task| !task.right.is_empty()).count()
        };
        if let Some(file) = file {
            let tasks = of_file(library, file)?;
            let are_given = count(&tasks) > 0;
            return Ok(of(tasks, are_given));
        }
        let helped = of_library(library);
        if count(&helped) >= FEWEST {
            return Ok(of(helped, true));
        }
        let kept = kept(library);
        Ok(match kept.len() < FEWEST {
            true => Self {
                are_shipped: true,
                ..of(shipped(), false)
            },
            false => of(kept, false),
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
            return Err(place(Error::invalid(CALIBRATE, "another task has this id"))
                .hint("give each line an id of its own"));
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
