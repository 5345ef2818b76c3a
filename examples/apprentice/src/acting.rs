//! How the model acts and writes skills.

use std::fmt::Write as _;

use journeyman::Result;
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::policy::Policy;
use journeyman_toolworld::rivals::{irrelevant_skill, stale_service};
use journeyman_toolworld::roles::Credit;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::simulate::Simulation;
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{World, WorldSpec};
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
    /// The stale skill repaired from that attempt, fully right; of all.
    pub repaired: Share,
    /// Where the service demands something this once: done within the step budget without a skill; recovered within two
    /// retries with the skill for what it always demands; written from the first, what that attempt shows, the passing
    /// demand with it, which a single attempt cannot tell from the others.
    pub passing: [Share; 3],
    /// Credit given rightly to the skills of its own attempts: helpful, harmful, neutral.
    pub credited: [Share; 3],
    /// Says which skill it uses, or none, rightly: with the right one, an irrelevant one, both.
    pub chosen: [Share; 3],
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
    let followed = add(&mut acting.right, &world, &[&right])?;
    let [chosen, _, _] = &mut acting.chosen;
    chosen.add(followed.used() == [true]);
    let [helpful, _, neutral] = &mut acting.credited;
    if hidden && followed.first {
        helpful.add(arena.credit(&followed, 0)? == Credit::Helpful.word());
    }
    let mut beside = world.clone();
    let other = irrelevant_skill(spec, &mut beside, draws);
    let skipped = add(&mut acting.irrelevant, &beside, &[&other])?;
    let [_, chosen, _] = &mut acting.chosen;
    chosen.add(skipped.used() == [false]);
    if skipped.used() == [false] {
        neutral.add(arena.credit(&skipped, 0)? == Credit::Neutral.word());
    }
    let right_first = draws.chance(0.5);
    let pair = if right_first {
        [&right, &other]
    } else {
        [&other, &right]
    };
    let followed = add(&mut acting.both, &beside, &pair)?;
    let [_, _, chosen] = &mut acting.chosen;
    chosen.add(followed.used() == [right_first, !right_first]);

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

/// One more plain world, with no skill and with an irrelevant one: of the others only a fifth are plain.
fn plain_world(
    arena: &Arena,
    spec: &WorldSpec,
    acting: &mut Acting,
    draws: &mut Draws,
) -> Result<()> {
    let mut world = World::with_form(spec, ContractForm::Plain, draws);
    let other = irrelevant_skill(spec, &mut world, draws);
    let episode = draws.below(1 << 40) as u64;
    for (row, skills) in [
        (&mut acting.none, &[][..]),
        (&mut acting.irrelevant, &[&other]),
    ] {
        let tried = arena.attempt(&world, skills, episode)?;
        row.0.add(false, tried.first);
        row.1.add(false, tried.recovered);
    }
    Ok(())
}

fn stale_world(
    arena: &Arena,
    spec: &WorldSpec,
    acting: &mut Acting,
    draws: &mut Draws,
) -> Result<()> {
    let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let Some(old) = stale_service(spec, &mut world, draws) else {
        return Ok(());
    };
    let stale = SkillText::of(&old, &world.given_names());
    let tried = arena.attempt(&world, &[&stale], draws.below(1 << 40) as u64)?;
    acting.stale.add(tried.recovered);
    let contract = world.target().map_or(&[][..], |target| &target.contract);
    let outdated = old.contract.iter().any(|demand| !contract.contains(demand));
    if outdated && tried.used() == [true] && !tried.first {
        let [_, harmful, _] = &mut acting.credited;
        harmful.add(arena.credit(&tried, 0)? == Credit::Harmful.word());
    }
    if let Some(next) = world.again(spec, draws) {
        let repaired = arena.repair(&tried)?;
        acting
            .repaired
            .add(repaired.is_some_and(|skill| is_right(&next, &skill)));
    }
    Ok(())
}

fn passing_world(
    arena: &Arena,
    spec: &WorldSpec,
    acting: &mut Acting,
    draws: &mut Draws,
) -> Result<()> {
    let world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let (Some(target), Some(met)) = (world.target(), world.with_passing(spec, None, draws)) else {
        return Ok(());
    };
    let lasting = SkillText::of(target, &world.given_names());
    let episode = draws.below(1 << 40) as u64;
    let [done, recovered, written] = &mut acting.passing;
    let alone = arena.attempt(&met, &[], episode)?;
    done.add(alone.success);
    recovered.add(arena.attempt(&met, &[&lasting], episode)?.recovered);
    if let (true, Some(next)) = (alone.success, met.again(spec, draws)) {
        let skill = arena.write(&alone)?;
        written.add(skill.is_some_and(|skill| is_right(&next, &skill)));
    }
    Ok(())
}

/// Whether a policy that follows the skill does another task of the same contract at the first attempt.
pub(crate) fn is_right(world: &World, skill: &SkillText) -> bool {
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
    /// Measures over `count` worlds of a seed, each of the kind that `spec` draws, and half as many plain ones.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(
        arena: &Arena,
        spec: impl Fn(&mut Draws) -> WorldSpec,
        seed: u64,
        count: usize,
    ) -> Result<Self> {
        let mut acting = Self::default();
        for number in 0..count {
            let mut draws = Draws::new("evaluation", &[seed, number as u64]);
            one_world(arena, &spec(&mut draws), &mut acting, &mut draws)?;
            let mut draws = Draws::new("evaluation-stale", &[seed, number as u64]);
            stale_world(arena, &spec(&mut draws), &mut acting, &mut draws)?;
            let mut draws = Draws::new("evaluation-passing", &[seed, number as u64]);
            passing_world(arena, &spec(&mut draws), &mut acting, &mut draws)?;
            if number % 2 == 0 {
                let mut draws = Draws::new("evaluation-plain", &[seed, number as u64]);
                plain_world(arena, &spec(&mut draws), &mut acting, &mut draws)?;
            }
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
             | stale skill: repaired, fully right, of all | {} | |\n\
             | a demand that passes, no skill: done | {} | |\n\
             | a demand that passes, the lasting skill: recovered within 2 retries | {} | |\n\
             | a demand that passes: skill written says what was met, that demand with it | {} | |\n\n\
             Credit to the skills of its own attempts, right: helpful {}, harmful {}, neutral {}.\n\n\
             It says rightly which skill it uses, or none: {} of the right one alone, {} of an irrelevant one, {} of \
             both.\n",
            self.written.hidden,
            self.written.plain,
            self.own.hidden,
            self.own.plain,
            self.stale,
            self.repaired,
            self.passing[0],
            self.passing[1],
            self.passing[2],
            self.credited[0],
            self.credited[1],
            self.credited[2],
            self.chosen[0],
            self.chosen[1],
            self.chosen[2]
        );
        out
    }
}
