//! How the model acts and writes skills.

use std::fmt::Write as _;

use journeyman::Result;
use journeyman_toolworld::policy::Policy;
use journeyman_toolworld::rivals::{irrelevant_skill, stale_skill};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::simulate::Simulation;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{ContractForm, World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::arena::Arena;
use crate::share::{Apart, Share};

/// What acting and writing came to. A pair is: at the first attempt, and within two retries.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Acting {
    /// With no skill in the prompt.
    pub none: (Apart, Apart),
    /// With the right one.
    pub right: (Apart, Apart),
    /// With an irrelevant one.
    pub irrelevant: (Apart, Apart),
    /// With both, in either order.
    pub both: (Apart, Apart),
    /// Skills written from successes that are fully right.
    pub written: Apart,
    /// A new task with the skill of its own writing, at the first attempt; without one where none was written.
    pub own: Apart,
    /// With a stale skill: recovered within two retries.
    pub stale: Share,
    /// Of those: a corrected skill, fully right; of all.
    pub corrected: Share,
}

fn one_world(
    arena: &Arena,
    spec: &WorldSpec,
    acting: &mut Acting,
    draws: &mut Draws,
) -> Result<()> {
    let world = World::make(spec, draws);
    let hidden = world.is_hidden();
    let Some(right) = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()))
    else {
        return Ok(());
    };
    let episode = draws.below(1 << 40) as u64;
    let add = |row: &mut (Apart, Apart), world: &World, skills: &[&SkillText]| {
        let tried = arena.attempt(world, skills, episode)?;
        row.0.add(hidden, tried.first);
        row.1.add(hidden, tried.recovered);
        Ok::<_, journeyman::Error>(tried)
    };
    let tried = add(&mut acting.none, &world, &[])?;
    add(&mut acting.right, &world, &[&right])?;
    let mut beside = world.clone();
    let other = irrelevant_skill(spec, &mut beside, draws);
    add(&mut acting.irrelevant, &beside, &[&other])?;
    let pair = if draws.chance(0.5) {
        [&right, &other]
    } else {
        [&other, &right]
    };
    add(&mut acting.both, &beside, &pair)?;

    let written = if tried.success {
        arena.write(&tried)?
    } else {
        None
    };
    let Some(next) = world.again(spec, draws) else {
        return Ok(());
    };
    if tried.success {
        let sound = written.as_ref().is_some_and(|skill| is_right(&next, skill));
        acting.written.add(hidden, sound);
    }
    let skills: Vec<&SkillText> = written.iter().collect();
    let again = arena.attempt(&next, &skills, episode + 1)?;
    acting.own.add(hidden, again.first);
    Ok(())
}

fn stale_world(
    arena: &Arena,
    spec: &WorldSpec,
    acting: &mut Acting,
    draws: &mut Draws,
) -> Result<()> {
    let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let Some(stale) = stale_skill(spec, &mut world, draws) else {
        return Ok(());
    };
    let tried = arena.attempt(&world, &[&stale], draws.below(1 << 40) as u64)?;
    acting.stale.add(tried.recovered);
    if let Some(next) = world.again(spec, draws) {
        let written = if tried.recovered {
            arena.write(&tried)?
        } else {
            None
        };
        acting
            .corrected
            .add(written.is_some_and(|skill| is_right(&next, &skill)));
    }
    Ok(())
}

/// Whether a policy that follows the skill does another task of the same contract at the first attempt.
fn is_right(world: &World, skill: &SkillText) -> bool {
    let mut simulation = Simulation::start(world.clone(), 1);
    let Some(policy) = Policy::follower(world, skill) else {
        return false;
    };
    let _trace = policy.run(&mut simulation, 8);
    let slots_kept = world.target().is_some_and(|target| {
        let steps = SkillText::of(target, &world.given_names()).steps;
        steps.last() == skill.steps.last()
    });
    skill.title == world.goal.target && slots_kept && simulation.is_first_attempt()
}

impl Acting {
    /// Measures over `count` worlds of a seed.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, spec: &WorldSpec, seed: u64, count: usize) -> Result<Self> {
        let mut acting = Self::default();
        for number in 0..count {
            let draws = |label| Draws::new(label, &[seed, number as u64]);
            one_world(arena, spec, &mut acting, &mut draws("evaluation"))?;
            stale_world(arena, spec, &mut acting, &mut draws("evaluation-stale"))?;
        }
        Ok(acting)
    }

    /// The tables of the card.
    #[must_use]
    pub fn tables(&self) -> String {
        let mut out = String::from(
            "| skill in the prompt | hidden, first attempt | hidden, within 2 retries | plain, first attempt | plain, within 2 retries |\n|---|---|---|---|---|\n",
        );
        let rows = [
            ("none", &self.none),
            ("the right one", &self.right),
            ("an irrelevant one", &self.irrelevant),
            ("both", &self.both),
        ];
        for (name, (first, recovered)) in rows {
            let _ = writeln!(
                out,
                "| {name} | {} | {} | {} | {} |",
                first.hidden, recovered.hidden, first.plain, recovered.plain
            );
        }
        let _ = write!(
            out,
            "\n| writing | hidden | plain |\n|---|---|---|\n\
             | skill written from a success, fully right | {} | {} |\n\
             | new task with the skill of its own writing, first attempt | {} | {} |\n\
             | stale skill: recovered within 2 retries | {} | |\n\
             | stale skill: corrected skill fully right, of all | {} | |\n",
            self.written.hidden,
            self.written.plain,
            self.own.hidden,
            self.own.plain,
            self.stale,
            self.corrected
        );
        out
    }
}
