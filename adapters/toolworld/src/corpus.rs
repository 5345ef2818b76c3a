//! Training text of the bundled model: traces of rule-based policies in worlds on the training side of the split, and
//! cases of its roles.

use crate::lexicon::foreign_words;
use crate::rivals::irrelevant_skill;
use crate::roles::Role;
use crate::scene::Scene;
use crate::script::Script;
use crate::seed::Draws;
use crate::split::Split;
use crate::tool::{SkillText, Tool};
use crate::world::{World, WorldSpec};

/// The weights of the kinds of documents; only their ratios count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixture {
    /// No skill in the prompt: find out the contract.
    pub none: u32,
    /// The right skill: follow it.
    pub right: u32,
    /// One or two skills about other tools: act as without a skill.
    pub irrelevant: u32,
    /// The right skill and one about another tool.
    pub both: u32,
    /// A stale skill, whose contract has changed since: follow it, then correct it.
    pub stale: u32,
    /// A task that no visible tool does: say so (`<none>`).
    pub unfit: u32,
    /// A task and its skill alone, or a skill without a task: the basis of the gate's log-probabilities.
    pub gate: u32,
    /// Usage lines repeated in random order.
    pub drill: u32,
    /// Tasks that give several values, with few visible tools.
    pub values: u32,
    /// The weight of each role, in the order of [`Role::ALL`].
    pub roles: [u32; Role::ALL.len()],
}

impl Mixture {
    /// The mixture of the first part of training: more copying.
    pub const EARLY: Self = Self {
        none: 110,
        right: 170,
        irrelevant: 90,
        both: 60,
        stale: 20,
        unfit: 10,
        gate: 50,
        drill: 250,
        values: 30,
        roles: [90, 30, 30, 25, 15, 10, 10, 10, 15, 5],
    };
    /// The mixture of the second part: every task of the model.
    pub const LATE: Self = Self {
        none: 80,
        right: 110,
        irrelevant: 110,
        both: 90,
        stale: 40,
        unfit: 60,
        gate: 40,
        drill: 40,
        values: 50,
        roles: [105, 50, 60, 75, 60, 40, 10, 70, 45, 95],
    };

    /// The mixture of the second half: more of the roles that are learned late, and of tasks that no tool does.
    pub const LAST: Self = Self {
        none: 60,
        right: 90,
        irrelevant: 110,
        both: 100,
        stale: 35,
        unfit: 80,
        gate: 40,
        drill: 10,
        values: 50,
        roles: [105, 45, 65, 85, 70, 45, 15, 100, 50, 115],
    };

    fn weights(&self) -> [u32; 9] {
        [
            self.none,
            self.right,
            self.irrelevant,
            self.both,
            self.stale,
            self.unfit,
            self.gate,
            self.drill,
            self.values,
        ]
    }
}

/// Draws one document.
#[must_use]
pub fn document(mixture: &Mixture, draws: &mut Draws) -> Script {
    loop {
        let spec = training_spec(draws);
        let acts = mixture.weights();
        let roles: u32 = mixture.roles.iter().sum();
        let total: u32 = acts.iter().sum();
        if draws.weighted(&[roles, total]) == 0 {
            let role = Role::ALL.get(draws.weighted(&mixture.roles));
            if let Some(role) = role {
                return role.case(&spec, draws).document();
            }
        }
        let scene = match draws.weighted(&acts) {
            0 => Scene::alone(&spec, draws),
            1 => Scene::right(&spec, draws),
            2 => Scene::irrelevant(&spec, draws),
            3 => Scene::both(&spec, draws),
            4 => Scene::stale(&spec, draws),
            5 => return unfit(&spec, draws),
            6 => match gate(&spec, draws) {
                Some(script) => return script,
                None => continue,
            },
            7 => return drill(&spec, draws),
            _ => values(spec, draws),
        };
        if let Some(scene) = scene {
            return scene.script;
        }
    }
}

/// Worlds as varied as those of the evaluation, with a slightly larger share of invented nouns.
pub(crate) fn training_spec(draws: &mut Draws) -> WorldSpec {
    WorldSpec {
        split: Split::Training,
        invented_nouns: 0.3,
        hidden: 0.72,
        foreign_words: 0.05,
        ..WorldSpec::wide(draws)
    }
}

/// Tasks that give several values, with few visible tools.
pub(crate) fn values_spec(spec: WorldSpec) -> WorldSpec {
    WorldSpec {
        given: [0, 0, 40, 40, 20],
        fewest_tools: 2,
        most_tools: 4,
        hidden: 0.5,
        ..spec
    }
}

fn values(spec: WorldSpec, draws: &mut Draws) -> Option<Scene> {
    let spec = values_spec(spec);
    if draws.chance(0.5) {
        Scene::right(&spec, draws)
    } else {
        Scene::alone(&spec, draws)
    }
}

fn gate(spec: &WorldSpec, draws: &mut Draws) -> Option<Script> {
    let world = World::make(spec, draws);
    let skill = SkillText::of(world.target()?, &world.given_names()).to_string();
    let query = if draws.chance(0.5) {
        ""
    } else {
        world.query.as_str()
    };
    let script = Script::task(query).skills([(skill.as_str(), true)]);
    Some(script.control("<end>", false))
}

fn drill(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let world = World::make(spec, draws);
    let mut tools: Vec<&Tool> = world.services.iter().map(|service| &service.tool).collect();
    let mut script = Script::default()
        .control("<s>", false)
        .tools(tools.iter().copied());
    draws.shuffle(&mut tools);
    for tool in tools {
        script = script.plan().recited(tool);
    }
    script
}

/// A task whose tool is not visible, or a text of unknown words that is not a task.
fn unfit(spec: &WorldSpec, draws: &mut Draws) -> Script {
    let mut world = World::make(spec, draws);
    let skills: Vec<String> = (0..draws.weighted(&[60, 30, 10]))
        .map(|_| irrelevant_skill(spec, &mut world, draws).to_string())
        .collect();
    if draws.chance(0.7) {
        world = without_its_tool(&world);
    } else {
        let count = draws.between(2, 7);
        world.query = foreign_words(count, draws);
    }
    Script::task(&world.query)
        .skills(skills.iter().map(|skill| (skill.as_str(), false)))
        .tools(world.services.iter().map(|service| &service.tool))
        .plan()
        .control("<none>", true)
        .control("<end>", true)
}

/// The world without the tool that its task asks for.
#[must_use]
pub fn without_its_tool(world: &World) -> World {
    let mut world = world.clone();
    world
        .services
        .retain(|service| service.tool.name != world.goal.target);
    world
}
