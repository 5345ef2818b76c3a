//! Why rules that another world taught, frozen, cost HiSME points where two tasks release a skill (HiSME, Table 4).
//!
//! Each arm learns from the same streams without learning rules, and differs in the rules that its roles were given. What
//! was written is compared with what each service really asks for. Nothing here has a bound: it tests explanations.

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    agent::MemoryStore,
    domain::{Origin, Role, RoleRule},
    library::{Entry, SkillLibrary},
    recipe,
};
use journeyman_toolworld::{
    general::{
        recipe::Recipe,
        roles::{Feature, Rule},
        skills::read,
    },
    passing::PassingKind,
    stream::{Member, Universe},
};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    hisme::{CHECK, DONORS, HELD_OUT, Rules, STREAM, WORLDS, check, learnt, without_rules},
    key,
    noisy::{passing, universe},
};
use crate::figures::{Bound, Figures, Outcome, stats};

/// Which rules the roles are given.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Given {
    Nothing,
    /// All that another world of the same kind taught.
    Donors,
    /// To every role the one rule that is true of all tools of the world: to leave out the kind of demand that passes.
    True,
    /// The same, to one role.
    TrueFor(Role),
}

const ARMS: [(&str, Given); 4] = [
    ("no rules", Given::Nothing),
    ("another world's", Given::Donors),
    ("the true rule", Given::True),
    ("the true rule, refactorer", Given::TrueFor(Role::Refactor)),
];

/// How what was written compares with what the service asks for: the number of skills in all, those that say the same, those
/// that lack something, and those that ask for more. One can be both of the last. Of what is lacking, calls and values are
/// counted apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Written {
    skills: u32,
    right: u32,
    lacking: u32,
    lacking_call: u32,
    lacking_value: u32,
    more: u32,
}

/// What came of an arm in a world.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    first: f64,
    /// By the extractor, the refactorer, the refiner.
    written: [Written; 3],
    /// What is on offer at the end, whoever wrote it.
    offered: Written,
    /// Of the tools with a hidden contract, those for which a skill on offer says the same as the contract.
    covered: u32,
    /// The rules that were given, in words.
    rules: Vec<String>,
}

const WRITERS: [(&str, Origin); 3] = [
    ("extracted", Origin::Extracted),
    ("refactored", Origin::Refactored),
    ("refined", Origin::Refined),
];

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let mut taught: Vec<Rules> = Vec::new();
    for world in 0..WORLDS {
        let key = key(parts, &format!("frozen-rules, taught by world {world}"));
        taught.push(figures.once(&key, || {
            let seed = seed.derive("world", world);
            Ok(block_on(learnt(parts, seed, world))?)
        })?);
    }
    for (kind, rules) in shares_of_rules(&taught) {
        figures.record(&format!("worlds that teach {kind}"), rules, Bound::None);
    }
    let mut unaided: Vec<f64> = Vec::new();
    for (name, given) in ARMS {
        let mut cells = Vec::new();
        for (world, donor) in (0..WORLDS).zip(DONORS) {
            let rules = given.rules(world, taught.get(donor).map_or(&[][..], Vec::as_slice))?;
            let key = key(parts, &format!("frozen-rules, {name}, world {world}"));
            cells.push(figures.once(&key, || {
                let seed = seed.derive("world", world);
                Ok(block_on(cell(parts, seed, world, &rules))?)
            })?);
        }
        record(figures, name, &cells);
        let first: Vec<f64> = cells.iter().map(|cell| cell.first).collect();
        if given == Given::Nothing {
            unaided = first;
            continue;
        }
        let over = stats::paired(&first, &unaided);
        let name = format!("{name} over no rules, first attempt, over worlds");
        figures.interval(&name, &over, Bound::None, Bound::None);
    }
    Ok(())
}

/// How many worlds taught a role each rule.
fn shares_of_rules(taught: &[Rules]) -> Vec<(String, f64)> {
    let mut counts: Vec<(String, f64)> = Vec::new();
    for (world, rules) in taught.iter().enumerate() {
        let kind = match passing(world as u64) {
            PassingKind::Call => "a call",
            PassingKind::Value => "a value",
        };
        for (role, rules) in rules {
            for rule in rules {
                let name = format!("the {} '{rule}' where {kind} passes", role.name());
                match counts.iter_mut().find(|(known, _)| *known == name) {
                    Some((_, count)) => *count += 1.0,
                    None => counts.push((name, 1.0)),
                }
            }
        }
    }
    counts.sort_by(|(one, _), (other, _)| one.cmp(other));
    counts
}

fn record(figures: &mut Figures<'_>, name: &str, cells: &[Cell]) {
    let mean = |value: &dyn Fn(&Cell) -> f64| {
        let values: Vec<f64> = cells.iter().map(value).collect();
        stats::mean(&values)
    };
    let mut told = |what: &str, value: f64| {
        figures.record(&format!("{name}.{what}"), value, Bound::None);
    };
    told("first attempt", mean(&|cell| cell.first));
    told(
        "tools with a right skill on offer",
        mean(&|cell| f64::from(cell.covered)),
    );
    let kinds = WRITERS.iter().enumerate();
    let kinds = kinds.map(|(at, (what, _))| (*what, Some(at)));
    for (what, at) in kinds.chain([("offered", None)]) {
        let of = |cell: &Cell| at.map_or(cell.offered, |at| cell.written[at]);
        told(what, mean(&|cell| f64::from(of(cell).skills)));
        let all: f64 = cells.iter().map(|cell| f64::from(of(cell).skills)).sum();
        for (which, count) in [
            ("right", (|of| of.right) as fn(Written) -> u32),
            ("lacking", |of| of.lacking),
            ("lacking a call", |of| of.lacking_call),
            ("lacking a value", |of| of.lacking_value),
            ("asking for more", |of| of.more),
        ] {
            let some: f64 = cells.iter().map(|cell| f64::from(count(of(cell)))).sum();
            if all > 0.0 {
                told(&format!("{what}, {which}"), some / all);
            }
        }
    }
}

async fn cell(parts: &Parts, seed: Seed, world: u64, rules: &Rules) -> Result<Cell> {
    let universe = universe(seed, world)?;
    let stream = universe.stream(STREAM);
    let mut recipe = recipe::hisme_robust();
    without_rules(&mut recipe);
    let store = Arc::new(MemoryStore::new());
    let journeyman = parts.open(recipe, "hisme", seed, store, None).await?;
    for (role, rules) in rules {
        let given = journeyman.set_rules(*role, rules.clone(), "what another world taught");
        given.await?;
    }
    for part in stream.chunks(CHECK) {
        journeyman.learn(spoken::tasks(part, seed)?).await?;
    }
    let held_out = spoken::tasks(&universe.held_out(&stream, HELD_OUT), seed)?;
    let report = journeyman.evaluate(held_out).await?;
    let library = journeyman.library().await?;
    let mut cell = judged(&library, &universe);
    cell.first = check(&report, STREAM)?.first;
    let said = |(role, rules): &(Role, Vec<RoleRule>)| {
        let role = role.name();
        let rules = rules.iter().map(move |rule| format!("{role}: {rule}"));
        rules.collect::<Vec<_>>()
    };
    cell.rules = rules.iter().flat_map(said).collect();
    Ok(cell)
}

/// What the library holds, beside what the services ask for. Each version of a skill counts as written.
fn judged(library: &SkillLibrary, universe: &Universe) -> Cell {
    let truths = truths(universe);
    let of = |body: &str| {
        let said = read(body)?;
        let truth = truths.iter().find(|truth| truth.tool == said.tool)?;
        Some(compared(&said, truth))
    };
    let all: Vec<&Entry> = library.entries().chain(library.deleted()).collect();
    let versions = || all.iter().flat_map(|entry| entry.versions());
    let sum = |bodies: &mut dyn Iterator<Item = &str>| {
        bodies
            .filter_map(of)
            .fold(Written::default(), Written::plus)
    };
    let offered = || {
        let offered = library.entries().filter(|one| one.skill.state.is_offered());
        offered.map(|entry| entry.skill.body.as_str())
    };
    let covered = truths.iter().filter(|truth| {
        let mut right = offered().filter_map(read);
        right.any(|said| said.does_the_same(truth))
    });
    Cell {
        first: f64::NAN,
        written: WRITERS.map(|(_, origin)| {
            let written = versions().filter(|skill| skill.provenance.origin == origin);
            sum(&mut written.map(|skill| skill.body.as_str()))
        }),
        offered: sum(&mut offered()),
        covered: covered.count() as u32,
        rules: Vec::new(),
    }
}

/// What the tools with a hidden contract ask for.
fn truths(universe: &Universe) -> Vec<Recipe> {
    let hidden = universe.members().iter();
    let hidden = hidden.filter(|member| member.service.is_hidden());
    hidden
        .map(|Member { service, given, .. }| Recipe::of(service, given))
        .collect()
}

/// How one skill compares with what the service asks for.
fn compared(said: &Recipe, truth: &Recipe) -> Written {
    let lacking_call = truth.before.iter().any(|call| !said.before.contains(call));
    let mut more = said.before.iter().any(|call| !truth.before.contains(call));
    let mut lacking_value = false;
    for (parameter, wanted) in &truth.arguments {
        let mut known = said.arguments.iter();
        let found = known.find(|(name, _)| name == parameter);
        lacking_value |= found.is_none_or(|(_, value)| value != wanted);
        more |= found.is_some_and(|(_, value)| value != wanted);
    }
    let is_wanted = |name: &str| truth.arguments.iter().any(|(wanted, _)| wanted == name);
    more |= said.arguments.iter().any(|(name, _)| !is_wanted(name));
    Written {
        skills: 1,
        right: u32::from(said.does_the_same(truth)),
        lacking: u32::from(lacking_call || lacking_value),
        lacking_call: u32::from(lacking_call),
        lacking_value: u32::from(lacking_value),
        more: u32::from(more),
    }
}

impl Written {
    fn plus(self, other: Self) -> Self {
        Self {
            skills: self.skills + other.skills,
            right: self.right + other.right,
            lacking: self.lacking + other.lacking,
            lacking_call: self.lacking_call + other.lacking_call,
            lacking_value: self.lacking_value + other.lacking_value,
            more: self.more + other.more,
        }
    }
}

impl Given {
    fn rules(self, world: u64, donors: &[(Role, Vec<RoleRule>)]) -> Result<Rules> {
        let learning = || Role::ALL.into_iter().filter(|role| role.learns_rules());
        let leaves_out = match passing(world) {
            PassingKind::Call => Feature::First,
            PassingKind::Value => Feature::Carried,
        };
        let [_, avoid] = Rule::about(leaves_out);
        let rule = RoleRule::new(avoid.to_string())?;
        Ok(match self {
            Self::Nothing => Vec::new(),
            Self::Donors => donors.to_vec(),
            Self::True => learning().map(|role| (role, vec![rule.clone()])).collect(),
            Self::TrueFor(role) => vec![(role, vec![rule])],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::noisy::HIDDEN, *};

    #[test]
    fn what_is_lacking_and_what_is_more_are_told_apart() {
        let truth = "1. Call lock_disk.\n2. Call move_file with from from the task, mode safe.";
        let truth = read(truth).unwrap();
        let compared = |said: &str| {
            let one = compared(&read(said).unwrap(), &truth);
            assert_eq!(one.skills, 1);
            (one.right, one.lacking, one.more)
        };
        let (lock, open) = ("1. Call lock_disk.\n", "1. Call open_door.\n");
        let moved = |with: &str| format!("2. Call move_file with from from the task{with}.");
        for (said, expected) in [
            (format!("{lock}{}", moved(", mode safe")), (1, 0, 0)),
            (moved(", mode safe"), (0, 1, 0)),
            (format!("{lock}{}", moved("")), (0, 1, 0)),
            (
                format!("{lock}{}", moved(", mode safe, keep yes")),
                (0, 0, 1),
            ),
            (format!("{open}{lock}{}", moved(", mode safe")), (0, 0, 1)),
            (format!("{lock}{}", moved(", mode fast")), (0, 1, 1)),
        ] {
            assert_eq!(compared(&said), expected, "{said}");
        }
    }

    #[test]
    fn no_contract_has_what_the_true_rule_leaves_out() {
        let seeds = [1, 2, 3, 4, 5, 100];
        for (seed, world) in seeds
            .into_iter()
            .flat_map(|seed| (0..WORLDS).map(move |world| (seed, world)))
        {
            let rules = Given::True.rules(world, &[]).unwrap();
            assert_eq!(rules.len(), 3);
            let universe = universe(Seed(seed).derive("world", world), world).unwrap();
            let truths = truths(&universe);
            assert_eq!(truths.len(), HIDDEN);
            let rule = Rule::parse(rules[0].1[0].as_str()).unwrap();
            assert!(truths.iter().all(|one| rule.allows(one)), "world {world}");
        }
    }
}
