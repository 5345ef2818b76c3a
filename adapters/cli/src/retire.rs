//! `skill retire`: taking back what runs did.

use std::path::Path;

use journeyman::{
    Result, RunId, TaskId,
    library::{FoundRun, RunFilter},
    run::Retirement,
};
use serde_json::{Value, json};

use crate::{
    arguments::Retire,
    library::{find, open},
    outcome::make,
    output::{Answer, first_rows},
    time::{timestamp, written},
};

pub(crate) async fn retire(root: &Path, which: &Retire) -> Result<Answer> {
    let opened = open(root, false).await?;
    let skill = which
        .skill
        .as_deref()
        .map(|name| find(&opened.library, name));
    let skill = skill.transpose()?.map(|entry| entry.skill.id.clone());
    let mut filter = RunFilter::default();
    filter.run = which.run.as_deref().map(RunId::from);
    filter.session = which.session.clone();
    filter.task = which.task.as_deref().map(TaskId::from);
    filter.skill = skill;
    filter.since = which.since.map(timestamp);
    let planned = Retirement::plan(&opened.store, &filter, &which.reason).await?;
    let runs = planned.runs;
    let changes = Retirement::changes_of(&runs, &which.reason);
    let outcome = make(&opened, changes, &which.reason, !which.yes).await?;
    let rows: Vec<_> = runs.iter().map(row).collect();
    let shown = first_rows(&["RUN", "COMMITS", "CREDITS", "FROM", "TO"], &rows);
    let mut json = outcome.json();
    json["runs"] = runs.iter().map(run_json).collect();
    let more = match which.yes {
        true => "",
        false => "the same command with --yes undoes these runs\n",
    };
    Ok(Answer {
        json,
        text: format!("{shown}\n{}{more}", outcome.text()),
        ..Answer::default()
    })
}

fn row(found: &FoundRun) -> Vec<String> {
    let (from, to) = found.times.unzip();
    vec![
        found.run.to_string(),
        found.commits.to_string(),
        found.credits.to_string(),
        from.map(written).unwrap_or_default(),
        to.map(written).unwrap_or_default(),
    ]
}

fn run_json(found: &FoundRun) -> Value {
    let (from, to) = found.times.unzip();
    json!({
        "run": found.run,
        "commits": found.commits,
        "credits": found.credits,
        "from": from.map(written),
        "to": to.map(written),
    })
}
