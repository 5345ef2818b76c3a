//! F6: the disk is full, at any byte; F7: it cannot be written any more.

use std::fs;

use futures::executor::block_on;
use journeyman::{Error, ErrorKind, Retry, Seed, contract::SkillStore};
use journeyman_disk::{DiskOptions, DiskStore};

use crate::{
    Size,
    check::{Found, Progress, compare, reopen},
    folders,
    history::{Session, Writer},
    report::{Outcome, Report},
    seam,
};

#[derive(Default)]
struct Tally {
    found: Found,
    refused: u64,
    /// Refusals that are not `Unavailable`, temporary, with a hint.
    otherwise: u64,
    unread: u64,
    unrecovered: u64,
    unopened: u64,
}

/// Runs it.
///
/// # Errors
/// When a folder cannot be made.
pub(crate) fn run(report: &mut Report, size: &Size) -> Outcome {
    for (name, errno) in [("F6", libc::ENOSPC), ("F7.unwritable", libc::EROFS)] {
        let mut tally = Tally::default();
        for life in 0..size.of(200, 10) {
            live(report, size.seed.derive(name, life), errno, &mut tally)?;
        }
        report.at_least(
            format_args!("{name}.refused writes"),
            tally.refused as f64,
            1.0,
        );
        report.none(format_args!("{name}.refused otherwise"), tally.otherwise);
        report.none(format_args!("{name}.reading stopped"), tally.unread);
        report.none(format_args!("{name}.did not recover"), tally.unrecovered);
        report.none(
            format_args!("{name}.did not open while full"),
            tally.unopened,
        );
        report.none(format_args!("{name}.lost"), tally.found.lost);
        report.none(format_args!("{name}.doubled"), tally.found.doubled);
        report.none(format_args!("{name}.wrong"), tally.found.wrong);
        report.none(
            format_args!("{name}.folders that differ"),
            tally.found.folders,
        );
        report.none(format_args!("{name}.folders in part"), tally.found.parts);
    }
    Ok(())
}

/// A library that is written to; the disk fills up some times, at a byte that the seed draws, and there is room again.
fn live(report: &Report, seed: Seed, errno: i32, tally: &mut Tally) -> Outcome {
    let folder = tempfile::tempdir()?;
    let root = fs::canonicalize(folder.path())?;
    let library = root.join("library");
    let open = || DiskStore::open(&library, &DiskOptions::default());
    let mut progress = Progress {
        writer: Writer::new("w", seed),
        acknowledged: 0,
    };
    seam::watch(&root);
    let mut session = Session::new(open()?)?;
    for time in 0..6 {
        let seed = seed.derive("time", time);
        let room = (seed.derive("room", 0).unit() * 60_000.0) as u64;
        seam::disk(|disk| disk.room = Some((room, errno)));
        let refusal = loop {
            match session.perform(&progress.writer.nth(progress.acknowledged)) {
                Ok(()) => progress.acknowledged += 1,
                Err(error) => break error,
            }
            if progress.writer.brings_folders(progress.acknowledged) {
                // On a full disk they wait.
                let _ = session.bring_folders();
            }
        };
        tally.refused += 1;
        if !is_told_well(&refusal, errno) {
            report.progress(format_args!("seed {seed}: {refusal}"));
            tally.otherwise += 1;
        }
        match compare(&session.store, std::slice::from_ref(&progress)) {
            Ok(found) => tally.found.add(&found),
            Err(error) => {
                report.progress(format_args!("seed {seed}: reading stopped: {error}"));
                tally.unread += 1;
            }
        }
        if let Err(error) = open().and_then(|other| block_on(other.load())) {
            report.progress(format_args!("seed {seed}: did not open: {error}"));
            tally.unopened += 1;
        }
        seam::disk(|disk| disk.room = None);
        match session.perform(&progress.writer.nth(progress.acknowledged)) {
            Ok(()) => progress.acknowledged += 1,
            Err(error) => {
                report.progress(format_args!("seed {seed}: did not recover: {error}"));
                tally.unrecovered += 1;
            }
        }
    }
    drop(session);
    seam::end();
    let lay = folders::lying(&library);
    let (store, _) = reopen(&library, &DiskOptions::default())?;
    tally.found.add(&compare(&store, &[progress])?);
    tally.found.add(&folders::found(report, &store, &lay)?);
    Ok(())
}

fn is_told_well(error: &Error, errno: i32) -> bool {
    error.kind() == ErrorKind::Unavailable
        && error.hint_text().is_some()
        // A full disk is told as one.
        && (errno != libc::ENOSPC || (error.retry() == Retry::Temporary && error.message().contains("full")))
}
