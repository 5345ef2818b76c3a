//! Streams of tasks: a universe of services whose contracts recur, and held-out tasks.
//!
//! Held-out tasks differ from the stream by construction: their texts come from the other half of the templates, and
//! their values differ from every value that the stream gave the same tool.

use std::collections::HashMap;

use journeyman::domain::Task;
use journeyman::{Error, Result};
use serde::{Deserialize, Serialize};

use crate::environment::Setup;
use crate::extra::add_parameter;
use crate::form::ContractForm;
use crate::lexicon::VERBS;
use crate::passing::{Passing, PassingKind};
use crate::request::{Goal, Request, TEMPLATES};
use crate::seed::Draws;
use crate::split::Split;
use crate::tool::{Service, Setting, SkillText, ToolName};
use crate::trade::Trade;
use crate::world::{World, WorldSpec, distractor, fill, fresh_name, helpers, make_target};

/// How a universe is made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct UniverseSpec {
    /// Number of tools with a hidden contract.
    pub hidden: usize,
    /// Number of tools without one.
    pub plain: usize,
    /// How often tasks of the stream have a passing demand; `None`: never.
    pub passing: Option<Passing>,
    /// How a task's world is made; its field `hidden` is not used.
    pub world: WorldSpec,
}

impl Default for UniverseSpec {
    fn default() -> Self {
        Self {
            hidden: 16,
            plain: 8,
            passing: None,
            world: WorldSpec::default(),
        }
    }
}

impl UniverseSpec {
    /// So many tools with a hidden contract, and so many without one; all else as by default.
    #[must_use]
    pub fn of(hidden: usize, plain: usize) -> Self {
        Self {
            hidden,
            plain,
            ..Self::default()
        }
    }
}

/// A tool of the universe with the parameters that its tasks give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The tool and its contract.
    pub service: Service,
    /// The names of the parameters that a task about it gives values for.
    pub given: Vec<String>,
}

impl Member {
    /// The skill that its contract calls for.
    #[must_use]
    pub fn skill(&self) -> SkillText {
        SkillText::of(&self.service, &self.given)
    }
}

/// A set of services that keep their contracts from task to task.
#[derive(Debug, Clone)]
pub struct Universe {
    spec: UniverseSpec,
    seed: u64,
    members: Vec<Member>,
    /// Where its words come from; `None` for those of [`crate::lexicon`].
    trade: Option<Trade>,
}

/// Which side of the split of tasks is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Stream,
    HeldOut,
}

impl Universe {
    /// Makes a universe; the same spec and seed give the same one.
    ///
    /// # Errors
    /// `Invalid` for a universe without tools, or a share of passing demands outside 0 to 1.
    pub fn make(spec: UniverseSpec, seed: u64) -> Result<Self> {
        if let Some(passing) = spec.passing
            && !(0.0..=1.0).contains(&passing.share)
        {
            return Err(Error::invalid(
                "Universe::make",
                "the share of passing demands is outside 0 to 1",
            )
            .with("share", passing.share)
            .hint("give a share such as 0.3"));
        }
        has_tools(&spec)?;
        let mut draws = Draws::new("universe", &[seed]);
        let mut verbs = VERBS.to_vec();
        draws.shuffle(&mut verbs);
        verbs.truncate((spec.hidden + spec.plain).div_ceil(3).max(2));
        let mut taken = Vec::new();
        let mut members: Vec<Member> = Vec::new();
        for number in 0..spec.hidden + spec.plain {
            let name = member_name(&spec.world, &verbs, &members, &mut taken, &mut draws);
            let passing = spec.passing.and_then(|passing| passing.kind);
            let form = if number < spec.hidden {
                ContractForm::draw_lasting(passing, &mut draws)
            } else {
                ContractForm::Plain
            };
            let (mut service, given) = make_target(&spec.world, name, form, &mut taken, &mut draws);
            if passing == Some(PassingKind::Value) {
                add_parameter(&mut service.tool, &mut draws);
            }
            members.push(Member { service, given });
        }
        Ok(Self {
            spec,
            seed,
            members,
            trade: None,
        })
    }

    /// Makes a universe of services with names of this world: so many with hidden demands, and so many without. Its tasks have no
    /// passing demands.
    ///
    /// # Errors
    /// `Invalid` for a universe without tools, and for more tools than the lexicon has.
    pub fn of_trade(trade: Trade, hidden: usize, plain: usize, seed: u64) -> Result<Self> {
        let spec = UniverseSpec::of(hidden, plain);
        has_tools(&spec)?;
        let mut draws = Draws::new("universe of a trade", &[seed]);
        let services = trade.services(hidden, plain, &spec.world.given, &mut draws)?;
        let member = |(service, given)| Member { service, given };
        Ok(Self {
            members: services.into_iter().map(member).collect(),
            spec,
            seed,
            trade: Some(trade),
        })
    }

    /// The tools with their hidden contracts.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// The first `count` tasks of the stream. Each tool occurs once before any occurs again.
    #[must_use]
    pub fn stream(&self, count: usize) -> Vec<StreamTask> {
        let all: Vec<usize> = (0..self.members.len()).collect();
        self.draw(Side::Stream, &all, &HashMap::new(), count)
    }

    /// `count` held-out tasks about the tools of the given stream, with other words and values.
    #[must_use]
    pub fn held_out(&self, stream: &[StreamTask], count: usize) -> Vec<StreamTask> {
        let mut stated: HashMap<&ToolName, Vec<&Setting>> = HashMap::new();
        for task in stream {
            stated
                .entry(&task.world.goal.target)
                .or_default()
                .extend(&task.world.goal.given);
        }
        let known: Vec<usize> = (0..self.members.len())
            .filter(|&at| {
                self.members
                    .get(at)
                    .is_some_and(|member| stated.contains_key(&member.service.tool.name))
            })
            .collect();
        self.draw(Side::HeldOut, &known, &stated, count)
    }

    fn draw(
        &self,
        side: Side,
        about: &[usize],
        stated: &HashMap<&ToolName, Vec<&Setting>>,
        count: usize,
    ) -> Vec<StreamTask> {
        let label = if side == Side::Stream {
            "stream"
        } else {
            "held-out"
        };
        let mut order = Vec::new();
        let mut tasks = Vec::new();
        for number in 0..if about.is_empty() { 0 } else { count } {
            let mut draws = Draws::new(label, &[self.seed, number as u64]);
            if order.is_empty() {
                order = about.to_vec();
                draws.shuffle(&mut order);
            }
            if let Some(member) = order.pop().and_then(|at| self.members.get(at)) {
                let no_values = Vec::new();
                let values = stated.get(&member.service.tool.name).unwrap_or(&no_values);
                let lasting = self.world(side, member, values, &mut draws);
                let met = self.with_passing_demand(side, &lasting, &mut draws);
                tasks.push(StreamTask {
                    id: format!("{label}-{}-{number}", self.seed),
                    passing: met.is_some(),
                    world: met.unwrap_or(lasting),
                });
            }
        }
        tasks
    }

    /// The world of a task of the stream with a passing demand; `None` where the task has none.
    fn with_passing_demand(&self, side: Side, world: &World, draws: &mut Draws) -> Option<World> {
        let passing = self.spec.passing.filter(|_| side == Side::Stream)?;
        if !draws.chance(passing.share) {
            return None;
        }
        world.with_passing(&self.spec.world, passing.kind, draws)
    }

    fn world(&self, side: Side, member: &Member, stated: &[&Setting], draws: &mut Draws) -> World {
        let spec = &self.spec.world;
        let target = &member.service;
        let mut services = helpers(target);
        let mut taken: Vec<ToolName> = services
            .iter()
            .map(|service| service.tool.name.clone())
            .collect();
        taken.push(target.tool.name.clone());
        let wanted = draws.between(spec.fewest_tools, spec.most_tools.max(spec.fewest_tools));
        while services.len() + 1 < wanted.max(2) {
            let Some(neighbor) = self.neighbor(&mut taken, target, draws) else {
                break;
            };
            services.push(neighbor);
        }
        services.push(target.clone());
        draws.shuffle(&mut services);
        // A long stream leaves few values for a tool. A value may then recur; the words still differ.
        let mut given = self.given(member, draws);
        for _ in 0..100 {
            if !given.iter().any(|setting| stated.contains(&setting)) {
                break;
            }
            given = self.given(member, draws);
        }
        let goal = Goal {
            target: target.tool.name.clone(),
            given,
        };
        let half = draws.below(TEMPLATES / 2) * 2;
        let template = half + usize::from(side == Side::HeldOut);
        let query = match &self.trade {
            None => Request::of(&goal).write(template, draws),
            Some(trade) => {
                let other = trade.other_noun(&goal.target.noun, draws);
                Request::of(&goal).write_without_place(template, other)
            }
        };
        World {
            services,
            goal,
            query,
            wording: spec.wording,
        }
    }

    /// The values that a task about a member gives.
    fn given(&self, member: &Member, draws: &mut Draws) -> Vec<Setting> {
        let contract = &member.service.contract;
        match &self.trade {
            None => fill(&member.given, contract, draws),
            Some(trade) => trade.fill(&member.given, contract, draws),
        }
    }

    /// Another visible tool: one of the universe that shares a word with the target, or a new one. `None` where the lexicon of a
    /// trade has no other tool.
    fn neighbor(
        &self,
        taken: &mut Vec<ToolName>,
        target: &Service,
        draws: &mut Draws,
    ) -> Option<Service> {
        let name = &target.tool.name;
        let near = |member: &&Member| {
            let other = &member.service.tool.name;
            (other.verb == name.verb || other.noun == name.noun) && !taken.contains(other)
        };
        let near: Vec<&Member> = self.members.iter().filter(near).collect();
        match draws.pick(&near) {
            Some(member) if draws.chance(0.5) => {
                taken.push(member.service.tool.name.clone());
                Some(Service::plain(member.service.tool.clone()))
            }
            _ => match &self.trade {
                None => Some(distractor(&self.spec.world, name, taken, draws)),
                Some(trade) => {
                    let is_member = |other: &ToolName| {
                        let mut members = self.members.iter();
                        members.any(|member| member.service.tool.name == *other)
                    };
                    let is_free = |other: &ToolName| !taken.contains(other) && !is_member(other);
                    let service = trade.distractor(name, is_free, draws)?;
                    taken.push(service.tool.name.clone());
                    Some(service)
                }
            },
        }
    }
}

/// A task of a universe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamTask {
    /// Unique within its universe.
    pub id: String,
    /// The task's world.
    pub world: World,
    /// Whether it has a passing demand.
    pub passing: bool,
}

impl StreamTask {
    /// The task for the SDK. Its tags are `hidden` or `plain`, and `passing`; agents do not see them.
    ///
    /// # Errors
    /// `Internal` when the world cannot be written as JSON.
    pub fn task(&self) -> Result<Task> {
        let mut task = Task::new(self.id.as_str(), self.world.query.as_str());
        task.tags = vec![
            if self.world.is_hidden() {
                "hidden"
            } else {
                "plain"
            }
            .to_owned(),
        ];
        task.tags.extend(self.passing.then(|| "passing".to_owned()));
        task.payload = Setup::new(self.world.clone()).to_json()?;
        Ok(task)
    }
}

fn has_tools(spec: &UniverseSpec) -> Result<()> {
    if spec.hidden + spec.plain > 0 {
        return Ok(());
    }
    Err(
        Error::invalid("Universe::make", "the universe has no tools")
            .hint("give a positive number of hidden or plain tools"),
    )
}

/// A name with one of a few verbs, and often a noun that is used already, so that skills are hard to tell apart.
fn member_name(
    spec: &WorldSpec,
    verbs: &[&'static str],
    members: &[Member],
    taken: &mut Vec<ToolName>,
    draws: &mut Draws,
) -> ToolName {
    let verb = draws.word(verbs);
    let nouns: Vec<&String> = members
        .iter()
        .map(|member| &member.service.tool.name.noun)
        .collect();
    let free = |noun: &&&String| {
        Split::of(verb, noun) == spec.split && !taken.contains(&ToolName::new(verb, noun))
    };
    let used: Vec<&&String> = nouns.iter().filter(free).collect();
    match draws.pick(&used) {
        Some(noun) if draws.chance(0.7) => {
            let name = ToolName::new(verb, noun);
            taken.push(name.clone());
            name
        }
        _ => fresh_name(spec, Some(verb), None, taken, draws),
    }
}
