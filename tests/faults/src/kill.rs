//! F1: writers are killed, at random times and at named points.

use std::{path::Path, time::Duration};

use journeyman::Seed;
use journeyman_disk::{DiskOptions, Durability, fault};

use crate::{
    Size,
    check::{Found, Progress, compare, reopen},
    child::{Running, Task},
    folders::{self, lying},
    history::{Session, Writer},
    people,
    report::{Outcome, Report},
};

/// A process that has not ended by then hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What all kills of one kind came to.
#[derive(Default)]
struct Sum {
    found: Found,
    slowest: Duration,
    kills: u64,
    acknowledged: u64,
    refused: u64,
    unreached: u64,
}

/// Runs it.
///
/// # Errors
/// When a process or folder cannot be made.
pub(crate) fn run(report: &mut Report, size: &Size) -> Outcome {
    let mut sum = Sum::default();
    let mut life = 0;
    while sum.kills < size.of(1000, 15) {
        let seed = size.seed.derive("life", life);
        // Some libraries are killed at once after they were made, others many times over.
        let kills = 1 + (seed.unit() * seed.unit() * size.of(120, 15) as f64) as u64;
        live(
            report,
            seed,
            kills.min(size.of(1000, 15) - sum.kills),
            &mut sum,
        )?;
        life += 1;
    }
    tell(report, "F1.random", &sum);
    let mut sum = Sum::default();
    for (at, point) in (0..).zip(fault::POINTS) {
        // Reached only where a person does something.
        if point == people::TAKEN_IN {
            continue;
        }
        for variation in 0..size.of(10, 1) {
            let seed = size.seed.derive(point, variation).derive("point", at);
            at_point(report, point, seed, &mut sum)?;
        }
    }
    tell(report, "F1.points", &sum);
    report.none("F1.points.not reached", sum.unreached);
    people::killed(report, size)
}

fn tell(report: &mut Report, name: &str, sum: &Sum) {
    report.told(format_args!("{name}.kills"), sum.kills as f64);
    report.told(format_args!("{name}.acknowledged"), sum.acknowledged as f64);
    report.none(format_args!("{name}.lost"), sum.found.lost);
    report.none(format_args!("{name}.doubled"), sum.found.doubled);
    report.none(format_args!("{name}.wrong"), sum.found.wrong);
    report.none(
        format_args!("{name}.folders that differ"),
        sum.found.folders,
    );
    report.none(format_args!("{name}.folders in part"), sum.found.parts);
    report.none(format_args!("{name}.errors"), sum.refused);
    let slowest = sum.slowest.as_secs_f64();
    report.at_most(format_args!("{name}.slowest reopening (s)"), slowest, 2.0);
}

/// A killed process loses nothing, however the library was opened.
fn drawn(seed: Seed) -> Durability {
    match seed.derive("relaxed", 0).unit() < 0.25 {
        true => Durability::Relaxed,
        false => Durability::Sync,
    }
}

/// A library's life: written to by one or two processes at once, killed, looked at, and again.
fn live(report: &Report, seed: Seed, kills: u64, sum: &mut Sum) -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("library");
    let mut all = Vec::new();
    for kill in 0..kills {
        let seed = seed.derive("kill", kill);
        let two = 1 + u64::from(seed.derive("two", 0).unit() < 0.25);
        let mut writers = Vec::new();
        for one in 0..two {
            let task = Task {
                writer: Writer::new(format!("w{kill}-{one}"), seed),
                writes: u64::MAX,
                durability: drawn(seed),
                point: None,
            };
            writers.push((Running::start(&root, &task)?, task.writer));
        }
        for (running, _) in &mut writers {
            running.go();
        }
        let until = seed.derive("until", 0).unit();
        std::thread::sleep(Duration::from_secs_f64(0.25 * until * until));
        let known = all.len();
        for (running, writer) in writers {
            let told = running.kill()?;
            if let Some(error) = told.error {
                report.progress(format_args!("seed {seed}: a writer was told: {error}"));
                sum.refused += 1;
            }
            all.push(Progress {
                writer,
                acknowledged: told.acknowledged,
            });
            sum.acknowledged += told.acknowledged;
        }
        sum.kills += 1;
        after(report, &root, &mut all, known, 0, seed, sum)?;
    }
    Ok(())
}

/// A new library whose writer ends itself at a point.
fn at_point(report: &Report, point: &'static str, seed: Seed, sum: &mut Sum) -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("library");
    let most = match point.split(':').next() {
        Some("open") => 1.0,
        Some("tidy") => 2.0,
        Some("folders") => 4.0,
        _ => 30.0,
    };
    let task = Task {
        writer: Writer::new("w", seed),
        writes: 3000,
        durability: drawn(seed),
        point: Some((point, (seed.unit() * most) as u64)),
    };
    let mut running = Running::start(&root, &task)?;
    running.go();
    let (status, told) = running.end(PATIENCE)?;
    let reached = std::os::unix::process::ExitStatusExt::signal(&status) == Some(libc::SIGABRT);
    if !reached {
        report.progress(format_args!(
            "{point}: not reached ({status}): {:?}",
            told.error
        ));
        sum.unreached += 1;
    }
    let mut all = vec![Progress {
        writer: task.writer,
        acknowledged: told.acknowledged,
    }];
    sum.kills += 1;
    sum.acknowledged += told.acknowledged;
    // A round more: the same skills are written to again.
    after(report, &root, &mut all, 0, 9, seed, sum)
}

/// Looks at the library after a kill, makes again what was under way, twice over, makes so many more, and looks again.
/// Those who were killed are at the end of the list.
fn after(
    report: &Report,
    root: &Path,
    all: &mut [Progress],
    killed: usize,
    more: u64,
    seed: Seed,
    sum: &mut Sum,
) -> Outcome {
    let looked: journeyman::Result<Found> = (|| {
        let lay = lying(root);
        let (store, opening) = reopen(root, &DiskOptions::default())?;
        sum.slowest = sum.slowest.max(opening);
        let mut found = compare(&store, all)?;
        found.add(&folders::found(report, &store, &lay)?);
        let mut session = Session::new(store)?;
        for progress in all.iter_mut().skip(killed) {
            let under_way = progress.writer.nth(progress.acknowledged);
            session.perform(&under_way)?;
            session.perform(&under_way)?;
            progress.acknowledged += 1;
            for _ in 0..more {
                session.perform(&progress.writer.nth(progress.acknowledged))?;
                progress.acknowledged += 1;
                found.folders += trouble(report, &session)?;
            }
        }
        found.folders += trouble(report, &session)?;
        found.add(&compare(&session.store, all)?);
        found.add(&folders::found(report, &session.store, &lying(root))?);
        Ok(found)
    })();
    match looked {
        Ok(found) => {
            if found.lost > 0 || !found.is_sound() {
                report.progress(format_args!("seed {seed}: {found:?}"));
            }
            sum.found.add(&found);
        }
        Err(error) => {
            report.progress(format_args!("seed {seed}: the checker was told: {error}"));
            sum.refused += 1;
        }
    }
    Ok(())
}

/// Has the folders brought up to date, and counts what is wrong with them.
fn trouble(report: &Report, session: &Session) -> journeyman::Result<u64> {
    let trouble = session.bring_folders()?;
    for what in &trouble {
        report.progress(what);
    }
    Ok(trouble.len() as u64)
}
