//! How the model acts: with and without skills, with refusals of both kinds, and with changed prompts.

use std::collections::BTreeMap;

use journeyman::Result;
use journeyman::contract::{RoleAnswer, RoleTask};
use journeyman::domain::Skill;
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::general::manner::{Manner, Refusals};
use journeyman_toolworld::general::opaque::can_be_found_out;
use journeyman_toolworld::general::recipe::Recipe;
use journeyman_toolworld::general::skills::{draft, of_draft, read, skill};
use journeyman_toolworld::general::styles::Style;
use journeyman_toolworld::rivals::irrelevant_skill;
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::world::{World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::arena::{Arena, Tried};
use crate::share::{Apart, Share};
use crate::variant::Variant;

/// How the model acts and what it writes of its own attempts.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Acting {
    /// No skill: first attempt, and within two retries.
    pub none: (Apart, Apart),
    /// The right skill: first attempt.
    pub right: Apart,
    /// An irrelevant one: first attempt, and within two retries.
    pub irrelevant: (Apart, Apart),
    /// Both: first attempt.
    pub both: Apart,
    /// The answer cites the skill that it follows: the right one alone, an irrelevant one, both.
    pub cited: [Share; 3],
    /// Of worlds with a hidden contract: the skill that it writes from a success does what the contract demands.
    pub written: Share,
    /// A new task of the same contract with that skill: first attempt.
    pub own: Share,
    /// Refusals that do not say what is missing: without a skill, done; with the skill that it wrote of its own success, or
    /// none where it wrote none, first attempt; and without one.
    pub opaque: [Share; 3],
    /// Of each of those new tasks, the first attempt with the skill less the one without: 1, 0 or -1.
    pub gained: Vec<f64>,
}

/// First attempts with the right skill in worlds with a hidden contract, by change of the prompt.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Robust {
    /// By the change's words.
    pub by_change: BTreeMap<String, Share>,
}

/// A world with its skills.
struct Scene {
    world: World,
    manner: Manner,
    right: Skill,
    wrong: Skill,
    episode: u64,
}

impl Scene {
    fn draw(form: Option<ContractForm>, draws: &mut Draws) -> Option<Self> {
        let spec = WorldSpec::wide(draws);
        let mut world = match form {
            Some(form) => World::with_form(&spec, form, draws),
            None => World::make(&spec, draws),
        };
        let other = Recipe::of_steps(&irrelevant_skill(&spec, &mut world, draws));
        let own = Recipe::of(world.target()?, &world.given_names());
        let other = other?;
        let right = skill(&own, Style::draw(&own.tool, draws), draws);
        let mut wrong = skill(&other, Style::draw(&other.tool, draws), draws);
        if wrong.name == right.name {
            wrong = of_draft(&draft(&Recipe::of_steps(&irrelevant_skill(
                &spec, &mut world, draws,
            ))?));
        }
        Some(Self {
            manner: Manner::named(draws),
            world,
            right,
            wrong,
            episode: draws.below(1 << 40) as u64,
        })
    }
}

/// Whether the agent said in its first answer that it follows the skill of this name, or none.
fn cites(tried: &Tried, name: Option<&Skill>) -> bool {
    let first = tried.trace.trajectory.steps.first();
    let line = first.and_then(|step| step.transcript.lines().next());
    let said = line.and_then(|line| line.trim().strip_prefix("Skill:"));
    let wanted = name.map_or("none", |skill| {
        skill
            .original_name
            .as_deref()
            .unwrap_or(skill.name.as_str())
    });
    said.map(str::trim) == Some(wanted)
}

impl Acting {
    /// Measures in `count` worlds of a seed.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, seed: u64, count: usize) -> Result<Self> {
        let mut acting = Self::default();
        for number in 0..count as u64 {
            let mut draws = Draws::new("general evaluation", &[seed, number]);
            if let Some(scene) = Scene::draw(None, &mut draws) {
                acting.add(arena, &scene, &mut draws)?;
            }
        }
        for number in 0..count as u64 {
            let mut draws = Draws::new("general evaluation, opaque", &[seed, number]);
            let form = ContractForm::draw_hidden(&mut draws);
            let found_out = |scene: &Scene| can_be_found_out(&scene.world);
            if let Some(scene) = Scene::draw(Some(form), &mut draws).filter(found_out) {
                acting.add_opaque(arena, scene, &mut draws)?;
            }
        }
        Ok(acting)
    }

    /// The attempts with the right skill that were not done at the first attempt, for a person to read: what the skill says, what
    /// the agent wrote, and what came of it.
    ///
    /// # Errors
    /// What the model gives.
    pub fn failed(arena: &Arena, seed: u64, count: usize) -> Result<Vec<String>> {
        let mut failed = Vec::new();
        for number in 0..count as u64 {
            let mut draws = Draws::new("general evaluation", &[seed, number]);
            let Some(scene) = Scene::draw(None, &mut draws) else {
                continue;
            };
            let skills = std::slice::from_ref(&scene.right);
            let (world, manner) = (&scene.world, &scene.manner);
            let tried = arena.attempt(world, manner, skills, Variant::Plain, scene.episode)?;
            if tried.first {
                continue;
            }
            let mut text = format!("task: {}\n{}\n", world.query, scene.right.body);
            for step in &tried.trace.trajectory.steps {
                text.push_str(&format!("{}\n=> {}\n", step.transcript, step.result.text));
            }
            text.push_str(&format!("{}\n", tried.trace.trajectory.end));
            failed.push(text);
        }
        Ok(failed)
    }

    /// Every share with its name.
    #[must_use]
    pub fn shares(&self) -> Vec<(&'static str, Share)> {
        vec![
            ("right skill, hidden, first attempt", self.right.hidden),
            ("right skill, plain, first attempt", self.right.plain),
            ("no skill, hidden, first attempt", self.none.0.hidden),
            ("no skill, plain, first attempt", self.none.0.plain),
            ("no skill, hidden, within 2 retries", self.none.1.hidden),
            (
                "irrelevant skill, plain, first attempt",
                self.irrelevant.0.plain,
            ),
            (
                "irrelevant skill, hidden, within 2 retries",
                self.irrelevant.1.hidden,
            ),
            ("both skills, hidden, first attempt", self.both.hidden),
            ("cites the right skill", self.cited[0]),
            ("cites no irrelevant skill", self.cited[1]),
            ("cites the right one of both", self.cited[2]),
            ("skill written from a success, fully right", self.written),
            ("new task with its own skill, first attempt", self.own),
            ("opaque, no skill, done", self.opaque[0]),
            ("opaque, its own skill, first attempt", self.opaque[1]),
            ("opaque, no skill, first attempt", self.opaque[2]),
        ]
    }

    fn add(&mut self, arena: &Arena, scene: &Scene, draws: &mut Draws) -> Result<()> {
        let Scene {
            world,
            manner,
            right,
            wrong,
            episode,
        } = scene;
        let hidden = world.is_hidden();
        let act = |skills: &[Skill]| arena.attempt(world, manner, skills, Variant::Plain, *episode);
        let none = act(&[])?;
        self.none.0.add(hidden, none.first);
        self.none.1.add(hidden, none.recovered);
        let followed = act(std::slice::from_ref(right))?;
        self.right.add(hidden, followed.first);
        self.cited[0].add(cites(&followed, Some(right)));
        let passed = act(std::slice::from_ref(wrong))?;
        self.irrelevant.0.add(hidden, passed.first);
        self.irrelevant.1.add(hidden, passed.recovered);
        self.cited[1].add(cites(&passed, None));
        let mut two = [right.clone(), wrong.clone()];
        draws.shuffle(&mut two);
        let both = act(&two)?;
        self.both.add(hidden, both.first);
        self.cited[2].add(cites(&both, Some(right)));
        if hidden && none.success {
            let written = written(arena, &none)?;
            let own = Recipe::of_target(world);
            let says = |skill: &Skill| read(&skill.body);
            let fully = match (written.as_ref().and_then(says), own) {
                (Some(one), Some(other)) => one.does_the_same(&other),
                _ => false,
            };
            self.written.add(fully);
            let spec = WorldSpec::wide(draws);
            if let Some(next) = world.again(&spec, draws) {
                let skills: Vec<Skill> = written.into_iter().collect();
                let tried = arena.attempt(&next, manner, &skills, Variant::Plain, *episode)?;
                self.own.add(tried.first);
            }
        }
        Ok(())
    }

    fn add_opaque(&mut self, arena: &Arena, mut scene: Scene, draws: &mut Draws) -> Result<()> {
        scene.manner = Manner::opaque(draws);
        let Scene {
            world,
            manner,
            episode,
            ..
        } = &scene;
        let found = arena.attempt(world, manner, &[], Variant::Plain, *episode)?;
        self.opaque[0].add(found.success);
        let skills: Vec<Skill> = match found.success {
            true => written(arena, &found)?.into_iter().collect(),
            false => Vec::new(),
        };
        let spec = WorldSpec::wide(draws);
        if let Some(next) = world.again(&spec, draws) {
            let with = arena.attempt(&next, manner, &skills, Variant::Plain, *episode)?;
            let without = arena.attempt(&next, manner, &[], Variant::Plain, *episode)?;
            self.opaque[1].add(with.first);
            self.opaque[2].add(without.first);
            self.gained
                .push(f64::from(with.first) - f64::from(without.first));
        }
        Ok(())
    }
}

/// The skill that the model writes of an attempt; none where it writes none or it cannot be read.
fn written(arena: &Arena, tried: &Tried) -> Result<Option<Skill>> {
    let task = RoleTask::Extract {
        attempt: Box::new(tried.trace.clone()),
        candidate: 0,
        rules: Vec::new(),
    };
    Ok(match arena.ask(&task, 0)?.answer {
        Some(RoleAnswer::Draft(draft)) => Some(of_draft(&draft)),
        _ => None,
    })
}

impl Robust {
    /// Measures in `count` worlds of a seed.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(arena: &Arena, seed: u64, count: usize) -> Result<Self> {
        let mut robust = Self::default();
        for number in 0..count as u64 {
            for variant in [Variant::Plain].into_iter().chain(Variant::CHANGES) {
                // The same draws for each change, so that all else is the same.
                let mut draws = Draws::new("general evaluation, changes", &[seed, number]);
                let form = ContractForm::draw_hidden(&mut draws);
                let Some(mut scene) = Scene::draw(Some(form), &mut draws) else {
                    continue;
                };
                scene.manner.further_keys = variant == Variant::Keys;
                scene.manner.results = 0;
                match variant {
                    Variant::CompactJson => {
                        scene.manner.results = 3;
                        scene.manner.refusals = Refusals::Named(9);
                    }
                    Variant::SpacedJson => {
                        scene.manner.results = 2;
                        scene.manner.refusals = Refusals::Named(8);
                    }
                    Variant::Order => draws.shuffle(&mut scene.world.services),
                    Variant::Style => {
                        if let Some(recipe) = Recipe::of_target(&scene.world) {
                            scene.right = skill(&recipe, Style::Arrows, &mut draws);
                        }
                    }
                    _ => {}
                }
                let skills = std::slice::from_ref(&scene.right);
                let Scene {
                    world,
                    manner,
                    episode,
                    ..
                } = &scene;
                let tried = arena.attempt(world, manner, skills, variant, *episode)?;
                let share = robust.by_change.entry(variant.words().to_owned());
                share.or_default().add(tried.first);
            }
        }
        Ok(robust)
    }

    /// First attempts that a change loses, in [-1, 1]; not a number where it was not measured.
    #[must_use]
    pub fn lost(&self, variant: Variant) -> f64 {
        let of = |variant: Variant| {
            self.by_change
                .get(variant.words())
                .map_or(f64::NAN, Share::value)
        };
        of(Variant::Plain) - of(variant)
    }
}
