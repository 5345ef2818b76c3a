//! F2 and F7: power is lost at any moment, and syncs fail.

use std::{fs, path::Path};

use journeyman::{Result, Seed};
use journeyman_disk::{DiskOptions, DiskStore, Durability};

use crate::{
    Size,
    check::{Found, Progress, compare, reopen},
    folders,
    history::{Session, Writer},
    image::{Image, Loss},
    report::{Outcome, Report},
    seam::{self, Act},
};

/// How a history is written.
#[derive(Clone, Copy)]
struct Course {
    durability: Durability,
    writes: u64,
    /// One sync in so many fails; 0 for none.
    failing: usize,
    /// The first writes are made without folders.
    without_folders: u64,
}

/// A history on the disk.
struct Written {
    writer: Writer,
    /// All that was done, below this folder.
    acts: Vec<Act>,
    sandbox: tempfile::TempDir,
    /// Syncs of files during each write.
    syncs: Vec<u64>,
    /// Writes that were refused, once for each time.
    refused: u64,
    /// Failed syncs of writes that were acknowledged all the same.
    ignored: u64,
}

/// F2: a loss of power at any moment.
///
/// # Errors
/// When a folder cannot be made or a library not be written.
pub(crate) fn run(report: &mut Report, size: &Size) -> Outcome {
    for (name, durability) in [
        ("F2.sync", Durability::Sync),
        ("F2.relaxed", Durability::Relaxed),
    ] {
        let course = Course {
            durability,
            writes: size.of(400, 60),
            failing: 0,
            without_folders: 0,
        };
        let (found, syncs, _) = lives(report, size, name, course)?;
        let mut syncs = syncs;
        syncs.sort_unstable();
        let middle = syncs.get(syncs.len() / 2).copied().unwrap_or_default();
        let mean = syncs.iter().sum::<u64>() as f64 / syncs.len() as f64;
        let bound = if durability == Durability::Sync {
            1.0
        } else {
            0.0
        };
        report.at_most(
            format_args!("{name}.syncs of a write, median"),
            middle as f64,
            bound,
        );
        report.told(format_args!("{name}.syncs of a write, mean"), mean);
        tell(report, name, &found, durability);
    }
    Ok(())
}

/// F7: syncs fail; then power is lost.
///
/// # Errors
/// As [`run`].
pub(crate) fn failing(report: &mut Report, size: &Size) -> Outcome {
    let course = Course {
        durability: Durability::Sync,
        writes: size.of(200, 60),
        failing: 7,
        without_folders: 0,
    };
    let (found, _, refusals) = lives(report, size, "F7", course)?;
    report.at_least("F7.refused writes", refusals.0 as f64, 1.0);
    report.none("F7.acknowledged without a sync", refusals.1);
    tell(report, "F7", &found, Durability::Sync);
    Ok(())
}

fn tell(report: &mut Report, name: &str, found: &Tally, durability: Durability) {
    report.told(format_args!("{name}.losses of power"), found.losses as f64);
    match durability {
        Durability::Sync => report.none(format_args!("{name}.lost"), found.found.lost),
        // Writes of the last moments may go; that only they do is what `wrong` counts.
        _ => report.told(format_args!("{name}.lost"), found.found.lost as f64),
    }
    report.none(format_args!("{name}.doubled"), found.found.doubled);
    report.none(format_args!("{name}.wrong"), found.found.wrong);
    report.none(
        format_args!("{name}.folders that differ"),
        found.found.folders,
    );
    report.none(format_args!("{name}.folders in part"), found.found.parts);
    report.none(
        format_args!("{name}.folders put before they were synced"),
        found.too_early,
    );
    report.none(format_args!("{name}.errors"), found.errors);
}

#[derive(Default)]
struct Tally {
    found: Found,
    losses: u64,
    errors: u64,
    too_early: u64,
}

type Lives = (Tally, Vec<u64>, (u64, u64));

/// Several histories, and losses of power in each.
fn lives(
    report: &mut Report,
    size: &Size,
    name: &str,
    course: Course,
) -> std::result::Result<Lives, Box<dyn std::error::Error + Send + Sync>> {
    let (mut tally, mut syncs, mut refusals) = (Tally::default(), Vec::new(), (0, 0));
    for life in 0..size.of(10, 2) {
        let seed = size.seed.derive(name, life);
        let without_folders = if life % 2 == 1 { size.of(300, 0) } else { 0 };
        let course = Course {
            without_folders,
            ..course
        };
        let written = write(seed, course)?;
        for loss in 0..size.of(100, 10) {
            lose(
                report,
                &written,
                seed.derive("loss", loss),
                course,
                &mut tally,
            )?;
        }
        syncs.extend(written.syncs);
        refusals.0 += written.refused;
        refusals.1 += written.ignored;
    }
    Ok((tally, syncs, refusals))
}

/// Writes a history while the seam looks on; the library is opened anew a few times.
fn write(
    seed: Seed,
    course: Course,
) -> std::result::Result<Written, Box<dyn std::error::Error + Send + Sync>> {
    let sandbox = tempfile::tempdir()?;
    let root = fs::canonicalize(sandbox.path())?;
    let library = root.join("library");
    let writer = Writer::new("w", seed);
    let (mut syncs, mut refused, mut ignored) = (Vec::new(), 0, 0);
    seam::watch(&root);
    let mut session = open(&library, course, 0)?;
    for number in 0..course.writes {
        if seed.derive("reopen", number).unit() < 0.01
            || (number > 0 && number == course.without_folders)
        {
            drop(session);
            session = open(&library, course, number)?;
        }
        let write = writer.nth(number);
        loop {
            let before = seam::disk(|disk| {
                let ahead = seed.derive("fail", disk.syncs).index(course.failing);
                let at = ahead.map(|ahead| disk.syncs + ahead as u64);
                disk.failing = at.map_or(0..0, |at| at..at + 1);
                disk.syncs
            });
            let done = session.perform(&write);
            let (during, failed) = seam::disk(|disk| {
                let failed = disk.failing.start < disk.syncs && !disk.failing.is_empty();
                disk.failing = 0..0;
                if done.is_ok() {
                    disk.acts.push(Act::Acknowledged);
                }
                (disk.syncs - before, failed)
            });
            match done {
                Ok(()) => {
                    if number >= course.without_folders && writer.brings_folders(number) {
                        session.bring_folders()?;
                    }
                    syncs.push(during);
                    // A sync of the log being folded in may fail without harm; the only one of a write may not.
                    ignored += u64::from(failed && during == 1);
                    break;
                }
                Err(_) if failed => refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
    drop(session);
    Ok(Written {
        writer,
        acts: seam::end(),
        sandbox,
        syncs,
        refused,
        ignored,
    })
}

fn open(library: &Path, course: Course, number: u64) -> Result<Session> {
    let mut options = DiskOptions::default();
    options.durability = course.durability;
    // Many folders that are written at once are synced in another way.
    options.folders = number >= course.without_folders;
    Session::new(DiskStore::open(library, &options)?)
}

/// Power is lost at a moment that the seed draws; the library is opened from what may be left, and looked at.
fn lose(
    report: &Report,
    written: &Written,
    seed: Seed,
    course: Course,
    tally: &mut Tally,
) -> Outcome {
    let moment = seed.index(written.acts.len() + 1).unwrap_or(0);
    let loss = Loss::ALL[seed.derive("loss", 0).index(Loss::ALL.len()).unwrap_or(0)];
    let mut image = Image::default();
    written.acts[..moment].iter().for_each(|act| image.act(act));
    let acknowledged = written.acts[..moment]
        .iter()
        .filter(|act| matches!(act, Act::Acknowledged))
        .count() as u64;
    let target = tempfile::tempdir()?;
    let root = fs::canonicalize(written.sandbox.path())?;
    image.restore(&root, target.path(), loss, seed)?;
    let mut options = DiskOptions::default();
    options.durability = course.durability;
    let progress = Progress {
        writer: written.writer.clone(),
        acknowledged,
    };
    let library = target.path().join("library");
    let lay = folders::lying(&library);
    let looked = reopen(&library, &options).and_then(|(store, _)| {
        let mut found = compare(&store, std::slice::from_ref(&progress))?;
        found.add(&folders::found(report, &store, &lay)?);
        Ok(found)
    });
    tally.losses += 1;
    tally.too_early += image.too_early.len() as u64;
    for place in &image.too_early {
        report.progress(format_args!("{} was put too early", place.display()));
    }
    match looked {
        Ok(found) => {
            let lost = course.durability == Durability::Sync && found.lost > 0;
            if lost || !found.is_sound() {
                report.progress(format_args!(
                    "seed {seed}, {loss:?}, act {moment}: {found:?}"
                ));
            }
            tally.found.add(&found);
        }
        Err(error) => {
            report.progress(format_args!("seed {seed}, {loss:?}, act {moment}: {error}"));
            tally.errors += 1;
        }
    }
    Ok(())
}
