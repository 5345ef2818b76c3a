//! An experiment in its folder: finds the stored cells, runs the missing ones and writes the report.

use std::path::{Path, PathBuf};

use journeyman::{Error, Result};

use crate::{
    cell::Cell,
    failure::Failure,
    fault::EXPERIMENT,
    files::replace,
    host::Host,
    plan::{CellId, Plan, slug},
    report::Report,
    store::{CellStore, Found, Saved, Stale},
    summary::Results,
    work,
};

/// A plan, its host, and the folder of its cells and report.
#[derive(Debug)]
pub struct Experiment<H> {
    plan: Plan,
    host: H,
    build: String,
    store: CellStore,
}

/// How an experiment is performed; by default, missing cells run and cells of other builds run again.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Run nothing, and report the stored cells.
    pub report_only: bool,
    /// Keep stored cells that another build of the program made.
    pub any_build: bool,
}

/// What happens while an experiment is performed.
#[non_exhaustive]
#[derive(Clone, Debug)]
pub enum Event<'a> {
    /// A stored cell is of no use; it runs again, unless nothing runs.
    Stale {
        /// The arm's name.
        arm: &'a str,
        /// The seed.
        seed: u64,
        /// The reason.
        reason: Stale,
    },
    /// Missing cells begin to run.
    Began {
        /// How many there are.
        cells: usize,
        /// How many run at once.
        at_once: usize,
    },
    /// A cell is finished and stored.
    Finished {
        /// The arm's name.
        arm: &'a str,
        /// The seed.
        seed: u64,
        /// How long it ran.
        seconds: f64,
        /// How many cells have ended so far, failed ones among them.
        ended: usize,
        /// How many cells run in all.
        cells: usize,
    },
    /// A cell failed.
    Failed(&'a Error),
}

/// The finished cells, and those that failed.
#[non_exhaustive]
#[derive(Debug)]
pub struct Outcome<'a> {
    /// The finished cells.
    pub results: Results<'a>,
    /// The cells that failed.
    pub failed: Vec<Failure>,
    /// How many of the finished cells were stored before.
    pub kept: usize,
}

impl Outcome<'_> {
    /// The report of the finished cells.
    #[must_use]
    pub fn report(&self) -> Report<'_> {
        Report::new(&self.results, &self.failed)
    }
}

impl<H: Host> Experiment<H> {
    /// Opens a folder for an experiment, and makes it where there is none. `build` identifies the program's code, such as
    /// by the SHA-256 of its file: stored cells of another build run again.
    ///
    /// # Errors
    /// - `Invalid` for a plan that [`Plan::validate`] refuses.
    /// - `Unavailable` where the folder cannot be written, or another run is at work in it.
    pub fn open(plan: Plan, host: H, folder: &Path, build: impl Into<String>) -> Result<Self> {
        plan.validate()?;
        let store = CellStore::open(folder)?;
        Ok(Self {
            plan,
            host,
            build: build.into(),
            store,
        })
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The report in Markdown.
    #[must_use]
    pub fn report_path(&self) -> PathBuf {
        self.store.path("report.md")
    }

    /// The report's figures.
    #[must_use]
    pub fn figures_path(&self) -> PathBuf {
        self.store.path("report.svg")
    }

    /// Runs the cells that are missing, stores each that finishes, and writes the report anew after each. A stopped run
    /// goes on with the cells that are missing. Blocks until all cells have ended.
    ///
    /// A cell that fails keeps no other from running; [`Outcome::failed`] names it.
    ///
    /// # Errors
    /// - `Unavailable` for a file of the folder that cannot be read or written.
    /// - What [`Host::engines`] gives; `Invalid` where it gives none.
    pub fn perform(
        &self,
        options: &Options,
        listener: &mut dyn FnMut(Event<'_>),
    ) -> Result<Outcome<'_>> {
        let mut outcome = Outcome {
            results: Results::new(&self.plan),
            failed: Vec::new(),
            kept: 0,
        };
        let missing = self.find(options, &mut outcome.results, listener)?;
        outcome.kept = outcome.results.count();
        if !options.report_only && !missing.is_empty() {
            self.run(&missing, &mut outcome, listener)?;
        }
        self.write(&outcome)?;
        Ok(outcome)
    }

    /// Adds the stored cells to the results, and gives the others.
    fn find(
        &self,
        options: &Options,
        results: &mut Results<'_>,
        listener: &mut dyn FnMut(Event<'_>),
    ) -> Result<Vec<CellId>> {
        let mut missing = Vec::new();
        let build = (!options.any_build).then_some(self.build.as_str());
        for &seed in &self.plan.seeds {
            for (at, arm) in self.plan.arms.iter().enumerate() {
                let (key, _) = Cell::new(&self.plan, &self.host, arm, seed).form()?;
                match self.store.find(&slug(&arm.name), seed, &key, build)? {
                    Found::Done(saved) => {
                        results.add(at, *saved);
                        continue;
                    }
                    Found::Nothing => {}
                    Found::Stale(reason) => listener(Event::Stale {
                        arm: &arm.name,
                        seed,
                        reason,
                    }),
                }
                missing.push(CellId { arm: at, seed });
            }
        }
        Ok(missing)
    }

    fn run(
        &self,
        missing: &[CellId],
        outcome: &mut Outcome<'_>,
        listener: &mut dyn FnMut(Event<'_>),
    ) -> Result<()> {
        let engines = self.host.engines(&self.plan, missing.len())?;
        if engines.is_empty() {
            let message = "the host gave no engine, so no cell can run";
            return Err(
                Error::invalid(EXPERIMENT, message).hint("give at least one in Host::engines")
            );
        }
        listener(Event::Began {
            cells: missing.len(),
            at_once: engines.len(),
        });
        let cells: Vec<(CellId, Cell<'_, H>)> = missing
            .iter()
            .filter_map(|id| {
                let arm = self.plan.arms.get(id.arm)?;
                Some((*id, Cell::new(&self.plan, &self.host, arm, id.seed)))
            })
            .collect();
        let runs: Vec<Cell<'_, H>> = cells.iter().map(|(_, cell)| *cell).collect();
        let mut ended = 0;
        work::run(&runs, engines, |(at, result, seconds)| {
            let Some((id, cell)) = cells.get(at) else {
                return Ok(());
            };
            ended += 1;
            let (name, seed) = (cell.arm().name.as_str(), id.seed);
            match result {
                Ok(result) => {
                    let (key, form) = cell.form()?;
                    let form = (key, form.as_str());
                    let saved = Saved::new((name, seed), form, &self.build, seconds, result);
                    self.store.keep(&slug(name), &saved)?;
                    outcome.results.add(id.arm, saved);
                    // A reader meanwhile, and a run that is killed, have a report of what is finished.
                    self.write(outcome)?;
                    listener(Event::Finished {
                        arm: name,
                        seed,
                        seconds,
                        ended,
                        cells: cells.len(),
                    });
                }
                Err(error) => {
                    let error = error.with("arm", name).with("seed", seed);
                    listener(Event::Failed(&error));
                    outcome.failed.push(Failure { cell: *id, error });
                }
            }
            Ok(())
        })
    }

    fn write(&self, outcome: &Outcome<'_>) -> Result<()> {
        let report = outcome.report();
        replace(&self.figures_path(), report.svg().as_bytes())?;
        replace(&self.report_path(), report.markdown().as_bytes())
    }
}
