//! Tasks and skills that others wrote.

use std::{collections::BTreeSet, fs, path::Path};

use journeyman::{
    Seed,
    domain::{Skill, SkillName, sha256_hex},
    library::format::SkillMd,
};
use serde::Deserialize;

use super::bfcl;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A task, with the skills that are right for it.
#[derive(Debug, Deserialize)]
pub(super) struct Task {
    pub(super) id: String,
    pub(super) instruction: String,
    pub(super) category: String,
    /// The names of the right skills.
    skill: Vec<String>,
}

impl Task {
    /// A task of this category, for which the skill of the same name is right.
    pub(super) fn new(id: String, instruction: String, category: &str) -> Self {
        Self {
            id,
            instruction,
            category: category.to_owned(),
            skill: vec![category.to_owned()],
        }
    }
}

/// What a folder holds: `tasks.jsonl`, and `skills/NAME/SKILL.md`.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) tasks: Vec<Task>,
    pub(super) skills: Vec<Skill>,
}

impl Set {
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        if folder.join(bfcl::TASKS).exists() {
            return bfcl::read(folder);
        }
        let lines = fs::read_to_string(folder.join("tasks.jsonl"))?;
        let tasks: Result<Vec<Task>, _> = lines.lines().map(serde_json::from_str).collect();
        let mut skills = Vec::new();
        for entry in fs::read_dir(folder.join("skills"))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(path.join("SKILL.md"))?;
            let mut skill = SkillMd::read(&text, Some(&name))?.0.skill()?;
            (skill.id, skill.name) = ((&*name).into(), SkillName::new(&*name)?);
            skills.push(skill);
        }
        skills.sort_by(|one: &Skill, other: &Skill| one.id.cmp(&other.id));
        let tasks = tasks?;
        for task in &tasks {
            let is_there = |name: &&String| skills.iter().any(|one| one.name.as_str() == **name);
            if task.skill.is_empty() || !task.skill.iter().all(|name| is_there(&name)) {
                return Err(format!("{}: a right skill is not in the folder", task.id).into());
            }
        }
        Ok(Self { tasks, skills })
    }

    /// A digest of the skills.
    pub(super) fn digest(&self) -> String {
        let all: Vec<String> = self.skills.iter().map(|one| format!("{one:?}")).collect();
        sha256_hex(all.concat())
    }

    /// Whether a skill is right for a task, both by their place.
    pub(super) fn is_right(&self, task: usize, skill: usize) -> bool {
        let name = self.skills[skill].name.as_str();
        self.tasks[task].skill.iter().any(|right| right == name)
    }

    /// The tasks of one half of the categories, by which thresholds are set, and of the other, which is reported.
    pub(super) fn split(&self, seed: Seed) -> [Vec<usize>; 2] {
        let categories: BTreeSet<&str> = self.tasks.iter().map(|task| &*task.category).collect();
        let mut drawn: Vec<(u64, &str)> = (0..)
            .zip(categories)
            .map(|(number, category)| (seed.derive("category", number).0, category))
            .collect();
        drawn.sort_unstable();
        let tuned: BTreeSet<&str> = (drawn.iter().take(drawn.len() / 2))
            .map(|(_, category)| *category)
            .collect();
        let of = |tunes: bool| {
            let all = self.tasks.iter().enumerate();
            let half = all.filter(|(_, task)| tuned.contains(&*task.category) == tunes);
            half.map(|(at, _)| at).collect()
        };
        [of(true), of(false)]
    }
}
