//! Cells side by side, within the machine's means.

use std::{
    num::NonZero,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Instant,
};

use futures::executor::block_on;
use journeyman::Result;

use super::{cell::Cell, parts::Parts, plan::Plan, result::CellResult};
use crate::output::warn;

/// How many cells run at once if nobody says: as many as the cores can compute.
pub(super) fn jobs(asked: Option<NonZero<usize>>, threads: u32, cells: usize) -> usize {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let jobs = asked.map_or(cores / threads.max(1) as usize, NonZero::get);
    jobs.clamp(1, cells.max(1))
}

/// One engine for all, which puts what they ask into common batches; where results have to repeat, an engine answers one
/// request at a time, and each job has its own.
pub(super) fn engines(plan: &Plan, jobs: usize) -> Result<Vec<Parts>> {
    let first = Parts::load(plan)?;
    if !plan.deterministic {
        return Ok(vec![first; jobs]);
    }
    let mut engines = vec![first];
    while engines.len() < jobs {
        match Parts::load(plan) {
            Ok(parts) => engines.push(parts),
            Err(error) => {
                // The first one runs, so it is room that is short.
                let told = error.with("cells_at_once", engines.len());
                warn(&told.hint("fewer cells run at once; --jobs sets how many"));
                break;
            }
        }
    }
    Ok(engines)
}

/// A cell that ended: its place, its result, and how many seconds it took.
pub(super) type Ended = (usize, Result<CellResult>, f64);

/// Runs cells, each engine one at a time; tells each that ends. Where the listener fails, no further cell begins.
pub(super) fn run(
    cells: &[Cell<'_>],
    engines: Vec<Parts>,
    mut listener: impl FnMut(Ended) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel::<Ended>();
    thread::scope(|scope| {
        for parts in engines {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(at) else { break };
                    let begun = Instant::now();
                    let result = block_on(cell.run(&parts));
                    let seconds = begun.elapsed().as_secs_f64();
                    if sender.send((at, result, seconds)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let heard = receiver.into_iter().try_for_each(&mut listener);
        stop.store(true, Ordering::Relaxed);
        heard
    })
}
