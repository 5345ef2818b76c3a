//! The gate: ten hard candidates, of which one is right.

use std::time::Duration;

use futures::executor::block_on;
use journeyman::Result;
use journeyman::contract::{PromptFormat as _, ScoreRequest};
use journeyman::domain::Skill;
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::general::manner::Manner;
use journeyman_toolworld::general::recipe::Recipe;
use journeyman_toolworld::general::skills::skill;
use journeyman_toolworld::general::styles::Style;
use journeyman_toolworld::rivals::rivals;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::arena::Arena;
use crate::overlap;
use crate::share::Share;
use crate::variant::Variant;

/// Candidates of a query.
const CANDIDATES: usize = 10;
/// Ways of choosing, in the order of [`Gate::top`].
pub const METHODS: [&str; 7] = [
    "random",
    "word overlap",
    "BM25",
    "sum",
    "mean",
    "PMI",
    "fits",
];

/// What choosing among ten hard candidates came to.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Gate {
    /// The right one first, by [`METHODS`].
    pub top: [Share; METHODS.len()],
    /// First attempt with what BM25 and PMI choose, with none, and with the right one.
    pub acted: [Share; 4],
}

impl Gate {
    /// Measures over `count` worlds with hidden contracts of a seed.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, seed: u64, count: usize) -> Result<Self> {
        let mut gate = Self::default();
        for number in 0..count as u64 {
            let mut draws = Draws::new("general evaluation, gate", &[seed, number]);
            gate.add(arena, &mut draws)?;
        }
        Ok(gate)
    }

    fn add(&mut self, arena: &Arena, draws: &mut Draws) -> Result<()> {
        let spec = WorldSpec::wide(draws);
        let world = World::with_form(&spec, ContractForm::draw_hidden(draws), draws);
        let Some(own) = Recipe::of_target(&world) else {
            return Ok(());
        };
        let mut texts: Vec<SkillText> = rivals(&spec, &world, CANDIDATES - 1, draws);
        let right = draws.below(CANDIDATES);
        texts.insert(right, own.step_list());
        let mut skills: Vec<Skill> = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            // A step list does not say which of several calls gives a value; the right one is known.
            let recipe = match at == right {
                true => Some(own.clone()),
                false => Recipe::of_steps(text),
            };
            if let Some(recipe) = recipe {
                let style = Style::draw(&recipe.tool, draws);
                skills.push(skill(&recipe, style, draws));
            }
        }
        if skills.len() != CANDIDATES {
            return Ok(());
        }
        let with = scores(arena, &world.query, &skills)?;
        let without = scores(arena, "", &skills)?;
        let sums: Vec<f64> = with.iter().map(|(sum, _)| *sum).collect();
        let means: Vec<f64> = with.iter().map(|(_, mean)| *mean).collect();
        let pmi: Vec<f64> = with.iter().zip(&without).map(|(a, b)| a.0 - b.0).collect();
        let tops = [
            draws.below(CANDIDATES),
            best(&overlap::words(&world.query, &texts)),
            best(&overlap::bm25(&world.query, &texts)),
            best(&sums),
            best(&means),
            best(&pmi),
            best(&fits(arena, &world.query, &skills)?),
        ];
        for (share, top) in self.top.iter_mut().zip(tops) {
            share.add(top == right);
        }
        let manner = Manner::named(draws);
        let episode = draws.below(1 << 40) as u64;
        let chosen = [Some(tops[2]), Some(tops[5]), None, Some(right)];
        for (share, at) in self.acted.iter_mut().zip(chosen) {
            let skills: Vec<Skill> = at
                .and_then(|at| skills.get(at))
                .cloned()
                .into_iter()
                .collect();
            let tried = arena.attempt(&world, &manner, &skills, Variant::Plain, episode)?;
            share.add(tried.first);
        }
        Ok(())
    }
}

/// Sum and mean of the log-probabilities of each skill's text behind a query.
fn scores(arena: &Arena, query: &str, skills: &[Skill]) -> Result<Vec<(f64, f64)>> {
    let request = ScoreRequest::new(
        arena.prompt_format.score_prompt(query),
        skills
            .iter()
            .map(|skill| arena.prompt_format.skill_text(skill))
            .collect(),
    )
    .with_max_continuation_tokens(256)
    .with_time_limit(Duration::from_secs(120));
    let scores = block_on(arena.scorer.score(&request))?;
    Ok(scores
        .iter()
        .map(|scores| (scores.sum(), scores.mean()))
        .collect())
}

/// For each skill how much more probable it is by the model's answer that it fits than that it does not, in nats.
fn fits(arena: &Arena, query: &str, skills: &[Skill]) -> Result<Vec<f64>> {
    let mut found = Vec::new();
    for skill in skills {
        let text = arena.prompt_format.skill_text(skill);
        let question = arena.prompt_format.fit_question(query, &text)?;
        let request = ScoreRequest::new(question.prompt, vec![question.fits, question.does_not])
            .with_max_continuation_tokens(16)
            .with_time_limit(Duration::from_secs(120));
        let scores = block_on(arena.scorer.score(&request))?;
        let sum = |at: usize| scores.get(at).map_or(f64::NEG_INFINITY, |one| one.sum());
        found.push(sum(0) - sum(1));
    }
    Ok(found)
}

fn best(values: &[f64]) -> usize {
    let places = 0..values.len();
    let by = |a: &usize, b: &usize| {
        let value = |at: &usize| values.get(*at).copied().unwrap_or(f64::NEG_INFINITY);
        value(a).total_cmp(&value(b))
    };
    places.max_by(by).unwrap_or_default()
}
