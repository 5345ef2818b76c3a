//! `skill log`: the history of a library.

use std::path::Path;

use journeyman::{
    Result, SkillId,
    domain::{Committed, LibraryChange, SkillName, Tier},
    library::{Applied, SkillLibrary},
};
use serde_json::{Value, json};

use crate::{
    library::{find, read},
    outcome::move_json,
    output::{Answer, cell, first_lines, word},
    time::written,
};

pub(crate) async fn log(root: &Path, name: Option<&str>, limit: Option<usize>) -> Result<Answer> {
    let opened = read(root).await?;
    let wanted = name.map(|name| wanted(&opened.library, name)).transpose()?;
    let mut library = SkillLibrary::new();
    let mut commits = Vec::new();
    for committed in opened.store.load().await?.committed {
        let applied = library.apply(&committed)?;
        if wanted
            .as_ref()
            .is_none_or(|id| touched(&committed, &applied, id))
        {
            commits.push((committed, applied));
        }
    }
    commits.reverse();
    commits.truncate(limit.unwrap_or(usize::MAX));
    let mut text = match (commits.is_empty(), &wanted) {
        (true, None) => "no commits: nothing has changed this library yet\n".to_owned(),
        (true, Some(_)) => "no commits about this skill\n".to_owned(),
        _ => String::new(),
    };
    for (committed, applied) in &commits {
        text.push_str(&commit_text(committed, applied, &library, wanted.as_ref()));
    }
    let json: Vec<Value> = commits
        .iter()
        .map(|(committed, applied)| commit_json(committed, applied))
        .collect();
    Ok(Answer {
        json: json!({ "commits": json }),
        text,
        ..Answer::default()
    })
}

/// The id of the skill with this name or id, deleted or not.
fn wanted(library: &SkillLibrary, name: &str) -> Result<SkillId> {
    let id = SkillId::new(name);
    if library.deleted().any(|entry| entry.skill.id == id) {
        return Ok(id);
    }
    find(library, name).map(|entry| entry.skill.id.clone())
}

fn touched(committed: &Committed, applied: &Applied, id: &SkillId) -> bool {
    applied.moves.iter().any(|moved| moved.skill.id == *id)
        || committed
            .changes
            .iter()
            .any(|change| of(change).as_ref() == Some(id))
}

/// The skill that a change is about, where it is about one.
fn of(change: &LibraryChange) -> Option<SkillId> {
    match change {
        LibraryChange::Credit { skill, .. }
        | LibraryChange::Expose { skill, .. }
        | LibraryChange::Test { skill, .. } => Some(skill.id.clone()),
        LibraryChange::Attribute(attribution) => Some(attribution.skill.id.clone()),
        LibraryChange::PatchBundle { skill, .. }
        | LibraryChange::RollBack { skill, .. }
        | LibraryChange::Restore { skill, .. }
        | LibraryChange::Place { skill, .. }
        | LibraryChange::SetState { skill, .. } => Some(skill.clone()),
        other => other.skill().map(|skill| skill.id.clone()),
    }
}

/// A change's name in JSON.
fn kind(change: &LibraryChange) -> String {
    match serde_json::to_value(change) {
        Ok(Value::Object(fields)) => fields.keys().next().cloned().unwrap_or_default(),
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

fn commit_json(committed: &Committed, applied: &Applied) -> Value {
    let changes = committed.changes.iter().map(|change| {
        let (state, reward) = match change {
            LibraryChange::SetState { state, .. } => (Some(state), None),
            LibraryChange::Credit { reward, .. } => (None, Some(reward)),
            _ => (None, None),
        };
        json!({
            "change": kind(change),
            "skill": of(change),
            "name": change.skill().map(|skill| &skill.name),
            "version": change.skill().map(|skill| skill.version),
            "state": state,
            "reward": reward,
        })
    });
    json!({
        "revision": committed.revision,
        "key": committed.key,
        "run": committed.cause.run,
        "task": committed.cause.task,
        "at": committed.cause.at.map(written),
        "reason": committed.cause.reason,
        "changes": changes.collect::<Vec<_>>(),
        "moves": applied.moves.iter().map(move_json).collect::<Vec<_>>(),
        "passed_over": applied.passed_over,
    })
}

/// A commit as text, or the part of it about one skill. Skills that still exist have their current names.
fn commit_text(
    committed: &Committed,
    applied: &Applied,
    library: &SkillLibrary,
    wanted: Option<&SkillId>,
) -> String {
    let mut text = format!(
        "revision {}  {}",
        committed.revision,
        cell(&committed.cause.reason)
    );
    if let Some(at) = committed.cause.at {
        text.push_str(&format!("  at {}", written(at)));
    }
    if let Some(run) = &committed.cause.run {
        text.push_str(&format!("  run {}", cell(run.as_str())));
    }
    if let Some(task) = &committed.cause.task {
        text.push_str(&format!("  task {}", cell(task.as_str())));
    }
    text.push('\n');
    let name = |id: &SkillId| {
        let now = library.get(id).map(|entry| &entry.skill.name);
        now.map_or_else(|| cell(id.as_str()), SkillName::to_string)
    };
    let is_wanted = |id: &SkillId| wanted.is_none_or(|wanted| wanted == id);
    let mut lines = Vec::new();
    for change in &committed.changes {
        if of(change).as_ref().is_none_or(is_wanted) {
            let line = change_text(change, name);
            lines.extend(line.map(|line| format!("  {line}\n")));
        }
    }
    for moved in applied
        .moves
        .iter()
        .filter(|moved| is_wanted(&moved.skill.id))
    {
        let what = word(&moved.operation).replace('_', " ");
        let (name, version) = (&moved.name, moved.skill.version);
        lines.push(format!("  {name} {version}: {what}\n"));
    }
    for passed in applied.passed_over.iter().filter(|_| wanted.is_none()) {
        let number = passed.change + 1;
        lines.push(format!(
            "  change {number} had no effect: {}\n",
            passed.reason
        ));
    }
    text.push_str(&first_lines(&lines));
    text
}

/// A change as text; none where the moves show it.
fn change_text(change: &LibraryChange, name: impl Fn(&SkillId) -> String) -> Option<String> {
    match change {
        LibraryChange::Configure(policy) => Some(format!(
            "at most {} skills in the cache and {} in the reservoir",
            policy.cache, policy.reservoir
        )),
        LibraryChange::Credit { skill, reward, .. } => {
            let (name, version) = (name(&skill.id), skill.version);
            Some(format!("{name} {version}: credited {reward:.2}"))
        }
        LibraryChange::SetState {
            skill,
            state,
            reason,
        } => Some(format!(
            "{}: {} ({})",
            name(skill),
            word(state),
            cell(reason)
        )),
        LibraryChange::RollBack { skill, to, reason } => Some(format!(
            "{}: back to version {to} ({})",
            name(skill),
            cell(reason)
        )),
        LibraryChange::RetireRun { run, reason } => {
            let run = cell(run.as_str());
            Some(format!("run {run} retired ({})", cell(reason)))
        }
        LibraryChange::Attribute(attribution) => {
            let skill = &attribution.skill;
            let (name, version) = (name(&skill.id), skill.version);
            let (judgement, reason) = (word(&attribution.judgement), cell(&attribution.reason));
            Some(format!("{name} {version}: {judgement} ({reason})"))
        }
        LibraryChange::PatchBundle { skill, cases, .. } => {
            Some(format!("{}: {} cases to pass", name(skill), cases.len()))
        }
        LibraryChange::Test { skill, outcomes } => {
            let passed = outcomes.iter().filter(|case| case.has_passed()).count();
            let (name, of) = (name(&skill.id), outcomes.len());
            Some(format!(
                "{name} {}: passed {passed} of {of} cases",
                skill.version
            ))
        }
        LibraryChange::SetRules { role, rules } => {
            let rules: Vec<String> = rules
                .iter()
                .map(|rule| cell(rule.as_str()).to_string())
                .collect();
            Some(format!("{role} follows the rules: {}", rules.join("; ")))
        }
        LibraryChange::Place { skill, tier, .. } => {
            let tier: &Tier = tier;
            Some(format!("{}: to the {}", name(skill), word(tier)))
        }
        _ => None,
    }
}
