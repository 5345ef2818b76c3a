//! The gate: ten hard candidates, of which one is right or none.

use std::fmt::Write as _;

use journeyman::Result;
use journeyman_toolworld::rivals::rivals;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{ContractForm, World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::arena::{Arena, Score};
use crate::overlap;
use crate::share::Share;

/// Candidates of a query.
const CANDIDATES: usize = 10;
/// Worlds on which the threshold is set.
const FITTING: usize = 100;

/// One query and its candidates.
struct Case {
    world: World,
    candidates: Vec<SkillText>,
    scores: Vec<Score>,
    right: usize,
    draw: usize,
    episode: u64,
}

/// What choosing among ten hard candidates came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Gate {
    /// Success at the first attempt: none, random, top by word overlap, top by BM25, PMI above the threshold, oracle.
    pub acted: [Share; 6],
    /// The right one first: word overlap, BM25, sum, mean, PMI.
    pub top: [Share; 5],
    /// With the right one absent, the threshold still injects.
    pub absent: Share,
    /// The threshold lets the right one through.
    pub passed: Share,
    /// Nats, set on other worlds.
    pub threshold: f64,
}

fn case(arena: &Arena, spec: &WorldSpec, draws: &mut Draws) -> Result<Option<Case>> {
    let world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let Some(skill) = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()))
    else {
        return Ok(None);
    };
    let mut candidates = rivals(spec, &world, CANDIDATES - 1, draws);
    let right = draws.below(CANDIDATES);
    candidates.insert(right, skill);
    let scores = arena.score(&world.query, &candidates)?;
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
fn fit(arena: &Arena, spec: &WorldSpec, seed: u64) -> Result<f64> {
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for number in 0..FITTING {
        if let Some(case) = case(
            arena,
            spec,
            &mut Draws::new("evaluation-threshold", &[seed, number as u64]),
        )? {
            right.push(case.pmi(case.right));
            wrong.push(case.best_wrong());
        }
    }
    right.sort_by(f64::total_cmp);
    wrong.sort_by(|a, b| b.total_cmp(a));
    let at = |values: &[f64]| values.get(2).or(values.last()).copied().unwrap_or_default();
    Ok((at(&right) + at(&wrong)) / 2.0)
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
    /// Measures over `count` worlds with hidden contracts of a seed.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, spec: &WorldSpec, seed: u64, count: usize) -> Result<Self> {
        let mut gate = Self {
            threshold: fit(arena, spec, seed)?,
            ..Self::default()
        };
        for number in 0..count {
            let mut draws = Draws::new("evaluation-gate", &[seed, number as u64]);
            if let Some(case) = case(arena, spec, &mut draws)? {
                gate.add(arena, &case)?;
            }
        }
        Ok(gate)
    }

    fn add(&mut self, arena: &Arena, case: &Case) -> Result<()> {
        let threshold = self.threshold;
        let by =
            |score: fn(&Score) -> f64| best(&case.scores.iter().map(score).collect::<Vec<_>>());
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
        let gated = (case.pmi(tops[4]) > threshold).then_some(tops[4]);
        let chosen = [
            None,
            Some(case.draw),
            Some(tops[0]),
            Some(tops[1]),
            gated,
            Some(case.right),
        ];
        for (share, at) in self.acted.iter_mut().zip(chosen) {
            share.add(case.first(arena, at)?);
        }
        self.absent.add(case.best_wrong() > threshold);
        self.passed.add(case.pmi(case.right) > threshold);
        Ok(())
    }

    /// The table of the card.
    #[must_use]
    pub fn tables(&self) -> String {
        let threshold = self.threshold;
        let mut out = String::from(
            "| selection among 10 | first attempt | right one first |\n|---|---|---|\n",
        );
        let [none, random, words, bm25, pmi, oracle] = &self.acted;
        let [top_words, top_bm25, top_sum, top_mean, top_pmi] = &self.top;
        let _ = write!(
            out,
            "| none | {none} | |\n| random | {random} | |\n| top by word overlap | {words} | {top_words} |\n\
             | top by BM25 | {bm25} | {top_bm25} |\n| top by summed log-probability | | {top_sum} |\n\
             | top by mean log-probability | | {top_mean} |\n| PMI above {threshold:.1} nats | {pmi} | {top_pmi} |\n\
             | oracle | {oracle} | |\n\n\
             The threshold, set on {FITTING} other worlds, lets {} of right ones through; with no right one there it \
             injects in {}.\n",
            self.passed, self.absent
        );
        out
    }
}
