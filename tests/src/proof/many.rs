//! Twenty skills at once: how many of the verdicts are false.

use journeyman::{
    Seed,
    stations::proof::{EvidenceAbove, discoveries},
};

use super::{
    ERROR, percent,
    streams::{Draws, Kind, Stream},
};
use crate::figures::{Bound, Figures, Outcome};

const SKILLS: usize = 20;
/// The share that goes without each.
const SHARE: f64 = 0.2;
/// Tasks of each skill.
const ATTEMPTS: usize = 400;
/// Tasks between two looks.
const EVERY: usize = 20;
/// Simulated libraries.
const LIBRARIES: usize = 500;

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    for effective in [0, 10] {
        figures.progress(format_args!("{SKILLS} skills, of which {effective} help"));
        // Of the looks with most false ones: each look has the bound.
        let looks = ATTEMPTS / EVERY;
        let mut false_share = vec![0.0; looks];
        let (mut found, mut naive) = (0, 0.0);
        for library in 0..LIBRARIES {
            let came = one(seed, effective, library);
            for (share, look) in false_share.iter_mut().zip(&came.0) {
                *share += look / LIBRARIES as f64;
            }
            found += came.1;
            naive += came.2 / LIBRARIES as f64;
        }
        let worst = false_share.iter().copied().fold(0.0, f64::max);
        let name = |what: &str| format!("{SKILLS} skills, {effective} of which help: {what}");
        figures.record(
            &name("false verdicts of all, mean at the worst look, %"),
            100.0 * worst,
            Bound::AtMost(100.0 * ERROR),
        );
        figures.record(
            &name("false verdicts by the point score, mean, %"),
            100.0 * naive,
            Bound::None,
        );
        if effective > 0 {
            figures.record(
                &name("those that help that are found after 400 tasks each, %"),
                percent(found, LIBRARIES * effective),
                Bound::None,
            );
        }
    }
    Ok(())
}

/// A skill's evidence and its tasks: with it and without it, how many and how many done.
struct Skill {
    gain: EvidenceAbove,
    harm: EvidenceAbove,
    arms: [(f64, f64); 2],
}

impl Skill {
    fn new() -> Self {
        Self {
            gain: EvidenceAbove::new(0.0),
            harm: EvidenceAbove::new(0.0),
            arms: [(0.0, 0.0); 2],
        }
    }

    fn add(&mut self, given: bool, outcome: f64) {
        self.gain.add(given, SHARE, outcome);
        self.harm.add(given, SHARE, 1.0 - outcome);
        let (count, done) = &mut self.arms[usize::from(given)];
        *count += 1.0;
        *done += outcome;
    }

    fn is_better(&self) -> bool {
        let [without, with] = self.arms.map(|(count, done)| done / count);
        with > without
    }
}

/// The share of verdicts that are false at each look, the true ones at the end, and the share that are false by the point score.
fn one(seed: Seed, effective: usize, library: usize) -> (Vec<f64>, usize, f64) {
    let mut skills: Vec<Skill> = (0..SKILLS).map(|_| Skill::new()).collect();
    let mut draws = Draws::of(seed, &format!("{effective} of {SKILLS}"), library);
    let (mut looks, mut found) = (Vec::new(), 0);
    for number in 0..ATTEMPTS {
        for (place, skill) in skills.iter_mut().enumerate() {
            let stream = Stream {
                name: "",
                kind: Kind::Coin,
                without: (0.5, 0.5),
                effect: if place < effective { 0.3 } else { 0.0 },
                share: SHARE,
            };
            let (given, outcome) = stream.task(0.0, &mut draws);
            skill.add(given, outcome);
        }
        if (number + 1) % EVERY != 0 {
            continue;
        }
        let evidence = skills.iter();
        let evidence = evidence.flat_map(|skill| [skill.gain.value(), skill.harm.value()]);
        let said = discoveries(&evidence.collect::<Vec<_>>(), ERROR);
        let said = said.chunks(2).map(|one| (one[0], one[1]));
        let (mut right, mut wrong) = (0, 0);
        for (place, (helps, harms)) in said.enumerate() {
            right += usize::from(helps && place < effective);
            wrong += usize::from(harms) + usize::from(helps && place >= effective);
        }
        looks.push(wrong as f64 / (right + wrong).max(1) as f64);
        found = right;
    }
    let let_in = skills.iter().filter(|skill| skill.is_better()).count();
    let wrongly = skills[effective..].iter().filter(|skill| skill.is_better());
    (looks, found, wrongly.count() as f64 / let_in.max(1) as f64)
}
