//! Experiments: recipes, ablations and sweeps over seeds, measured in toolworld and compared. `docs/command-line.md`
//! tells the file and the report.

mod arm;
mod cell;
mod changes;
mod chart;
mod form;
mod measure;
mod panels;
mod parts;
mod plan;
mod report;
mod result;
mod start;
mod stats;
mod store;
mod summary;
mod tables;
mod work;

#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    env,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result, domain::Skill};
use journeyman_llama_cpp::ModelInfo;
use serde_json::json;
use sha2::{Digest, Sha256};

use self::{
    arm::Start,
    cell::Cell,
    plan::{Plan, slug},
    report::Report,
    store::{CellStore, Found, Saved},
    summary::Results,
};
use crate::{
    arguments::Experiment,
    files::replace,
    output::{Answer, Exit, error_json, tell, warn},
};

pub(crate) const EXPERIMENT: &str = "experiment";

/// What is measured, with what was computed on the way.
struct Trial {
    plan: Plan,
    model: ModelInfo,
    /// What the arms' libraries start with.
    starts: BTreeMap<Start, Vec<Skill>>,
    /// The SHA-256 of this program.
    build: String,
    store: CellStore,
}

pub(crate) fn experiment(command: &Experiment) -> Result<Answer> {
    let plan = Plan::read(&command.file)?;
    let mut starts = BTreeMap::new();
    for arm in &plan.arms {
        let of = |error: Error| error.with("arm", &arm.name);
        starts.insert(arm.start.clone(), start::skills(&arm.start).map_err(of)?);
    }
    let folder = command.out.clone();
    let folder = folder.unwrap_or_else(|| PathBuf::from("out").join(&plan.name));
    let trial = Trial {
        model: ModelInfo::read(&plan.model)?,
        starts,
        build: own_digest()?,
        store: CellStore::open(&folder)?,
        plan,
    };
    trial.perform(command)
}

/// A place among the arms, and a seed.
type Place = (usize, u64);

impl Trial {
    fn perform(&self, command: &Experiment) -> Result<Answer> {
        let plan = &self.plan;
        let mut results = Results::new(plan);
        let mut missing: Vec<(Place, Cell<'_>)> = Vec::new();
        let build = (!command.any_build).then_some(self.build.as_str());
        for seed in &plan.seeds {
            for (at, arm) in plan.arms.iter().enumerate() {
                let start = self.starts.get(&arm.start).map_or(&[][..], Vec::as_slice);
                let cell = Cell::new(plan, arm, &self.model.sha256, start, *seed);
                let (key, _) = cell.form()?;
                match self.store.find(&slug(&arm.name), *seed, &key, build)? {
                    Found::Done(saved) => results.add(at, *saved),
                    Found::Nothing => missing.push(((at, *seed), cell)),
                    Found::Stale(why) => {
                        let what = match command.report {
                            true => "it is missing",
                            false => "it is run again",
                        };
                        tell(&format!("{}, seed {seed}: {why}, so {what}", arm.name));
                        missing.push(((at, *seed), cell));
                    }
                }
            }
        }
        let kept = results.count();
        let mut failed: Vec<(Place, Error)> = Vec::new();
        if !command.report && !missing.is_empty() {
            self.run(command, &missing, &mut results, &mut failed)?;
        }
        self.answer(&results, &failed, kept)
    }

    fn run<'a>(
        &'a self,
        command: &Experiment,
        missing: &[(Place, Cell<'a>)],
        results: &mut Results<'a>,
        failed: &mut Vec<(Place, Error)>,
    ) -> Result<()> {
        let jobs = work::jobs(command.jobs, self.plan.threads, missing.len());
        let engines = work::engines(&self.plan, jobs)?;
        let (total, jobs) = (missing.len(), engines.len());
        tell(&format!("{total} cells to run, {jobs} at once"));
        let cells: Vec<Cell<'_>> = missing.iter().map(|(_, cell)| cell.clone()).collect();
        let mut ended = 0;
        work::run(&cells, engines, |(at, result, seconds)| {
            let Some(((arm, seed), cell)) = missing.get(at) else {
                return Ok(());
            };
            ended += 1;
            let name = &self.plan.arms.get(*arm).map_or("", |arm| arm.name.as_str());
            match result {
                Ok(result) => {
                    let (key, form) = cell.form()?;
                    let saved =
                        Saved::new((name, *seed), (key, &form), &self.build, seconds, result);
                    self.store.keep(&slug(name), &saved)?;
                    results.add(*arm, saved);
                    // So that one who looks meanwhile, or kills the run, has what is there.
                    self.write(&Report::new(results, self.model.model.as_str(), failed))?;
                    tell(&format!(
                        "{name}, seed {seed}: done in {seconds:.0} s ({ended} of {total})"
                    ));
                }
                Err(error) => {
                    let error = error.with("arm", name).with("seed", seed);
                    warn(&error);
                    failed.push(((*arm, *seed), error));
                }
            }
            Ok(())
        })
    }

    fn write(&self, report: &Report<'_>) -> Result<()> {
        let svg = self.store.path("report.svg");
        replace(EXPERIMENT, &svg, report.svg().as_bytes())?;
        let markdown = self.store.path("report.md");
        replace(EXPERIMENT, &markdown, report.markdown().as_bytes())
    }

    fn answer(
        &self,
        results: &Results<'_>,
        failed: &[(Place, Error)],
        kept: usize,
    ) -> Result<Answer> {
        let report = Report::new(results, self.model.model.as_str(), failed);
        self.write(&report)?;
        let path = |name: &str| self.store.path(name).display().to_string();
        let missing = results.missing();
        let name = |(at, seed): &Place| {
            let arm = self.plan.arms.get(*at);
            json!({"arm": arm.map(|arm| &arm.name), "seed": seed})
        };
        let mut json = report.json();
        json["cells"] = json!({
            "kept": kept,
            "run": results.count() - kept,
            "missing": missing.iter().map(name).collect::<Vec<_>>(),
            "failed": failed.iter().map(|(_, error)| error_json(error)).collect::<Vec<_>>(),
        });
        json["report"] = path("report.md").into();
        json["figures"] = path("report.svg").into();
        let mut text = report.text();
        text.push_str(&format!(
            "{} cells run, {kept} kept, {} missing\nreport: {}\n",
            results.count() - kept,
            missing.len(),
            path("report.md")
        ));
        let exit = match failed.is_empty() {
            true => Exit::Done,
            false => Exit::Refused,
        };
        Ok(Answer { json, text, exit })
    }
}

/// The SHA-256 of this program: other code may measure something else.
fn own_digest() -> Result<String> {
    let read = |path: &Path| {
        let mut digest = Sha256::new();
        io::copy(&mut File::open(path)?, &mut digest)?;
        Ok(digest.finalize())
    };
    let digest = env::current_exe().and_then(|path| read(&path)).map_err(|source| {
        let message = "the command's own program cannot be read, by which results of other code are told apart";
        Error::new(ErrorKind::Unavailable, EXPERIMENT, message)
            .hint("see that the program's file is there and may be read")
            .source_from(source)
    })?;
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}
