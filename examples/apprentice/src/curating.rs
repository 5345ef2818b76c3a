//! How the model curates a library after its own attempts (SkillOS).

use journeyman::admit::{Admittance, to_skill};
use journeyman::domain::{
    Cause, Committed, LibraryChange, Origin, Provenance, Skill, Taint, ToolCall,
};
use journeyman::library::SkillLibrary;
use journeyman::propose::CurateCall;
use journeyman::{Result, Revision, Version};
use journeyman_toolworld::form::ContractForm;
use journeyman_toolworld::rivals::{irrelevant_skill, stale_service};
use journeyman_toolworld::seed::Draws;
use journeyman_toolworld::skill_form::{read_body, to_draft};
use journeyman_toolworld::tool::SkillText;
use journeyman_toolworld::world::{World, WorldSpec};
use serde::{Deserialize, Serialize};

use crate::acting::is_right;
use crate::arena::{Arena, Tried};
use crate::share::Share;

/// What the curator's calls came to, each after an attempt of the model's own that had the retrieved skills in its prompt. A
/// call is right if the library accepts it and it is the one that the world calls for: a skill is right if a policy that
/// follows it does another task of the same contract at the first attempt.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Curating {
    /// No skill for the task's tool, which has hidden demands: a right skill is inserted. Half of the times with a skill about
    /// another tool.
    pub inserted: Share,
    /// A skill that is out of date, in a fifth of the worlds beside one about another tool: it is updated, and right then.
    pub updated: Share,
    /// A skill that is out of date beside the right one: it is deleted. Attempts that show no difference are left out.
    pub deleted: Share,
    /// The right skill, or a tool without hidden demands: nothing is called.
    pub kept: Share,
    /// As `updated`, where the skill was retrieved and not injected: the agent found out by itself. The training text has no
    /// such attempt; the model writes `insert` with the right text there, which is read as an update.
    pub not_injected: Share,
    /// An attempt without a skill that ended at its first refusal, which the training text has none of: a right skill is inserted;
    /// nothing is called. The rest are skills that lack a demand that the attempt did not get to.
    pub failed: [Share; 2],
}

impl Curating {
    /// Measures over `count` worlds of a seed for each kind.
    ///
    /// # Errors
    /// What the model gives.
    pub fn measure(
        arena: &Arena,
        spec: impl Fn(&mut Draws) -> WorldSpec,
        seed: u64,
        count: usize,
    ) -> Result<Self> {
        let mut curating = Self::default();
        for number in 0..count as u64 {
            let draws = |kind: &str| Draws::new(&format!("curating-{kind}"), &[seed, number]);
            let mut insert = draws("insert");
            curating.insert(arena, &spec(&mut insert), &mut insert)?;
            let mut update = draws("update");
            curating.update(arena, &spec(&mut update), &mut update)?;
            let mut delete = draws("delete");
            curating.delete(arena, &spec(&mut delete), &mut delete)?;
            let mut keep = draws("keep");
            curating.keep(arena, &spec(&mut keep), &mut keep)?;
        }
        Ok(curating)
    }

    fn insert(&mut self, arena: &Arena, spec: &WorldSpec, draws: &mut Draws) -> Result<()> {
        let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
        let other = draws
            .chance(0.5)
            .then(|| irrelevant_skill(spec, &mut world, draws));
        let shown: Vec<&SkillText> = other.iter().collect();
        let tried = arena.attempt(&world, &shown, draws.below(1 << 40) as u64)?;
        let changed = curated(arena, &tried, &shown)?;
        let Some(next) = world.again(spec, draws) else {
            return Ok(());
        };
        let right = |made: &Option<Made>| matches!(made, Some(Made::Inserted(skill)) if is_right(&next, skill));
        self.inserted.add(right(&changed));
        if let Some(failed) = cut_off(tried) {
            let changed = curated(arena, &failed, &shown)?;
            let [inserted, kept] = &mut self.failed;
            inserted.add(right(&changed));
            kept.add(changed.is_none());
        }
        Ok(())
    }

    fn update(&mut self, arena: &Arena, spec: &WorldSpec, draws: &mut Draws) -> Result<()> {
        let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
        let Some(old) = stale_service(spec, &mut world, draws) else {
            return Ok(());
        };
        let stale = SkillText::of(&old, &world.given_names());
        let other = draws
            .chance(0.2)
            .then(|| irrelevant_skill(spec, &mut world, draws));
        let (shown, at) = either_order(&stale, other.as_ref(), draws);
        let episode = draws.below(1 << 40) as u64;
        let Some(next) = world.again(spec, draws) else {
            return Ok(());
        };
        let right = |made: &Option<Made>, at: usize| matches!(made, Some(Made::Updated(place, skill)) if *place == at && is_right(&next, skill));
        let tried = arena.attempt(&world, &shown, episode)?;
        self.updated
            .add(right(&curated(arena, &tried, &shown)?, at));
        let alone = arena.attempt(&world, &[], episode)?;
        self.not_injected
            .add(right(&curated(arena, &alone, &[&stale])?, 0));
        Ok(())
    }

    fn delete(&mut self, arena: &Arena, spec: &WorldSpec, draws: &mut Draws) -> Result<()> {
        let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
        let Some(old) = stale_service(spec, &mut world, draws) else {
            return Ok(());
        };
        let Some(target) = world.target() else {
            return Ok(());
        };
        let right = SkillText::of(target, &world.given_names());
        let stale = SkillText::of(&old, &world.given_names());
        let says_less = old.contract.len() < target.contract.len();
        let (shown, at) = either_order(&stale, Some(&right), draws);
        let tried = arena.attempt(&world, &shown, draws.below(1 << 40) as u64)?;
        let followed_stale = tried.used().get(at) == Some(&true);
        // A skill with fewer demands is not contradicted by an attempt that followed the other one.
        if says_less && !followed_stale {
            return Ok(());
        }
        let made = curated(arena, &tried, &shown)?;
        self.deleted.add(made == Some(Made::Deleted(at)));
        Ok(())
    }

    fn keep(&mut self, arena: &Arena, spec: &WorldSpec, draws: &mut Draws) -> Result<()> {
        let plain = draws.chance(0.5);
        let form = match plain {
            true => ContractForm::Plain,
            false => ContractForm::draw_hidden(draws),
        };
        let world = World::with_form(spec, form, draws);
        let Some(target) = world.target().filter(|_| !plain) else {
            let tried = arena.attempt(&world, &[], draws.below(1 << 40) as u64)?;
            self.kept.add(curated(arena, &tried, &[])?.is_none());
            return Ok(());
        };
        let right = SkillText::of(target, &world.given_names());
        let tried = arena.attempt(&world, &[&right], draws.below(1 << 40) as u64)?;
        self.kept.add(curated(arena, &tried, &[&right])?.is_none());
        Ok(())
    }
}

/// The attempt up to its first refusal; none if no call was refused.
fn cut_off(mut tried: Tried) -> Option<Tried> {
    let steps = &mut tried.trace.trajectory.steps;
    let refused = steps.iter().position(|step| step.result.is_error)?;
    steps.truncate(refused + 1);
    tried.success = false;
    Some(tried)
}

/// What a curator's answer changes, by the place of the skill among the retrieved ones.
#[derive(Debug, PartialEq)]
enum Made {
    Inserted(SkillText),
    Updated(usize, SkillText),
    Deleted(usize),
    /// A call that the library refuses, several calls, or a skill that is no step list.
    Wrong,
}

/// Both skills in either order, and the place of the first of them.
fn either_order<'a>(
    one: &'a SkillText,
    other: Option<&'a SkillText>,
    draws: &mut Draws,
) -> (Vec<&'a SkillText>, usize) {
    match other {
        Some(other) if draws.chance(0.5) => (vec![other, one], 1),
        Some(other) => (vec![one, other], 0),
        None => (vec![one], 0),
    }
}

/// What the curator makes of an attempt; none if it changes nothing.
fn curated(arena: &Arena, tried: &Tried, shown: &[&SkillText]) -> Result<Option<Made>> {
    let library = library(shown)?;
    let places = (0..shown.len()).map(|place| format!("skill-{place}"));
    let retrieved: Vec<Skill> = places
        .filter_map(|id| Some(library.get(&id.as_str().into())?.skill.clone()))
        .collect();
    let calls = arena.curate(tried, retrieved.clone())?;
    Ok(match calls.as_slice() {
        [] => None,
        [call] => Some(made(call, &library, &retrieved).unwrap_or(Made::Wrong)),
        _ => Some(Made::Wrong),
    })
}

fn made(call: &ToolCall, library: &SkillLibrary, retrieved: &[Skill]) -> Option<Made> {
    let call = CurateCall::read(call).ok()?;
    call.check(library).ok()?;
    let place = |name: &str| {
        let mut skills = retrieved.iter();
        skills.position(|skill| skill.name.as_str() == name)
    };
    Some(match call {
        CurateCall::Insert { body, .. } => Made::Inserted(read_body(&body)?),
        CurateCall::Update { skill, body, .. } => Made::Updated(place(&skill)?, read_body(&body?)?),
        CurateCall::Delete { skill, .. } => Made::Deleted(place(&skill)?),
    })
}

/// A library of these skills, with the ids that attempts give them, and one more, so that each may be deleted.
fn library(shown: &[&SkillText]) -> Result<SkillLibrary> {
    let skill = |(place, text): (usize, &&SkillText)| {
        let admittance = Admittance {
            id: format!("skill-{place}").into(),
            version: Version(1),
            provenance: Provenance {
                origin: Origin::Seed,
                runs: Vec::new(),
                tasks: Vec::new(),
            },
            taint: Taint::Clean,
            parents: Vec::new(),
        };
        let skill = to_skill(&to_draft(text), admittance)?;
        Ok(LibraryChange::Add(Box::new(skill)))
    };
    let last = SkillText::parse("go elsewhere: go elsewhere");
    let all: Vec<&SkillText> = shown.iter().copied().chain(last.as_ref()).collect();
    let changes: Result<Vec<LibraryChange>> = all.iter().enumerate().map(skill).collect();
    SkillLibrary::replay(&[Committed {
        revision: Revision(1),
        key: "retrieved".into(),
        cause: Cause {
            run: None,
            task: None,
            reason: "the retrieved skills".to_owned(),
            at: None,
        },
        changes: changes?,
    }])
}
