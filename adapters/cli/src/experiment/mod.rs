//! `journeyman experiment`: compares recipes, ablations and sweeps over seeds, in a user's own world, with a local model.
//! `docs/reference/experiment-file.md` describes the file, `docs/how-to/experiments.md` the report.

mod arm;
mod counts;
mod form;
mod former_world;
mod machine;
mod models;
mod own_world;
mod plan;
mod start;
mod world;

#[cfg(test)]
mod tests;

use std::{env, path::PathBuf};

use journeyman::{Error, ErrorKind, Result};
use journeyman_experiment::{CellId, Event, Experiment, Options, Outcome, Report, Stale};
use serde_json::json;

use self::{form::EXPERIMENT, machine::Machine, models::chat_model, plan::PlanFile};
use crate::{
    arguments,
    files::digest,
    output::{Answer, Exit, error_json, table, warn},
    progress::Progress,
};

/// Blocks, on a thread without an executor: cells and worlds have executors of their own.
pub(crate) fn experiment(command: &arguments::Experiment) -> Result<Answer> {
    let file = PlanFile::read(&command.file, command.report)?;
    if command.approve_tools {
        return file.settings.world.approve();
    }
    let mut plan = file.plan;
    for (arm, start) in plan.arms.iter_mut().zip(&file.starts) {
        arm.start = start::skills(start).map_err(|error| error.with("arm", &arm.name))?;
    }
    let folder = command.out.clone();
    let folder = folder.unwrap_or_else(|| PathBuf::from("out").join(&plan.name));
    let progress = Progress::of("reading the models");
    let model = chat_model(&file.model)?;
    plan.conditions.model = model.model.to_string();
    plan.conditions.model_digest = model.sha256;
    for (arm, models) in plan.arms.iter_mut().zip(&file.models) {
        for one in models {
            one.tell(&plan.conditions.model, arm)
                .map_err(|error| error.with("arm", &arm.name))?;
        }
    }
    let names = plan.arms.iter().map(|arm| arm.name.clone());
    let host = Machine {
        model: file.model,
        models: names.zip(file.models).collect(),
        jobs: command.jobs,
        settings: file.settings,
        backends: file.backends,
    };
    let experiment = Experiment::open(plan, host, &folder, own_digest()?)?;
    let mut options = Options::default();
    options.report_only = command.report;
    options.any_build = command.any_build;
    progress.step("loading the models");
    let outcome = experiment.perform(&options, &mut |event| {
        say(&event, command.report, &progress);
    })?;
    drop(progress);
    Ok(answer(&experiment, &outcome))
}

/// Prints an event on standard error.
fn say(event: &Event<'_>, report_only: bool, progress: &Progress) {
    match event {
        Event::Stale { arm, seed, reason } => {
            let why = match reason {
                Stale::Version => "its file is of another version",
                Stale::Damaged => "its file is damaged",
                Stale::Configuration => "it was configured in another way",
                Stale::Build => "another build of the command made it",
                _ => "its file is of no use",
            };
            let what = match report_only {
                true => "it is missing",
                false => "it is run again",
            };
            progress.note(&format!("{arm}, seed {seed}: {why}, so {what}"));
        }
        Event::Began { cells, at_once } => {
            progress.note(&format!("{cells} cells to run, {at_once} at once"));
            progress.step(&format!("running the cells, 0 of {cells} done"));
        }
        Event::Finished {
            arm,
            seed,
            seconds,
            ended,
            cells,
        } => {
            progress.note(&format!(
                "{arm}, seed {seed}: done in {seconds:.0} s ({ended} of {cells})"
            ));
            progress.step(&format!("running the cells, {ended} of {cells} done"));
        }
        Event::Failed(error) => warn(error),
        _ => {}
    }
}

fn answer(experiment: &Experiment<Machine>, outcome: &Outcome<'_>) -> Answer {
    let report = outcome.report();
    let report_path = experiment.report_path().display().to_string();
    let missing = outcome.results.missing();
    let name = |cell: &CellId| {
        let arm = experiment.plan().arms.get(cell.arm);
        json!({"arm": arm.map(|arm| &arm.name), "seed": cell.seed})
    };
    let failed = outcome.failed.iter();
    let (kept, run) = (outcome.kept, outcome.results.count() - outcome.kept);
    let mut json = report.json();
    json["cells"] = json!({
        "kept": kept,
        "run": run,
        "missing": missing.iter().map(name).collect::<Vec<_>>(),
        "failed": failed.map(|failed| error_json(&failed.error)).collect::<Vec<_>>(),
    });
    json["report"] = report_path.as_str().into();
    json["figures"] = experiment.figures_path().display().to_string().into();
    let mut text = differences(&report);
    text.push_str(&format!(
        "{run} cells run, {kept} kept, {} missing\nreport: {report_path}\n",
        missing.len(),
    ));
    let exit = match outcome.failed.is_empty() {
        true => Exit::Done,
        false => Exit::Refused,
    };
    Answer { json, text, exit }
}

/// The differences from the baseline and the missing cells, for a terminal.
fn differences(report: &Report<'_>) -> String {
    let differences = report.differences();
    let mut text = format!("{}\n", differences.title);
    text.push_str(&table(&differences.head, &differences.rows));
    for cell in report.missing() {
        text.push_str(&format!("missing: {cell}\n"));
    }
    text
}

/// The SHA-256 of this program's file, which identifies its code.
fn own_digest() -> Result<String> {
    env::current_exe().and_then(|path| digest(&path)).map_err(|source| {
        let message = "the command's own program cannot be read, and its digest identifies the code of stored results";
        Error::new(ErrorKind::Unavailable, EXPERIMENT, message)
            .hint("see that the program's file is there and may be read")
            .source_from(source)
    })
}
