//! The gate: ten hard candidates, of which one is right or none.

use std::fmt::Write as _;

use journeyman::Result;
use journeyman::select::GatePolicy;
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::rivals::rivals;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::arena::{Arena, Score};
use crate::overlap;
use crate::share::Share;

/// Candidates of a query.
const CANDIDATES: usize = 10;
/// Where the bins of the calibration curve end, in nats of PMI.
const EDGES: [f64; 7] = [-10.0, -5.0, 0.0, 2.5, 5.0, 7.5, 10.0];
/// Worlds on which the threshold is set.
const FITTING: usize = 100;

/// One query and its candidates.
struct Case {
    world: World,
    candidates: Vec<SkillText>,
    /// Of the candidates, and of the wrong one that stands in the right one's place where none is right.
    scores: Vec<Score>,
    right: usize,
    draw: usize,
    episode: u64,
}

/// What an absolute gate does.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub struct Threshold {
    /// With ten wrong candidates and no right one, it still injects.
    pub absent: Share,
    /// The right one of ten ranks first and is let through.
    pub passed: Share,
    /// Success at the first attempt with what it lets through.
    pub acted: Share,
}

/// What choosing among ten hard candidates came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Gate {
    /// Success at the first attempt: none, random, top by word overlap, top by BM25, oracle.
    pub acted: [Share; 5],
    /// The right one first: word overlap, BM25, sum, mean, PMI.
    pub top: [Share; 5],
    /// The threshold that the standard recipe has.
    pub shipped: Threshold,
    /// One that was set on other held-out worlds.
    pub fitted: Threshold,
    /// Its value, in nats.
    pub threshold: f64,
    /// How often a candidate is the right one, by its PMI between the edges of the bins.
    pub calibration: [Share; EDGES.len() + 1],
    /// PMI of right ones, in nats.
    pub right: Vec<f64>,
    /// The best PMI of the wrong ones of each query.
    pub wrong: Vec<f64>,
}

fn case(arena: &Arena, spec: &WorldSpec, draws: &mut Draws) -> Result<Option<Case>> {
    let world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let Some(skill) = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()))
    else {
        return Ok(None);
    };
    let mut candidates = rivals(spec, &world, CANDIDATES, draws);
    let right = draws.below(CANDIDATES);
    candidates.push(skill);
    candidates.swap(right, CANDIDATES);
    let scores = arena.score(&world.query, &candidates)?;
    candidates.truncate(CANDIDATES);
    let draw = draws.below(CANDIDATES);
    Ok(Some(Case {
        world,
        candidates,
        scores,
        right,
        draw,
        episode: draws.below(1 << 40) as u64,
    }))
}

/// Half way between the lowest but two in a hundred of right ones and the highest but two of the best wrong ones.
fn fit(arena: &Arena, spec: &impl Fn(&mut Draws) -> WorldSpec, seed: u64) -> Result<f64> {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for number in 0..FITTING {
        let mut draws = Draws::new("evaluation-threshold", &[seed, number as u64]);
        if let Some(case) = case(arena, &spec(&mut draws), &mut draws)? {
            right.push(case.pmi(case.right));
            wrong.push(case.best_wrong());
        }
    }
    right.sort_by(f64::total_cmp);
    wrong.sort_by(|a, b| b.total_cmp(a));
    let at = |values: &[f64]| values.get(2).or(values.last()).copied().unwrap_or_default();
    Ok((at(&right) + at(&wrong)) / 2.0)
}

/// The value under which that part of the values lies; not a number of none.
fn quantile(values: &[f64], part: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (part * sorted.len() as f64) as usize;
    sorted
        .get(at)
        .or(sorted.last())
        .copied()
        .unwrap_or(f64::NAN)
}

/// The absolute threshold of the standard recipe, in nats.
fn shipped_threshold() -> f64 {
    GatePolicy::default().absolute.unwrap_or(f64::INFINITY)
}

fn best(values: &[f64]) -> usize {
    (0..values.len())
        .max_by(|&a, &b| {
            values
                .get(a)
                .partial_cmp(&values.get(b))
                .unwrap_or(std::cmp::Ordering::Equal)
        })
        .unwrap_or_default()
}

impl Case {
    fn pmi(&self, at: usize) -> f64 {
        self.scores
            .get(at)
            .map_or(f64::NEG_INFINITY, |score| score.pmi)
    }

    fn best_wrong(&self) -> f64 {
        (0..self.scores.len())
            .filter(|&at| at != self.right)
            .map(|at| self.pmi(at))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    fn first(&self, arena: &Arena, at: Option<usize>) -> Result<bool> {
        let skills: Vec<&SkillText> = at
            .and_then(|at| self.candidates.get(at))
            .into_iter()
            .collect();
        Ok(arena.attempt(&self.world, &skills, self.episode)?.first)
    }
}

impl Gate {
    /// Measures over `count` worlds with hidden contracts of a seed, each of the kind that `spec` draws.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(
        arena: &Arena,
        spec: impl Fn(&mut Draws) -> WorldSpec,
        seed: u64,
        count: usize,
    ) -> Result<Self> {
        let mut gate = Self {
            threshold: fit(arena, &spec, seed)?,
            ..Self::default()
        };
        for number in 0..count {
            let mut draws = Draws::new("evaluation-gate", &[seed, number as u64]);
            if let Some(case) = case(arena, &spec(&mut draws), &mut draws)? {
                gate.add(arena, &case)?;
            }
        }
        Ok(gate)
    }

    fn add(&mut self, arena: &Arena, case: &Case) -> Result<()> {
        let threshold = self.threshold;
        let ten = case.scores.get(..CANDIDATES).unwrap_or_default();
        let by = |score: fn(&Score) -> f64| best(&ten.iter().map(score).collect::<Vec<_>>());
        let tops = [
            best(&overlap::words(&case.world.query, &case.candidates)),
            best(&overlap::bm25(&case.world.query, &case.candidates)),
            by(|score| score.sum),
            by(|score| score.mean),
            by(|score| score.pmi),
        ];
        for (share, top) in self.top.iter_mut().zip(tops) {
            share.add(top == case.right);
        }
        let chosen = [
            None,
            Some(case.draw),
            Some(tops[0]),
            Some(tops[1]),
            Some(case.right),
        ];
        for (share, at) in self.acted.iter_mut().zip(chosen) {
            share.add(case.first(arena, at)?);
        }
        for at in 0..case.scores.len() {
            let bin = EDGES.iter().filter(|&&edge| case.pmi(at) > edge).count();
            if let Some(share) = self.calibration.get_mut(bin) {
                share.add(at == case.right);
            }
        }
        self.right.push(case.pmi(case.right));
        self.wrong.push(case.best_wrong());
        let [_, _, _, _, top] = tops;
        for (gate, threshold) in [
            (&mut self.shipped, shipped_threshold()),
            (&mut self.fitted, threshold),
        ] {
            let gated = (case.pmi(top) > threshold).then_some(top);
            gate.absent.add(case.best_wrong() > threshold);
            gate.passed.add(gated == Some(case.right));
            gate.acted.add(case.first(arena, gated)?);
        }
        Ok(())
    }

    /// The table of the card.
    #[must_use]
    pub fn tables(&self) -> String {
        let threshold = self.threshold;
        let mut out = String::from(
            "| selection among 10 | first attempt | right one first |\n|---|---|---|\n",
        );
        let [none, random, words, bm25, oracle] = &self.acted;
        let ships = shipped_threshold();
        let [top_words, top_bm25, top_sum, top_mean, top_pmi] = &self.top;
        let _ = write!(
            out,
            "| none | {none} | |\n| random | {random} | |\n| top by word overlap | {words} | {top_words} |\n\
             | top by BM25 | {bm25} | {top_bm25} |\n| top by summed log-probability | | {top_sum} |\n\
             | top by mean log-probability | | {top_mean} |\n| PMI above {ships:.1} nats | {} | {top_pmi} |\n\
             | PMI above {threshold:.1} nats | {} | |\n| oracle | {oracle} | |\n\n\
             {ships:.1} nats is what the standard recipe has: it lets {} of right ones through; with ten wrong ones and \
             no right one it injects in {}. {threshold:.1} was set on {FITTING} other held-out worlds: {} and {}.\n\n\
             | PMI, nats | candidates | of them right |\n|---|---|---|\n",
            self.shipped.acted,
            self.fitted.acted,
            self.shipped.passed,
            self.shipped.absent,
            self.fitted.passed,
            self.fitted.absent
        );
        for (bin, share) in self.calibration.iter().enumerate() {
            let low = bin.checked_sub(1).and_then(|at| EDGES.get(at));
            let name = match (low, EDGES.get(bin)) {
                (Some(low), Some(high)) => format!("{low} to {high}"),
                (Some(low), None) => format!("over {low}"),
                (None, Some(high)) => format!("up to {high}"),
                (None, None) => "all".to_owned(),
            };
            let _ = writeln!(out, "| {name} | {} | {share} |", share.count());
        }
        let of = |values: &[f64]| [0.03, 0.5, 0.97].map(|part| quantile(values, part));
        let ([r3, r50, r97], [w3, w50, w97]) = (of(&self.right), of(&self.wrong));
        let _ = writeln!(
            out,
            "\nPMI at the 3rd, 50th and 97th hundredth: right ones {r3:.1}, {r50:.1}, {r97:.1}; the best of ten \
             wrong ones {w3:.1}, {w50:.1}, {w97:.1}."
        );
        out
    }
}
