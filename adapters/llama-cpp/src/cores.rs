//! The cores that other programs leave to this process, by Linux's own counters.
//!
//! llama.cpp's compute threads wait for each other at each operation by spinning. Where another program holds one of the
//! cores, two of them may share a core, and each then waits for the other's time slice. So
//! a model uses as many threads as there are free cores.

use std::{
    collections::BTreeSet,
    fs,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

/// The time over which free cores are counted while a model computes.
const WINDOW: Duration = Duration::from_secs(1);
/// What was counted over less says nothing: the counters have ticks of 10 ms.
const LEAST_WINDOW: Duration = Duration::from_millis(300);
/// What was counted over more, such as a time without requests, says nothing of now.
const GREATEST_WINDOW: Duration = Duration::from_secs(4);
/// So many windows in a row have to allow more threads before they are used: a program that comes and goes is no reason to
/// read all prompts anew each time.
const WINDOWS_TO_RISE: u32 = 3;
/// A core counts as free where others use at most this part of it.
const NEARLY: f64 = 0.4;

/// Models of this process that are computing now.
static COMPUTING: AtomicU32 = AtomicU32::new(0);

/// Counters at one moment, in ticks of the system's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    /// All time of the cores that this process may use.
    total: u64,
    /// The part of it in which they computed for somebody, other virtual machines included.
    busy: u64,
    /// What this process has computed.
    own: u64,
    /// The number of these cores.
    cores: u32,
}

impl Ticks {
    /// `None` where the system does not count like Linux.
    fn now() -> Option<Self> {
        let stat = fs::read_to_string("/proc/stat").ok()?;
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let own = fs::read_to_string("/proc/self/stat").ok()?;
        Self::of(&stat, &status, &own)
    }

    fn of(stat: &str, status: &str, own: &str) -> Option<Self> {
        let allowed = status
            .lines()
            .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))
            .and_then(cores_in)?;
        let (mut total, mut busy, mut cores) = (0, 0, 0);
        for line in stat.lines() {
            let mut fields = line.split_whitespace();
            let Some(number) = fields.next().and_then(|name| name.strip_prefix("cpu")) else {
                continue;
            };
            if !number.parse().is_ok_and(|core| allowed.contains(&core)) {
                continue;
            }
            // user, nice, system, idle, iowait, irq, softirq, steal; guests are part of user.
            let times: Vec<u64> = fields
                .map_while(|field| field.parse().ok())
                .take(8)
                .collect();
            let all: u64 = times.iter().sum();
            total += all;
            busy += all.checked_sub(times.get(3)? + times.get(4)?)?;
            cores += 1;
        }
        // The name in parentheses may hold spaces.
        let (_, fields) = own.rsplit_once(')')?;
        let mut times = fields.split_whitespace().skip(11);
        let mut next = || times.next()?.parse::<u64>().ok();
        let own = next()? + next()?;
        (cores > 0).then_some(Self {
            total,
            busy,
            own,
            cores,
        })
    }

    /// The cores that others kept busy from `before` to now, in the mean; `None` where no time has passed.
    fn others_since(&self, before: &Self) -> Option<f64> {
        let each = self.total.checked_sub(before.total)? as f64 / f64::from(self.cores);
        let busy = self.busy.checked_sub(before.busy)?;
        let own = self.own.checked_sub(before.own)?;
        (each > 0.0).then(|| busy.saturating_sub(own) as f64 / each)
    }
}

/// The numbers of a list such as `0-3,8`.
fn cores_in(list: &str) -> Option<BTreeSet<u32>> {
    let mut cores = BTreeSet::new();
    for part in list.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        cores.extend(first.parse::<u32>().ok()?..=last.parse().ok()?);
    }
    Some(cores)
}

/// The number of threads that a model computes with, between 1 and the greatest.
#[derive(Debug)]
pub(crate) struct Threads {
    most: u32,
    now: u32,
    counted: Option<(Instant, Ticks)>,
    /// Windows in a row that allowed more threads.
    rising: u32,
}

impl Threads {
    /// At most so many; fewer while others hold cores if it `yields` to them.
    pub(crate) fn new(most: u32, yields: bool) -> Self {
        let ticks = (yields && most > 1).then(Ticks::now).flatten();
        Self {
            most,
            now: most,
            counted: ticks.map(|ticks| (Instant::now(), ticks)),
            rising: 0,
        }
    }

    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    /// Counts the free cores at the end of a window, and the number of threads to go on with if it changes; more threads only
    /// where the model is `idle`, since a change drops what it has read.
    pub(crate) fn count(&mut self, idle: bool) -> Option<u32> {
        let (since, _) = self.counted.as_ref()?;
        if since.elapsed() < WINDOW {
            return None;
        }
        self.count_now(idle)
    }

    /// The same at once.
    pub(crate) fn count_now(&mut self, idle: bool) -> Option<u32> {
        let (since, before) = self.counted.take()?;
        let ticks = Ticks::now()?;
        self.counted = Some((Instant::now(), ticks));
        if !(LEAST_WINDOW..=GREATEST_WINDOW).contains(&since.elapsed()) {
            return None;
        }
        let others = ticks.others_since(&before)?;
        // This model and those that compute beside it.
        let models = 1 + COMPUTING.load(Ordering::Relaxed);
        self.decide(f64::from(ticks.cores) - others, models, idle)
    }

    fn decide(&mut self, free: f64, models: u32, idle: bool) -> Option<u32> {
        let room = (free / f64::from(models) + NEARLY).floor().max(1.0);
        // At most `most`, which is a u32.
        let wanted = room.min(f64::from(self.most)) as u32;
        self.rising = if wanted > self.now {
            self.rising + 1
        } else {
            0
        };
        let changes = wanted < self.now || (idle && self.rising >= WINDOWS_TO_RISE);
        if !changes {
            return None;
        }
        self.rising = 0;
        self.now = wanted;
        Some(wanted)
    }
}

/// Counts a model as computing until it is dropped.
#[derive(Debug)]
pub(crate) struct Computing(());

impl Computing {
    pub(crate) fn begin() -> Self {
        COMPUTING.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Computing {
    fn drop(&mut self) {
        COMPUTING.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nCpus_allowed_list:\t0-1,3\nMems_allowed_list:\t0\n";

    /// Each core: busy and idle ticks.
    fn stat(cores: [(u64, u64); 4]) -> String {
        let mut text = "cpu  1 2 3 4 5 6 7 8 9 10\n".to_owned();
        for (number, (busy, idle)) in cores.into_iter().enumerate() {
            text += &format!("cpu{number} {busy} 0 0 {idle} 0 0 0 0 0 0\n");
        }
        text + "intr 7\n"
    }

    fn own(ticks: u64) -> String {
        format!("7 (a (b) c) R 1 1 1 0 -1 0 0 0 0 0 {ticks} 0 0 0 20 0 1 0")
    }

    #[test]
    fn others_are_what_is_busy_on_the_allowed_cores_less_this_process() {
        let before = Ticks::of(&stat([(0, 0); 4]), STATUS, &own(0)).unwrap();
        assert_eq!(before.cores, 3);
        // Core 2 is not allowed. Of 300 ticks 200 are busy, 100 of them by this process: one core by others.
        let after = Ticks::of(
            &stat([(100, 0), (100, 0), (100, 0), (0, 100)]),
            STATUS,
            &own(100),
        );
        assert_eq!(after.unwrap().others_since(&before), Some(1.0));
        assert_eq!(before.others_since(&before), None);
        for (stat, status, own) in [
            ("", STATUS, &*own(0)),
            ("cpu0 1 2 3 4 5", "", &own(0)),
            ("cpu0 1", STATUS, &own(0)),
            ("cpu0 1 2 3 4 5", STATUS, "no"),
            ("cpu0 1 2 3 4 5", "Cpus_allowed_list:\tx", &own(0)),
        ] {
            assert_eq!(Ticks::of(stat, status, own), None);
        }
    }

    #[test]
    fn threads_fall_at_once_and_rise_after_some_time() {
        let mut threads = Threads::new(2, false);
        assert_eq!(threads.decide(2.0, 1, true), None);
        assert_eq!(
            threads.decide(1.7, 1, true),
            None,
            "a little of a core is no neighbor"
        );
        assert_eq!(threads.decide(1.0, 1, true), Some(1));
        assert_eq!(threads.decide(0.0, 1, true), None, "one thread at least");
        assert_eq!(threads.decide(2.0, 1, true), None);
        assert_eq!(threads.decide(1.2, 1, true), None, "it is back");
        assert_eq!(threads.decide(2.0, 1, true), None);
        assert_eq!(threads.decide(2.0, 1, true), None);
        assert_eq!(
            threads.decide(2.0, 1, false),
            None,
            "it would drop what is read"
        );
        assert_eq!(threads.decide(2.0, 1, true), Some(2));
        assert_eq!(
            threads.decide(9.0, 1, true),
            None,
            "never more than the greatest"
        );
        assert_eq!(
            threads.decide(2.0, 2, true),
            Some(1),
            "two models share the cores"
        );
    }
}
