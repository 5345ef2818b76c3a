//! Streams of outcomes with a known truth.

use journeyman::Seed;
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Numbers of one stream.
pub(super) struct Draws(ChaCha8Rng);

impl Draws {
    /// Those of a run of a point.
    pub(super) fn of(seed: Seed, point: &str, run: usize) -> Self {
        let seed = seed.derive(point, run as u64);
        Self(ChaCha8Rng::seed_from_u64(seed.0))
    }

    /// From 0 on and below 1.
    pub(super) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// 1 with this chance, else 0.
    pub(super) fn coin(&mut self, chance: f64) -> f64 {
        f64::from(u8::from(self.unit() < chance))
    }
}

/// A kind of outcome, with its mean at each time from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Done or not.
    Coin,
    /// Half of what is done is done by halves: 0, 0.5 or 1.
    Halves,
    /// The mean of four attempts at a task, all of which are done with the skill or none, by the task: alike as attempts at one task are.
    Group,
}

/// A stream of tasks, of which a share goes without the skill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The mean without the skill, at the start and at the end.
    pub(super) without: (f64, f64),
    /// What the skill adds.
    pub(super) effect: f64,
    /// The share that goes without.
    pub(super) share: f64,
}

impl Stream {
    /// The task at a time from 0 to 1: whether it was given the skill, and its outcome.
    pub(super) fn task(&self, time: f64, draws: &mut Draws) -> (bool, f64) {
        let (start, end) = self.without;
        let given = draws.unit() >= self.share;
        let mean = start + (end - start) * time + if given { self.effect } else { 0.0 };
        let outcome = match self.kind {
            Kind::Coin => draws.coin(mean),
            Kind::Halves => 0.5 * (draws.coin(mean) + draws.coin(mean)),
            // Without it each attempt by itself, with it all by the task.
            Kind::Group if given => draws.coin(mean),
            Kind::Group => 0.25 * (0..4).map(|_| draws.coin(mean)).sum::<f64>(),
        };
        (given, outcome)
    }
}
