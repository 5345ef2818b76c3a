//! Runs cells side by side, one thread for each engine.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Instant,
};

use journeyman::Result;

use crate::{cell::Cell, host::Host, result::CellResult};

/// A cell that ended: its index, its result, and its seconds.
pub(crate) type Ended = (usize, Result<CellResult>, f64);

/// Runs cells, one at a time on each engine. The listener is called on this thread for each cell that ends; after it
/// fails, no further cell begins.
pub(crate) fn run<H: Host>(
    cells: &[Cell<'_, H>],
    engines: Vec<H::Engine>,
    mut listener: impl FnMut(Ended) -> Result<()>,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel::<Ended>();
    thread::scope(|scope| {
        for mut engine in engines {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(cell) = cells.get(at) else { break };
                    let begun = Instant::now();
                    let result = cell.run(&mut engine);
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
