//! Training text for the bundled model: traces of rule-bound policies in worlds of the training side of the split.

use crate::lexicon::value_for;
use crate::policy::{Exchange, Policy};
use crate::rivals::{irrelevant_skill, stale_skill};
use crate::script::{Script, choice};
use crate::seed::Draws;
use crate::simulate::Simulation;
use crate::split::Split;
use crate::tool::{Service, SkillText, Tool};
use crate::wording::Wording;
use crate::world::{ContractForm, World, WorldSpec, fresh_name};

/// Which document is drawn how often, in parts of their sum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixture {
    /// No skill in the context: find the contract out.
    pub none: u32,
    /// The right skill: follow it.
    pub right: u32,
    /// A skill about something else: act as without.
    pub irrelevant: u32,
    /// The right skill and one about something else.
    pub both: u32,
    /// A skill whose contract has changed since: follow, then mend.
    pub stale: u32,
    /// A trace made with a skill that is no longer shown: write the skill from the trace alone.
    pub recount: u32,
    /// A task and its skill alone, or a skill without a task: what the gate's log-probabilities stand on.
    pub gate: u32,
    /// Usage lines recited in random order.
    pub drill: u32,
    /// Tasks that give several values, with few tools.
    pub values: u32,
}

impl Mixture {
    /// For the first part of a training run: more copying.
    pub const EARLY: Self = Self {
        none: 180,
        right: 220,
        irrelevant: 130,
        both: 20,
        stale: 20,
        recount: 30,
        gate: 60,
        drill: 370,
        values: 0,
    };
    /// For the rest.
    pub const LATE: Self = Self {
        none: 220,
        right: 185,
        irrelevant: 205,
        both: 25,
        stale: 45,
        recount: 40,
        gate: 60,
        drill: 260,
        values: 0,
    };

    /// For the last part: following, and putting each value where it belongs.
    pub const LAST: Self = Self {
        none: 220,
        right: 250,
        irrelevant: 200,
        both: 30,
        stale: 50,
        recount: 40,
        gate: 40,
        drill: 50,
        values: 120,
    };

    fn weights(&self) -> [u32; 9] {
        [
            self.none,
            self.right,
            self.irrelevant,
            self.both,
            self.stale,
            self.recount,
            self.gate,
            self.drill,
            self.values,
        ]
    }
}

/// One document.
#[must_use]
pub fn document(mixture: &Mixture, draws: &mut Draws) -> Script {
    let spec = training_spec(draws);
    match draws.weighted(&mixture.weights()) {
        0 => without_skill(&spec, draws),
        1 => with_right_skill(&spec, draws),
        2 => with_irrelevant_skill(&spec, draws),
        3 => with_both(&spec, draws),
        4 => with_stale_skill(&spec, draws),
        5 => recount(&spec, draws),
        6 => gate(&spec, draws),
        7 => drill(&spec, draws),
        _ => values(spec, draws),
    }
}

fn training_spec(draws: &mut Draws) -> WorldSpec {
    let (fewest_tools, most_tools) = if draws.chance(0.85) { (3, 5) } else { (6, 8) };
    let wording = match draws.weighted(&[88, 6, 6]) {
        0 => Wording::Needs,
        1 => Wording::Must,
        _ => Wording::Without,
    };
    WorldSpec {
        split: Split::Training,
        fewest_tools,
        most_tools,
        invented_nouns: 0.15,
        hidden: 0.82,
        wording,
        ..WorldSpec::default()
    }
}

fn without_skill(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let script = head(&world, &[]);
    act(spec, script, &world, None, false, draws)
}

fn with_right_skill(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let Some(skill) = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()))
    else {
        return head(&world, &[]);
    };
    let script = head(&world, &[(&skill, true)]);
    act(spec, script, &world, Some(&skill), true, draws)
}

fn with_irrelevant_skill(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let mut world = World::make(spec, draws);
    let skill = irrelevant_skill(spec, &mut world, draws);
    let script = head(&world, &[(&skill, false)]);
    act(spec, script, &world, None, false, draws)
}

fn with_both(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let mut world = World::make(spec, draws);
    let other = irrelevant_skill(spec, &mut world, draws);
    let Some(skill) = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()))
    else {
        return head(&world, &[]);
    };
    let mut skills = [(&skill, false), (&other, false)];
    draws.shuffle(&mut skills);
    let script = head(&world, &skills);
    act(spec, script, &world, Some(&skill), true, draws)
}

fn with_stale_skill(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let mut world = World::with_form(spec, ContractForm::draw_hidden(draws), draws);
    let Some(skill) = stale_skill(spec, &mut world, draws) else {
        return head(&world, &[]);
    };
    let script = head(&world, &[(&skill, true)]);
    act(spec, script, &world, Some(&skill), true, draws)
}

fn values(spec: WorldSpec, draws: &mut Draws) -> Script {
    let spec = WorldSpec {
        given: [0, 0, 40, 40, 20],
        fewest_tools: 2,
        most_tools: 3,
        hidden: 0.5,
        ..spec
    };
    if draws.chance(0.5) {
        with_right_skill(&spec, draws)
    } else {
        without_skill(&spec, draws)
    }
}

fn recount(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let Some(target) = world.target() else {
        return head(&world, &[]);
    };
    let skill = SkillText::of(target, &world.given_names());
    let Some(policy) = Policy::follower(&world, &skill) else {
        return head(&world, &[]);
    };
    let uses = draws.chance(0.5);
    let mut script = head(&world, &[])
        .plan()
        .text(&target.tool.usage(), false)
        .control(choice(uses), false);
    let mut simulation = Simulation::start(world.clone(), draws.below(usize::MAX) as u64);
    for exchange in policy.run(&mut simulation, 12) {
        script = script
            .control("<call>", false)
            .text(&exchange.call, false)
            .control("<obs>", false);
        script = script.reply(&exchange.reply.text);
    }
    script.extract(&skill)
}

fn gate(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let Some(skill) = world
        .target()
        .map(|target| SkillText::of(target, &world.given_names()))
    else {
        return head(&world, &[]);
    };
    let query = if draws.chance(0.5) {
        ""
    } else {
        world.query.as_str()
    };
    Script::task(query)
        .skill(&skill.to_string(), true)
        .control("<end>", false)
}

fn drill(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let mut tools: Vec<&Tool> = world.services.iter().map(|service| &service.tool).collect();
    let mut script = Script::default()
        .control("<s>", false)
        .tools(tools.iter().copied());
    draws.shuffle(&mut tools);
    for tool in tools {
        let usage = tool.usage();
        let name = tool.name.to_string();
        script = script
            .plan()
            .text(&name, false)
            .text(usage.get(name.len() + 1..).unwrap_or_default(), true);
    }
    script
}

/// The task, the skills (each with whether its words follow from the task), and the tools.
fn head(world: &World, skills: &[(&SkillText, bool)]) -> Script {
    let mut script = Script::task(&world.query);
    for (skill, learnt) in skills {
        script = script.skill(&skill.to_string(), *learnt);
    }
    script.tools(world.services.iter().map(|service| &service.tool))
}

/// Runs a policy in the world and writes what it does, then the skill that the trace shows.
fn act(
    spec: &WorldSpec,
    script: Script,
    world: &World,
    skill: Option<&SkillText>,
    uses: bool,
    draws: &mut Draws,
) -> Script {
    let policy = match skill {
        Some(skill) => Policy::follower(world, skill),
        None => Policy::novice(world),
    };
    let (Some(mut policy), Some(target)) = (policy, world.target()) else {
        return script;
    };
    let mut simulation = Simulation::start(world.clone(), draws.below(usize::MAX) as u64);
    let mut script = script.plan().choose(&target.tool.usage(), uses);
    let mut trace = Vec::new();
    let stumble_at = if draws.chance(0.14) {
        Some(draws.below(2))
    } else {
        None
    };
    while !simulation.is_done() && trace.len() < 12 {
        if stumble_at == Some(trace.len()) && skill.is_none() {
            let call = mistake(spec, world, &policy, &trace, draws);
            let reply = simulation.call(&call);
            script = script.call(&call, false).reply(&reply.text);
            if simulation.is_done() {
                break;
            }
            policy.hear(&reply);
        }
        let call = policy.next_call();
        let reply = simulation.call(&call);
        policy.hear(&reply);
        script = script.call(&call, true).reply(&reply.text);
        trace.push(Exchange { call, reply });
    }
    if uses
        && draws.chance(0.6)
        && trace
            .iter()
            .all(|exchange| !exchange.reply.text.contains("needs"))
    {
        return script;
    }
    script.extract(&skill_of_trace(target, &world.given_names(), &trace))
}

/// The skill of a contract with its helpers in the order in which the trace called them.
#[must_use]
pub fn skill_of_trace(service: &Service, given: &[String], trace: &[Exchange]) -> SkillText {
    let mut service = service.clone();
    service.contract.sort_by_key(|demand| {
        let name = demand.helper().map(ToString::to_string);
        trace
            .iter()
            .position(|exchange| Some(&exchange.call) == name.as_ref())
    });
    SkillText::of(&service, given)
}

/// A call that a policy should not make: a wrong value, a wrong tool, the last call again, or a tool that is not there.
fn mistake(
    spec: &WorldSpec,
    world: &World,
    policy: &Policy,
    trace: &[Exchange],
    draws: &mut Draws,
) -> String {
    let right = policy.target_call();
    match draws.below(4) {
        0 => {
            let wrong = world.goal.given.first().map(|setting| {
                let value = value_for(&setting.parameter, draws);
                right.replace(
                    &format!(" {} {}", setting.parameter, setting.value),
                    &format!(" {} {value}", setting.parameter),
                )
            });
            wrong.unwrap_or(right)
        }
        1 => {
            let helps = |service: &Service| {
                let contract = world
                    .target()
                    .map(|target| target.contract.as_slice())
                    .unwrap_or_default();
                contract
                    .iter()
                    .any(|demand| demand.helper() == Some(&service.tool.name))
            };
            let idle =
                |service: &&Service| service.tool.name != world.goal.target && !helps(service);
            let others: Vec<&Service> = world.services.iter().filter(idle).collect();
            draws
                .pick(&others)
                .map_or(right, |service| service.tool.usage())
        }
        2 if !trace.is_empty() => trace.last().map_or(right, |exchange| exchange.call.clone()),
        _ => {
            let mut taken: Vec<_> = world
                .services
                .iter()
                .map(|service| service.tool.name.clone())
                .collect();
            fresh_name(spec, Some(&world.goal.target.verb), None, &mut taken, draws).to_string()
        }
    }
}
