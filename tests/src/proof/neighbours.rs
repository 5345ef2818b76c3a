//! A planted neighbour on real inference: a new skill does the tasks of its own service, and is chosen for those of another one,
//! where it takes the place of the skill that does them.

use std::num::NonZeroU64;

use futures::executor::block_on;
use journeyman::{
    Seed, SkillId,
    domain::{Skill, SkillDraft, State, Task},
    library::{Entry, SkillLibrary},
    recipe::ScheduledProgram,
    run::report::TaskReport,
    stations::proof::{ComparePolicy, Comparison, Conclusion, ProvenRelease},
};
use journeyman_toolworld::{
    stream::{Member, StreamTask, Universe, UniverseSpec},
    tool::ToolName,
};
use quickstart::{Parts, spoken};
use serde::{Deserialize, Serialize};

use super::{
    percent,
    services::{STEPS, admitted, done, evaluated, opened, taking_the_best},
};
use crate::figures::{Bound, Figures, Outcome, key, stats};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Worlds of a seed, and the services of each, all with a hidden contract.
const WORLDS: u64 = 5;
const SERVICES: usize = 12;
/// Tasks of the neighbour's service before the new skills come, of each new skill's, and held-out ones of the neighbour's.
const BEFORE: usize = 8;
const TRIED: usize = 10;
const HELD_OUT: usize = 12;
/// Attempts that are kept: all.
const KEPT: usize = BEFORE + 2 * TRIED;
/// The new skills.
const BREAKING: &str = "breaking";
const HARMLESS: &str = "harmless";

/// What came of the new skills.
#[derive(Debug, Serialize, Deserialize)]
struct Came {
    breaking: Trial,
    harmless: Trial,
    /// Of the neighbour's held-out tasks: done at once, and with the breaking skill in the prompt, %.
    done: f64,
    taken: f64,
}

/// What came of one of them.
#[derive(Debug, Serialize, Deserialize)]
struct Trial {
    /// Whether its pairs prove that it helps.
    proven: bool,
    released: bool,
    /// Whether it is on trial for the record of a task that it breaks. It may be there for other reasons: an attempt that failed for the
    /// moment, or a budget that is used up.
    held_back: bool,
}

/// What came of a world.
#[derive(Debug, Serialize, Deserialize)]
struct World {
    /// The neighbour's held-out tasks that are done at once with its own skill alone, %.
    before: f64,
    /// With the look at neighbours before a release, and without it.
    with: Came,
    without: Came,
}

/// Measures and records.
pub fn run(figures: &mut Figures<'_>) -> Outcome {
    let parts = figures.parts(STEPS)?;
    let seed = figures.options().seed;
    let mut worlds: Vec<World> = Vec::new();
    for world in 0..WORLDS {
        let key = key(&parts, &format!("planted neighbour, world {world}"));
        let seed = seed.derive("neighbours", world);
        worlds.push(figures.once(&key, || block_on(measured(&parts, seed)))?);
    }
    for (name, value, bound) in rows(&worlds) {
        figures.record(&format!("planted neighbour: {name}"), value, bound);
    }
    Ok(())
}

type Row = (&'static str, f64, Bound);

fn rows(worlds: &[World]) -> Vec<Row> {
    let mean = |of: fn(&World) -> f64| stats::mean(&worlds.iter().map(of).collect::<Vec<f64>>());
    // Of those that pass the first test; of none nothing is known, and that is no number.
    let share = |among: fn(&World) -> bool, is: fn(&World) -> bool| {
        let among = worlds.iter().filter(|world| among(world));
        percent(
            among.clone().filter(|world| is(world)).count(),
            among.count(),
        )
    };
    vec![
        (
            "breaking skills that are proven at their own tasks, %",
            share(|_| true, |world| world.with.breaking.proven),
            Bound::None,
        ),
        (
            "of these held back, %",
            share(
                |world| world.with.breaking.proven,
                |world| world.with.breaking.held_back,
            ),
            Bound::AtLeast(100.0),
        ),
        (
            "harmless skills released, %",
            share(|_| true, |world| world.with.harmless.released),
            Bound::AtLeast(100.0),
        ),
        (
            "its tasks done at once before, %",
            mean(|world| world.before),
            Bound::None,
        ),
        (
            "its tasks done at once after, %",
            mean(|world| world.with.done),
            Bound::None,
        ),
        (
            "its tasks lost, points",
            mean(|world| world.before - world.with.done),
            Bound::AtMost(5.0),
        ),
        (
            "not looked at: breaking skills released, %",
            share(|_| true, |world| world.without.breaking.released),
            Bound::None,
        ),
        (
            "not looked at: breaking skill chosen at its tasks, %",
            mean(|world| world.without.taken),
            Bound::None,
        ),
        (
            "not looked at: its tasks done at once after, %",
            mean(|world| world.without.done),
            Bound::None,
        ),
        (
            "not looked at: its tasks lost, points",
            mean(|world| world.before - world.without.done),
            Bound::None,
        ),
    ]
}

async fn measured(parts: &Parts, seed: Seed) -> Result<World, Failure> {
    let plant = Plant::of(seed)?;
    let alone = vec![plant.in_use.clone()];
    let before = evaluated(parts, seed, alone, &plant.held_out).await?;
    let looked_at = ProvenRelease::default().neighbours;
    Ok(World {
        before: 100.0 * stats::mean(&before),
        with: came(parts, seed, &plant, looked_at).await?,
        without: came(parts, seed, &plant, 0).await?,
    })
}

/// The neighbour's skill does its tasks; then two new skills are on trial, and proof releases them.
async fn came(parts: &Parts, seed: Seed, plant: &Plant, neighbours: u32) -> Result<Came, Failure> {
    let mut recipe = taking_the_best();
    recipe.tiers.traces = KEPT;
    // Once, after the last task: those of the neighbour count, too.
    let every = const { NonZeroU64::new(KEPT as u64).expect("not 0") };
    let mut release = ProvenRelease::default();
    release.neighbours = neighbours;
    recipe.maintenance.programs = vec![ScheduledProgram::new(every, release)];
    let session = opened(parts, recipe, seed, vec![plant.in_use.clone()]).await?;
    session.learn(plant.of_neighbour.clone()).await?;
    session.add(plant.new.to_vec(), "the figures").await?;
    session.learn(plant.of_new.clone()).await?;
    let library = session.library().await?;
    let of = |name: &str| -> Result<Trial, Failure> {
        let entry = library.get(&SkillId::new(name));
        Trial::of(&library, entry.ok_or("a new skill is gone")?)
    };
    let report = session.evaluate(plant.held_out.clone()).await?;
    let share = |is: fn(&TaskReport) -> bool| {
        let tasks = report.tasks.iter().filter(|task| is(task));
        percent(tasks.count(), report.tasks.len())
    };
    Ok(Came {
        breaking: of(BREAKING)?,
        harmless: of(HARMLESS)?,
        done: share(|task| done(task) == Some(true)),
        taken: share(|task| {
            let mut skills = task.attempts.iter().flat_map(|one| &one.injected);
            skills.any(|skill| skill.id.as_str() == BREAKING)
        }),
    })
}

impl Trial {
    fn of(library: &SkillLibrary, entry: &Entry) -> Result<Self, Failure> {
        let mut comparison = Comparison::new(ComparePolicy::default())?;
        for pair in entry.life.pairs(entry.skill.version) {
            comparison.add(pair.before, pair.with);
        }
        let (id, version) = (&entry.skill.id, entry.skill.version);
        let record = format!("neighbours/{id}/{version}/");
        let mut marks = library.handled();
        let is_recorded = marks.any(|mark| mark.subject.starts_with(&record));
        Ok(Self {
            proven: comparison.conclusion() == Conclusion::Better,
            released: entry.skill.state == State::Active,
            held_back: entry.skill.state == State::Trial && is_recorded,
        })
    }
}

/// The skills and tasks of a world.
struct Plant {
    /// The neighbour's.
    in_use: Skill,
    /// The breaking one and the harmless one, on trial.
    new: [Skill; 2],
    of_neighbour: Vec<Task>,
    of_new: Vec<Task>,
    /// The neighbour's.
    held_out: Vec<Task>,
}

impl Plant {
    fn of(seed: Seed) -> Result<Self, Failure> {
        let universe = Universe::make(UniverseSpec::of(SERVICES, 0), seed.0)?;
        let services = apart(universe.members());
        let [neighbour, breaking, harmless] =
            services.ok_or("no three services of a world have words of their own")?;
        let stream = universe.stream(SERVICES * TRIED);
        let held_out = universe.held_out(&stream, SERVICES * HELD_OUT);
        let mut first = about(&stream, &[neighbour]);
        first.truncate(BEFORE);
        let skill = |id: &str, draft: SkillDraft| admitted(&draft, SkillId::new(id));
        let on_trial = |skill: Skill| skill.with_state(State::Trial);
        let reaching = reaching(breaking, &neighbour.service.tool.name);
        Ok(Self {
            in_use: skill("neighbour", terse(neighbour, 1))?,
            new: [
                on_trial(skill(BREAKING, reaching)?),
                on_trial(skill(HARMLESS, terse(harmless, 2))?),
            ],
            of_neighbour: spoken::tasks(&first, seed)?,
            of_new: spoken::tasks(&about(&stream, &[breaking, harmless]), seed)?,
            held_out: spoken::tasks(&about(&held_out, &[neighbour]), seed)?,
        })
    }
}

/// Three services that share no verb and no noun, so that a search mistakes none for another one.
fn apart(members: &[Member]) -> Option<[&Member; 3]> {
    let differ = |one: &Member, other: &Member| {
        let (one, other) = (&one.service.tool.name, &other.service.tool.name);
        one.verb != other.verb && one.noun != other.noun
    };
    members.iter().enumerate().find_map(|(at, first)| {
        let others = members.get(at + 1..)?;
        others.iter().enumerate().find_map(|(at, second)| {
            let mut others = others.get(at + 1..)?.iter();
            let is_apart = |third: &&Member| differ(first, third) && differ(second, third);
            let third = others.find(is_apart).filter(|_| differ(first, second))?;
            Some([first, second, third])
        })
    })
}

/// The tasks about these services.
fn about(tasks: &[StreamTask], services: &[&Member]) -> Vec<StreamTask> {
    let is_about = |task: &&StreamTask| {
        let mut names = services.iter().map(|one| &one.service.tool.name);
        names.any(|name| *name == task.world.goal.target)
    };
    tasks.iter().filter(is_about).cloned().collect()
}

/// The right skill of a service with a number for a name, and without a trigger, as a hurried person writes it.
fn terse(member: &Member, number: u32) -> SkillDraft {
    let mut draft = spoken::draft(member);
    draft.title = format!("skill-{number}");
    draft.trigger = None;
    draft
}

/// The right skill of a service that says of itself that it is for the other one, too.
fn reaching(member: &Member, other: &ToolName) -> SkillDraft {
    let ToolName { verb, noun } = &member.service.tool.name;
    let (its_verb, its_noun) = (&other.verb, &other.noun);
    let mut draft = spoken::draft(member);
    draft.description = format!(
        "How to {verb} the {noun}. Use when a task asks to {verb} the {noun} or {its_verb} the {its_noun}."
    );
    draft.trigger = Some(format!(
        "A task asks to {its_verb} the {its_noun}, {its_verb} that {its_noun}, {its_verb} this {its_noun}, \
         or to {verb} the {noun}."
    ));
    draft
}

#[cfg(test)]
mod tests {
    use journeyman::{contract::Retriever, domain::Query};
    use journeyman_tantivy::Bm25Retriever;

    use super::*;
    use crate::skills::whole;

    /// The id of the skill that the search finds first.
    fn first(retriever: &Bm25Retriever, task: &Task, among: &[&str]) -> String {
        let among: Vec<SkillId> = among.iter().map(|id| SkillId::new(*id)).collect();
        let query = Query::new(task.instruction.clone(), 1).with_among(among);
        let found = block_on(retriever.search(&query)).unwrap();
        found[0].skill.id.to_string()
    }

    #[test]
    fn the_search_finds_the_breaking_skill_first_for_the_neighbours_tasks_and_the_harmless_one_for_its_own()
     {
        for world in 0..WORLDS {
            let plant = Plant::of(Seed(101).derive("neighbours", world)).unwrap();
            let [breaking, harmless] = plant.new.clone();
            let retriever = Bm25Retriever::new(Default::default()).unwrap();
            let all = vec![breaking, harmless, plant.in_use.clone()];
            block_on(retriever.refresh(&whole(all))).unwrap();
            let all = [BREAKING, HARMLESS, "neighbour"];
            let count = |tasks: &[Task], among: &[&str], name: &str| {
                let found = tasks.iter().map(|task| first(&retriever, task, among));
                found.filter(|found| found == name).count()
            };
            let tasks = &plant.held_out;
            assert_eq!((tasks.len(), plant.of_neighbour.len()), (HELD_OUT, BEFORE));
            assert!(count(tasks, &all, BREAKING) >= HELD_OUT - 3);
            // Without it, the neighbour's skill is the first.
            assert_eq!(count(tasks, &all[1..], "neighbour"), HELD_OUT);
            assert_eq!(plant.of_new.len(), 2 * TRIED);
            assert!(count(&plant.of_new, &all, BREAKING) >= TRIED - 1);
            assert!(count(&plant.of_new, &all, HARMLESS) >= TRIED - 1);
        }
    }

    #[test]
    fn what_is_held_back_is_counted_among_the_proven_alone() {
        let trial = |proven, released| Trial {
            proven,
            released,
            held_back: !released,
        };
        let came = |proven, released, done| Came {
            breaking: trial(proven, released),
            harmless: trial(true, true),
            done,
            taken: 100.0,
        };
        let world = |with: Came| World {
            before: 100.0,
            with,
            without: came(true, true, 0.0),
        };
        let mut worlds = [
            world(came(true, false, 100.0)),
            world(came(false, false, 100.0)),
            world(came(true, true, 40.0)),
        ];
        let value = |worlds: &[World], name: &str| {
            let rows = rows(worlds);
            let row = rows.iter().find(|(known, ..)| *known == name);
            row.map(|(_, value, _)| *value)
        };
        assert_eq!(value(&worlds, "of these held back, %"), Some(50.0));
        assert_eq!(value(&worlds, "its tasks lost, points"), Some(20.0));
        let lost = value(&worlds, "not looked at: its tasks lost, points");
        assert_eq!(lost, Some(100.0));
        // One that waits for another reason is not held back.
        worlds[0].with.breaking.held_back = false;
        assert_eq!(value(&worlds, "of these held back, %"), Some(0.0));
    }
}
