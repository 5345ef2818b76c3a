//! F4 and F5: many processes at one library.

use std::{path::Path, time::Duration};

use journeyman::Seed;
use journeyman_disk::{DiskOptions, Durability};

use crate::{
    Size,
    check::{Found, Progress, compare, reopen},
    child::{Running, Task},
    folders,
    history::Writer,
    report::{Outcome, Report},
};

/// For all of them together; the machine may be slow.
const PATIENCE: Duration = Duration::from_secs(1800);

/// What a crowd came to.
struct Crowd {
    found: Found,
    errors: u64,
}

/// F4: 8 processes write side by side.
///
/// # Errors
/// When a process or folder cannot be made.
pub(crate) fn writing(report: &mut Report, size: &Size) -> Outcome {
    let (processes, writes) = (size.of(8, 4), size.of(2000, 50));
    let folder = tempfile::tempdir()?;
    let crowd = together(report, folder.path(), size.seed, processes, writes)?;
    tell(report, "F4", &crowd, processes * writes);
    Ok(())
}

/// F5: 20 processes open a library that does not exist yet, and write to it once.
///
/// # Errors
/// As [`writing`].
pub(crate) fn opening(report: &mut Report, size: &Size) -> Outcome {
    let (times, processes) = (size.of(25, 2), 20);
    let mut sum = Crowd {
        found: Found::default(),
        errors: 0,
    };
    for time in 0..times {
        let folder = tempfile::tempdir()?;
        let root = folder.path().join("library");
        let crowd = together(report, &root, size.seed.derive("open", time), processes, 1)?;
        sum.found.add(&crowd.found);
        sum.errors += crowd.errors;
    }
    tell(report, "F5", &sum, times * processes);
    Ok(())
}

fn tell(report: &mut Report, name: &str, crowd: &Crowd, due: u64) {
    report.at_least(
        format_args!("{name}.kept"),
        crowd.found.there as f64,
        due as f64,
    );
    report.none(format_args!("{name}.lost"), crowd.found.lost);
    report.none(format_args!("{name}.doubled"), crowd.found.doubled);
    report.none(format_args!("{name}.wrong"), crowd.found.wrong);
    report.none(
        format_args!("{name}.folders that differ"),
        crowd.found.folders,
    );
    report.none(format_args!("{name}.folders in part"), crowd.found.parts);
    report.none(format_args!("{name}.errors"), crowd.errors);
}

fn together(
    report: &Report,
    root: &Path,
    seed: Seed,
    processes: u64,
    writes: u64,
) -> Result<Crowd, Box<dyn std::error::Error + Send + Sync>> {
    let mut writers = Vec::new();
    for number in 0..processes {
        let task = Task {
            writer: Writer::new(format!("w{number}"), seed),
            writes,
            durability: Durability::Sync,
            point: None,
        };
        writers.push((Running::start(root, &task)?, task.writer));
    }
    for (running, _) in &mut writers {
        running.go();
    }
    let (mut all, mut errors) = (Vec::new(), 0);
    for (running, writer) in writers {
        let (status, told) = running.end(PATIENCE)?;
        if told.error.is_some() || !status.success() {
            report.progress(format_args!("{}: {status}, {:?}", writer.name, told.error));
            errors += 1;
        }
        all.push(Progress {
            writer,
            acknowledged: told.acknowledged,
        });
    }
    let lay = folders::lying(root);
    let (store, _) = reopen(root, &DiskOptions::default())?;
    let mut found = compare(&store, &all)?;
    found.add(&folders::found(report, &store, &lay)?);
    Ok(Crowd { found, errors })
}
