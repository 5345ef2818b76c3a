//! `skill retire`: taking back what runs did.

use std::path::Path;

use journeyman::{
    Error, ErrorKind, Result, RunId, TaskId,
    contract::SkillStore,
    domain::Committed,
    library::{FoundRun, RunFilter},
    run::Retirement,
};
use serde_json::{Value, json};

use crate::{
    arguments::Retire,
    library::{find, open},
    outcome::make,
    output::{Answer, first_lines, table},
    time::{timestamp, written},
};

pub(crate) async fn retire(root: &Path, which: &Retire) -> Result<Answer> {
    let opened = open(root, false).await?;
    let skill = which
        .skill
        .as_deref()
        .map(|name| find(&opened.library, name));
    let skill = skill.transpose()?.map(|entry| entry.skill.id.clone());
    let filter = RunFilter {
        run: which.run.as_deref().map(RunId::from),
        session: which.session.clone(),
        task: which.task.as_deref().map(TaskId::from),
        skill,
        since: which.since.map(timestamp),
    };
    let committed = opened.store.load().await?.committed;
    let runs = filter.runs(&committed);
    if runs.is_empty() {
        return Err(nothing_found(which, &committed));
    }
    let changes = Retirement::changes_of(&runs, &which.reason);
    let outcome = make(&opened, changes, &which.reason, !which.yes).await?;
    let rows: Vec<_> = runs.iter().map(row).collect();
    let shown = table(&["RUN", "COMMITS", "FROM", "TO"], &rows);
    let lines: Vec<String> = shown.lines().map(|line| format!("{line}\n")).collect();
    let mut json = outcome.json();
    json["runs"] = runs.iter().map(run_json).collect();
    let more = match which.yes {
        true => "",
        false => "--yes undoes these runs\n",
    };
    Ok(Answer {
        json,
        text: format!("{}\n{}{more}", first_lines(&lines), outcome.text()),
        ..Answer::default()
    })
}

/// Why there is nothing to undo.
fn nothing_found(which: &Retire, committed: &[Committed]) -> Error {
    let learned = |one: &&Committed| one.cause.run.is_some();
    let undated = committed.iter().filter(learned);
    let undated = undated.filter(|one| one.cause.at.is_none()).count();
    let error = Error::new(
        ErrorKind::NotFound,
        "retire",
        "no run that is not undone yet has made such a commit",
    )
    .hint("`journeyman skill log` shows the runs that made commits, with their tasks and times");
    match which.since {
        Some(_) if undated > 0 => error.with("commits_without_a_time", undated),
        _ => error,
    }
}

fn row(found: &FoundRun) -> Vec<String> {
    let (from, to) = found.times.unzip();
    vec![
        found.run.to_string(),
        found.commits.to_string(),
        from.map(written).unwrap_or_default(),
        to.map(written).unwrap_or_default(),
    ]
}

fn run_json(found: &FoundRun) -> Value {
    let (from, to) = found.times.unzip();
    json!({
        "run": found.run,
        "commits": found.commits,
        "from": from.map(written),
        "to": to.map(written),
    })
}
