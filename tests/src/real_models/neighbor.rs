//! Speed on two cores of which another program keeps one busy.

use std::{
    fs,
    path::Path,
    process::{self, Child, Command},
    thread,
    time::Duration,
};

use journeyman::Seed;
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

use super::{
    file_name, median,
    speed::{reading, tail, writing},
};
use crate::figures::{Bound, Figures, Outcome};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const REPEATS: u64 = 4;
/// The model counts free cores over a second.
const NOTICED: Duration = Duration::from_millis(1_500);

/// A program that computes until it is dropped.
struct Busy(Child);

impl Busy {
    fn start() -> Result<Self, Failure> {
        let loops = ["-c", "while :; do :; done"];
        Ok(Self(Command::new("sh").args(loops).spawn()?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// This process, its threads and what it starts from now on, on two cores until this is dropped.
struct TwoCores {
    before: String,
}

impl TwoCores {
    fn take() -> Result<Self, Failure> {
        let status = fs::read_to_string("/proc/self/status")?;
        let before = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
            .ok_or("the cores of this process are not told")?
            .trim();
        let cores = first_two(before).ok_or("this figure needs two cores")?;
        stand_on(&cores)?;
        Ok(Self {
            before: before.to_owned(),
        })
    }
}

/// Where measuring failed: what is measured later would be slow.
impl Drop for TwoCores {
    fn drop(&mut self) {
        let _ = stand_on(&self.before);
    }
}

/// The first two of a list of processors, such as `0-3,8`, that are no threads of one core; where all are, the first two.
fn first_two(list: &str) -> Option<String> {
    let all = cores_in(list);
    let (first, rest) = all.split_first()?;
    let siblings = format!("/sys/devices/system/cpu/cpu{first}/topology/thread_siblings_list");
    let siblings = cores_in(fs::read_to_string(siblings).unwrap_or_default().trim());
    let other = rest.iter().find(|core| !siblings.contains(core));
    Some(format!("{first},{}", other.or(rest.first())?))
}

fn cores_in(list: &str) -> Vec<u32> {
    let cores = list.split(',').flat_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| text.trim().parse::<u32>().ok();
        match (number(first), number(last)) {
            (Some(first), Some(last)) => first..last.saturating_add(1),
            _ => 0..0,
        }
    });
    cores.collect()
}

fn stand_on(cores: &str) -> Result<(), Failure> {
    let this = process::id().to_string();
    let done = Command::new("taskset")
        .args(["-a", "-c", "-p", cores, &this])
        .output()?;
    if done.status.success() {
        return Ok(());
    }
    Err(format!("taskset: {}", String::from_utf8_lossy(&done.stderr)).into())
}

pub(super) fn record(figures: &mut Figures<'_>, name: &str, path: &Path) -> Outcome {
    let seed = figures.options().seed;
    let key = format!("beside a busy neighbor, {}", file_name(path));
    let (reading, writing, threads): (f64, f64, u32) =
        figures.once(&key, || measure(path, seed))?;
    for (what, ratio) in [("reading", reading), ("writing", writing)] {
        let what = format!("{name}: {what} beside a program on one core, of the quiet speed");
        figures.record(&what, ratio, Bound::AtLeast(0.4));
    }
    let what = format!("{name}: threads beside a program on one core");
    figures.record(&what, threads.into(), Bound::None);
    Ok(())
}

fn measure(path: &Path, seed: Seed) -> Result<(f64, f64, u32), Failure> {
    let cores = TwoCores::take()?;
    let mut config = LlamaConfig::new(path);
    config.n_ctx = Some(2_048);
    let model = LlamaCpp::load(config)?;
    let speed = |what: &str| -> Result<(f64, f64), Failure> {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let tail = tail(&model, seed)?;
        for repeat in 0..=REPEATS {
            let seed = seed.derive(what, repeat);
            let (read, written) = (reading(&model, seed, 512, tail)?, writing(&model, seed)?);
            if repeat > 0 {
                reads.push(read);
                writes.push(written);
            }
        }
        Ok((median(&mut reads), median(&mut writes)))
    };
    let quiet = speed("quiet")?;
    let busy = Busy::start()?;
    thread::sleep(NOTICED);
    let beside = speed("beside")?;
    let threads = model.stats().threads;
    drop(busy);
    stand_on(&cores.before)?;
    Ok((beside.0 / quiet.0, beside.1 / quiet.1, threads))
}
