//! Scenes: one attempt of a rule-based policy, with the skills that its agent was given. The training text of the
//! bundled model, and the cases on which its roles are measured, are made of scenes.

mod parts;

use crate::form::ContractForm;
use crate::policy::{Exchange, Policy};
use crate::seed::Draws;
use crate::simulate::{Outcome, Simulation};
use crate::tool::SkillText;
use crate::world::{World, WorldSpec, fresh_name};
use parts::{either_order, irrelevant, mistake, right, stale};

pub(crate) use parts::Advice;

/// Maximum number of calls of an attempt.
const CALLS: usize = 12;

/// A finished attempt.
#[derive(Debug, Clone)]
pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) advice: Vec<Advice>,
    pub(crate) used: Option<usize>,
    pub(crate) exchanges: Vec<Exchange>,
    /// For each exchange whether a model learns to make its call.
    pub(crate) learned: Vec<bool>,
}

/// The end of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Done,
    /// After this many refusals.
    Refused(usize),
}

/// The plan of an attempt.
#[derive(Debug, Clone)]
struct Play {
    policy: Policy,
    used: Option<usize>,
    /// Whether the model learns these actions.
    learned: bool,
    /// The probability that one call is a mistake.
    stumbles: f64,
    end: End,
}

impl Play {
    /// An attempt to the end, without mistakes.
    fn of(policy: Policy, used: Option<usize>, learned: bool) -> Self {
        Self {
            policy,
            used,
            learned,
            stumbles: 0.0,
            end: End::Done,
        }
    }
}

impl Scene {
    /// Whether the task was done.
    pub(crate) fn is_done(&self) -> bool {
        let last = self.exchanges.last();
        last.is_some_and(|exchange| exchange.reply.outcome == Outcome::Done)
    }

    /// Without a skill: find out the contract.
    pub(crate) fn alone(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        Self::novice(spec, World::make(spec, draws), Vec::new(), draws)
    }

    /// As [`Scene::alone`] with a passing demand, which the attempt cannot tell from the lasting ones.
    pub(crate) fn passing(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let met = World::make(spec, draws).with_passing(spec, None, draws)?;
        Self::novice(spec, met, Vec::new(), draws)
    }

    /// With the right skill: follow it.
    pub(crate) fn right(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let world = World::make(spec, draws);
        let right = right(&world, draws)?;
        Self::follower(spec, world, vec![right], 0, draws)
    }

    /// With one or two skills about other tools: act as without a skill.
    pub(crate) fn irrelevant(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let mut world = World::make(spec, draws);
        let count = if draws.chance(0.8) { 1 } else { 2 };
        let advice: Vec<Advice> = (0..count)
            .map(|_| irrelevant(spec, &mut world, draws))
            .collect();
        if let [one, other] = advice.as_slice()
            && one.service.tool.name == other.service.tool.name
        {
            return None;
        }
        Self::novice(spec, world, advice, draws)
    }

    /// With the right skill and one about another tool, in either order: follow the right one.
    pub(crate) fn both(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let mut world = World::make(spec, draws);
        let other = irrelevant(spec, &mut world, draws);
        let right = right(&world, draws)?;
        let (advice, used) = either_order(right, other, draws);
        Self::follower(spec, world, advice, used, draws)
    }

    /// With a stale skill, sometimes beside another: follow it, then correct it.
    pub(crate) fn stale(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let (world, stale) = stale(spec, draws)?;
        Self::with_stale(spec, world, stale, End::Done, draws)
    }

    /// As [`Scene::stale`], sometimes cut off at the refusal that shows the change.
    pub(crate) fn failing(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let (world, stale) = stale(spec, draws)?;
        let end = if draws.chance(0.3) {
            End::Refused(1)
        } else {
            End::Done
        };
        Self::with_stale(spec, world, stale, end, draws)
    }

    /// As [`Scene::stale`], cut off at the first refusal.
    pub(crate) fn stopped(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let (world, stale) = stale(spec, draws)?;
        Self::with_stale(spec, world, stale, End::Refused(1), draws)
    }

    fn with_stale(
        spec: &WorldSpec,
        mut world: World,
        stale: Advice,
        end: End,
        draws: &mut Draws,
    ) -> Option<Self> {
        let (advice, used) = if draws.chance(0.2) {
            let other = irrelevant(spec, &mut world, draws);
            either_order(stale, other, draws)
        } else {
            (vec![stale], 0)
        };
        let service = &advice.get(used)?.service;
        let skill = SkillText::of(service, &world.given_names());
        let play = Play {
            end,
            ..Play::of(Policy::follower(&world, &skill)?, Some(used), true)
        };
        Some(Self::play(spec, world, advice, play, draws))
    }

    /// With a skill about another tool that the agent mistakes for the right one: it follows the skill, then does the
    /// task.
    pub(crate) fn misled(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let mut world = World::make(spec, draws);
        let wrong = irrelevant(spec, &mut world, draws);
        Self::mislead(spec, world, wrong, draws)
    }

    /// With a skill that applies to every tool of the target's verb and is about another one.
    pub(crate) fn too_broad(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let world = World::make(spec, draws);
        let others = world
            .services
            .iter()
            .map(|service| service.tool.name.clone());
        let mut taken: Vec<_> = others.collect();
        let name = fresh_name(spec, Some(&world.goal.target.verb), None, &mut taken, draws);
        let form = ContractForm::draw_hidden(draws);
        let (service, given) = crate::world::make_target(spec, name, form, &mut taken, draws);
        let advice = Advice {
            broad: true,
            ..Advice::steps(service, given)
        };
        Self::mislead(spec, world, advice, draws)
    }

    fn mislead(spec: &WorldSpec, world: World, wrong: Advice, draws: &mut Draws) -> Option<Self> {
        let given = world.given_names();
        let steps = SkillText::of(&wrong.service, &given).steps;
        let play = Play {
            policy: Policy::novice(&world)?.after(&steps),
            used: Some(0),
            learned: false,
            stumbles: 0.0,
            end: if draws.chance(0.4) {
                End::Refused(1)
            } else {
                End::Done
            },
        };
        Some(Self::play(spec, world, vec![wrong], play, draws))
    }

    /// With two skills about the target, one of them stale: only the answers tell them apart.
    pub(crate) fn rivals(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let (world, stale) = stale(spec, draws)?;
        let target = world.target()?.clone();
        let right = Advice::steps(target, world.given_names());
        // A skill with fewer demands is not contradicted by an attempt that followed the other one.
        let says_less = stale.service.contract.len() < right.service.contract.len();
        let follows_right = !says_less && draws.chance(0.5);
        let (advice, at) = either_order(right, stale, draws);
        let used = if follows_right { at } else { 1 - at };
        let skill = SkillText::of(&advice.get(used)?.service, &world.given_names());
        let play = Play::of(Policy::follower(&world, &skill)?, Some(used), false);
        Some(Self::play(spec, world, advice, play, draws))
    }

    /// An attempt that ends with a refusal: a demand is not met, or a value of the task was wrong.
    pub(crate) fn failed(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let world = World::make(spec, draws);
        let demands = world.target()?.contract.len();
        let wrong_value = !world.goal.given.is_empty() && (demands == 0 || draws.chance(0.25));
        if !wrong_value && demands == 0 {
            return None;
        }
        let refusals = draws.between(1, demands.max(1));
        let mut policy = Policy::novice(&world)?;
        let mut end = End::Refused(refusals);
        if wrong_value {
            let target = world.target()?.clone();
            let skill = SkillText::of(&target, &world.given_names());
            policy = Policy::follower(&world, &skill)?;
            policy.garble(draws);
            end = End::Refused(1);
        }
        let play = Play {
            policy,
            used: None,
            learned: !wrong_value,
            stumbles: 0.0,
            end,
        };
        Some(Self::play(spec, world, Vec::new(), play, draws))
    }

    /// An attempt with the right skill that stopped at the agent's own mistake.
    pub(crate) fn cut_off(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
        let right = right(&world, draws)?;
        let skill = SkillText::of(&right.service, &world.given_names());
        let mut policy = Policy::follower(&world, &skill)?;
        policy.garble(draws);
        let play = Play {
            policy,
            used: Some(0),
            learned: false,
            stumbles: 0.0,
            end: End::Refused(1),
        };
        let scene = Self::play(spec, world, vec![right], play, draws);
        (!scene.is_done()).then_some(scene)
    }

    /// An attempt with the right or a stale skill, shown without the skill.
    pub(crate) fn recount(spec: &WorldSpec, draws: &mut Draws) -> Option<Self> {
        let (world, service) = if draws.chance(0.25) {
            let (world, stale) = stale(spec, draws)?;
            (world, stale.service)
        } else {
            let world = World::make(spec, draws);
            let target = world.target()?.clone();
            (world, target)
        };
        let skill = SkillText::of(&service, &world.given_names());
        let play = Play::of(Policy::follower(&world, &skill)?, Some(0), false);
        Some(Self::play(spec, world, Vec::new(), play, draws))
    }

    fn novice(
        spec: &WorldSpec,
        world: World,
        advice: Vec<Advice>,
        draws: &mut Draws,
    ) -> Option<Self> {
        let play = Play {
            policy: Policy::novice(&world)?,
            used: None,
            learned: true,
            stumbles: 0.14,
            end: End::Done,
        };
        Some(Self::play(spec, world, advice, play, draws))
    }

    fn follower(
        spec: &WorldSpec,
        world: World,
        advice: Vec<Advice>,
        used: usize,
        draws: &mut Draws,
    ) -> Option<Self> {
        let skill = SkillText::of(&advice.get(used)?.service, &world.given_names());
        let play = Play::of(Policy::follower(&world, &skill)?, Some(used), true);
        Some(Self::play(spec, world, advice, play, draws))
    }

    fn play(
        spec: &WorldSpec,
        world: World,
        advice: Vec<Advice>,
        mut play: Play,
        draws: &mut Draws,
    ) -> Self {
        let mut simulation = Simulation::start(world.clone(), draws.below(usize::MAX) as u64);
        let stumble_at = draws.chance(play.stumbles).then(|| draws.below(2));
        let mut exchanges: Vec<Exchange> = Vec::new();
        let mut learned: Vec<bool> = Vec::new();
        let mut refusals = 0;
        while !simulation.is_done() && exchanges.len() < CALLS {
            let stumbles = stumble_at == Some(exchanges.len());
            let call = if stumbles {
                mistake(spec, &world, &advice, &play.policy, &exchanges, draws)
            } else {
                play.policy.next_call()
            };
            let reply = simulation.call(&call);
            play.policy.hear(&reply);
            refusals += usize::from(matches!(reply.outcome, Outcome::Refused(_)));
            exchanges.push(Exchange { call, reply });
            learned.push(play.learned && !stumbles);
            if play.end == End::Refused(refusals) {
                break;
            }
        }
        Self {
            world,
            advice,
            used: play.used,
            exchanges,
            learned,
        }
    }
}
