//! The Berkeley Function Calling Leaderboard's turns as tasks, and its services as skills.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use journeyman::{
    Seed,
    domain::{Skill, SkillName},
    library::format::SkillMd,
};
use serde::Deserialize;

use super::data::{Set, Task};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The file of tasks by which the data is known.
pub(super) const TASKS: &str = "multi_turn_base.even.jsonl";
const ANSWERS: &str = "multi_turn_base.even.answers.jsonl";
/// Turns of each service, at most.
const TURNS: usize = 12;

#[derive(Deserialize)]
struct Tool {
    name: String,
    description: String,
}

#[derive(Deserialize)]
struct Dialogue {
    id: String,
    question: Vec<Vec<Said>>,
}

#[derive(Deserialize)]
struct Said {
    content: String,
}

#[derive(Deserialize)]
struct Answers {
    id: String,
    ground_truth: Vec<Vec<String>>,
}

fn lines<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Vec<T>, Failure> {
    let text = fs::read_to_string(path)?;
    Ok(text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?)
}

/// A skill that says what a service is for, and what its tools do.
fn skill(name: &str, tools: &[Tool]) -> Result<Skill, Failure> {
    const TOOL: &str = " Tool description: ";
    let split = |tool: &Tool| {
        let (service, tool) = tool.description.split_once(TOOL).unwrap_or_default();
        (service.to_owned(), tool.to_owned())
    };
    let service = tools.first().map(split).unwrap_or_default().0;
    let said = tools
        .iter()
        .map(|tool| format!("- `{}`: {}\n", tool.name, split(tool).1));
    let text = format!(
        "---\nname: {name}\ndescription: {}\n---\n\n{}",
        serde_json::to_string(&service)?,
        said.collect::<String>()
    );
    let mut skill = SkillMd::read(&text, Some(name))?.0.skill()?;
    (skill.id, skill.name) = (name.into(), SkillName::new(name)?);
    Ok(skill)
}

/// The turns whose calls all belong to one service, drawn by a fixed seed.
pub(super) fn read(folder: &Path) -> Result<Set, Failure> {
    let (mut skills, mut services) = (Vec::new(), BTreeMap::new());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = name.replace('_', "-");
        let tools: Vec<Tool> = lines(&path)?;
        services.extend(tools.iter().map(|tool| (tool.name.clone(), name.clone())));
        skills.push(skill(&name, &tools)?);
    }
    skills.sort_by(|one: &Skill, other: &Skill| one.id.cmp(&other.id));
    let answers: Vec<Answers> = lines(&folder.join(ANSWERS))?;
    let answers: BTreeMap<String, Vec<Vec<String>>> = answers
        .into_iter()
        .map(|one| (one.id, one.ground_truth))
        .collect();
    let mut turns = Vec::new();
    for dialogue in lines::<Dialogue>(&folder.join(TASKS))? {
        let calls = answers.get(&dialogue.id).cloned().unwrap_or_default();
        for (number, (said, calls)) in (0..).zip(dialogue.question.iter().zip(calls)) {
            let named = |call: &String| services.get(call.split('(').next().unwrap_or_default());
            let of: BTreeSet<&String> = calls.iter().filter_map(named).collect();
            let of = Vec::from_iter(of);
            let (Some(said), [service]) = (said.first(), of.as_slice()) else {
                continue;
            };
            let place = Seed(1).derive(&dialogue.id, number).0;
            turns.push((
                place,
                Task::new(
                    format!("{}-{number}", dialogue.id),
                    said.content.clone(),
                    service,
                ),
            ));
        }
    }
    turns.sort_by_key(|(place, _)| *place);
    let (mut counts, mut tasks) = (BTreeMap::<String, usize>::new(), Vec::new());
    for (_, task) in turns {
        let count = counts.entry(task.category.clone()).or_default();
        *count += 1;
        if *count <= TURNS {
            tasks.push(task);
        }
    }
    Ok(Set { tasks, skills })
}
