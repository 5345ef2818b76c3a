//! A poisoned start: half of the skills that the stream begins with are wrong.

use std::{collections::BTreeMap, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed, SkillId,
    agent::MemoryStore,
    domain::{Judgement, Origin, Skill, State},
    library::{Entry, SkillLibrary},
    recipe,
    run::report::RunReport,
    stations::select::Nothing,
};
use journeyman_toolworld::{
    rivals::stale_service,
    seed::Draws,
    stream::{Member, StreamTask, Universe, UniverseSpec},
    world::WorldSpec,
};
use quickstart::{Parts, Summaries, spoken};
use serde::{Deserialize, Serialize};

use super::{
    Change,
    harm::{self, Given, Learnt, Made, Since},
    hisme::{HARMED, without_filter, without_refiner},
    judged::Judged,
    key,
};
use crate::{
    figures::{Bound, Figures, Outcome, attempted, stats},
    skills::admitted,
};

const WORLDS: u64 = 4;
/// Tools with a hidden contract, each with a skill at the start.
const HIDDEN: usize = 8;
/// Each tool comes five times: what is harmful twice and is written anew needs two tasks more for its release.
const STREAM: usize = 50;
const HELD_OUT: usize = 40;
/// How many tasks of the stream are looked at together.
const PART: usize = 10;
const RESAMPLES: usize = 4000;

/// What came of one world.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    none: Held,
    before: Held,
    after: Held,
    /// What credit the skills got that tasks of the stream were given.
    judged: Judged,
    /// Each held-out task's tool.
    tools: Vec<String>,
    /// Wrong skills at the start.
    wrong: usize,
    /// Of these, offered at the end with a text that is not right, though attempts of the stream followed them.
    left: usize,
    /// Of these, never followed: they did nothing, good or bad, and nothing is known of them.
    idle: usize,
    /// Of all wrong ones, those that some attempt of the stream was judged to be harmed by. What only lacks something helps.
    harmful: usize,
    /// Of these, offered at the end with a text that is not right.
    harmful_left: usize,
    /// The prompts of the held-out tasks, before the stream and after it.
    given: [Vec<Given>; 2],
    /// The stream's attempts.
    made: Vec<Made>,
    /// What became of each wrong skill.
    fates: Vec<Fate>,
}

/// What became of a wrong skill.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fate {
    tool: String,
    state: State,
    /// Whether it is offered at the end with a text that is not right.
    left: bool,
    /// Its versions' bodies, the latest last.
    bodies: Vec<String>,
    /// Attempts of the stream that had it in the prompt, and that are known to have followed it.
    injected: u64,
    used: u64,
    /// Judgements of all its versions: helpful, harmful, neutral, uncertain.
    judged: [u32; 4],
    /// Held-out tasks of its tool that go worse after the stream than without skills.
    harmed: usize,
}

impl Fate {
    /// Of a wrong skill by its entry, and the member that it is about.
    fn of(entry: &Entry, member: &Member, (left, harmed): (bool, usize)) -> Self {
        let lifetime = entry.life.lifetime();
        let mut judged = [0; 4];
        for version in entry.versions() {
            let counts = entry.life.counts_of_all_trials(version.version);
            let counts = [
                counts.helpful,
                counts.harmful,
                counts.neutral,
                counts.uncertain,
            ];
            for (sum, count) in judged.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        Self {
            tool: member.service.tool.name.to_string(),
            state: entry.skill.state,
            left,
            bodies: entry.versions().map(|skill| skill.body.clone()).collect(),
            injected: lifetime.injected,
            used: lifetime.used,
            judged,
            harmed,
        }
    }
}

/// What came of the held-out tasks, one by one.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Held {
    /// Done at the first attempt, 0 or 1.
    first: Vec<f64>,
    /// Done within the budget, 0 or 1.
    success: Vec<f64>,
    /// The verdict's score.
    score: Vec<f64>,
}

impl Held {
    fn of(report: &RunReport) -> Result<Self> {
        let report = attempted(report)?;
        let attempts = report.tasks.iter().filter_map(|task| task.attempts.first());
        let done: Vec<bool> = attempts
            .clone()
            .map(|attempt| attempt.success == Some(true))
            .collect();
        Ok(Self {
            first: stats::flags(&Summaries::first_attempts(report)),
            success: stats::flags(&done),
            score: attempts.map(|attempt| attempt.score).collect(),
        })
    }

    /// The share of tasks that go worse than without skills.
    fn harmed(&self, none: &Self) -> f64 {
        let pairs = self.score.iter().zip(&none.score);
        let worse = pairs.map(|(with, without)| f64::from(u8::from(with < without)));
        stats::mean(&worse.collect::<Vec<_>>())
    }
}

/// The arms: what mends and what filters, each switched off in turn, and both.
const ARMS: [(&str, Change); 4] = [
    ("poisoned", |_| {}),
    ("poisoned, no credit filter", without_filter),
    ("poisoned, no refiner", without_refiner),
    ("poisoned, no refiner, no credit filter", |recipe| {
        without_refiner(recipe);
        without_filter(recipe);
    }),
];

/// What each is worth; of the filter a bound where nothing is mended.
const PAIRS: [(&str, &str, Bound); 3] = [
    ("poisoned", "poisoned, no refiner", Bound::Above(0.0)),
    ("poisoned", "poisoned, no credit filter", Bound::None),
    (
        "poisoned, no refiner",
        "poisoned, no refiner, no credit filter",
        Bound::Above(0.0),
    ),
];

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let seed = figures.options().seed;
    let mut arms: Vec<(&str, Vec<f64>)> = Vec::new();
    for (arm, change) in ARMS {
        let mut cells: Vec<Cell> = Vec::new();
        for world in 0..WORLDS {
            let key = key(parts, &format!("{arm}, world {world}"));
            cells.push(figures.once(&key, || {
                let seed = seed.derive("poisoned", world);
                Ok(block_on(cell(parts, seed, change))?)
            })?);
        }
        arms.push((arm, end(figures, arm, &cells)));
        told(figures, arm, &cells);
        if arm == "poisoned" {
            start(figures, &cells)?;
        }
    }
    let worlds = |name: &str| {
        let arm = arms.iter().find(|(arm, _)| *arm == name);
        arm.map_or(&[][..], |(_, worlds)| worlds)
    };
    for (one, other, bound) in PAIRS {
        let over = stats::paired(worlds(one), worlds(other));
        let name = format!("{one} over {other}, after the stream");
        figures.record(&name, over.mean, bound);
        let name = format!("{name}, over worlds");
        figures.interval(&name, &over, Bound::None, Bound::None);
    }
    Ok(())
}

/// What the stream began with and came to, against no skills.
fn start(figures: &mut Figures<'_>, cells: &[Cell]) -> Outcome {
    let seed = figures.options().seed;
    let all = |values: &dyn Fn(&Cell) -> &[f64]| -> Vec<f64> {
        let cells = cells.iter();
        cells.flat_map(|cell| values(cell).to_vec()).collect()
    };
    let before = all(&|cell| &cell.before.first);
    figures.record(
        "poisoned.before the stream",
        stats::mean(&before),
        Bound::None,
    );
    let tools: Vec<String> = (0..WORLDS)
        .zip(cells)
        .flat_map(|(world, cell)| cell.tools.iter().map(move |tool| format!("{world} {tool}")))
        .collect();
    for (what, none, after) in [
        (
            "first attempt",
            all(&|cell| &cell.none.first),
            all(&|cell| &cell.after.first),
        ),
        (
            "success",
            all(&|cell| &cell.none.success),
            all(&|cell| &cell.after.success),
        ),
    ] {
        let name = format!("poisoned.no skills, {what}");
        figures.record(&name, stats::mean(&none), Bound::None);
        let gain = stats::clustered(&none, &after, &tools, seed.derive("tools", 0), RESAMPLES)?;
        let name = format!("poisoned.after the stream over no skills, {what}");
        figures.interval(&name, &gain, Bound::AtLeast(-0.02), Bound::None);
    }
    let harmed = |held: &dyn Fn(&Cell) -> &Held| {
        let worlds = cells.iter().map(|cell| held(cell).harmed(&cell.none));
        stats::mean(&worlds.collect::<Vec<_>>())
    };
    let (harmed, still) = (harmed(&|cell| &cell.before), harmed(&|cell| &cell.after));
    figures.record(
        "poisoned.harmed tasks before the stream",
        harmed,
        Bound::None,
    );
    let name = "poisoned.harmed tasks after the stream";
    figures.record(name, still, Bound::AtMost(HARMED));
    let name = "poisoned.fall of harmed tasks";
    figures.record(name, harmed - still, Bound::Above(0.0));
    let judged = Judged::sum(cells.iter().map(|cell| &cell.judged));
    judged.record(figures, "poisoned", PART, Bound::Above(0.0));
    let wrong = cells.iter().map(|cell| cell.wrong).sum::<usize>() as f64;
    let skills = (HIDDEN * cells.len()) as f64;
    let name = "poisoned.wrong skills at the start, of all";
    figures.record(name, wrong / skills, Bound::AtLeast(0.4));
    Ok(())
}

/// A part of a cell.
type HeldOf = fn(&Cell) -> &Held;

/// Which wrong skills.
type IsFate = fn(&Fate) -> bool;

/// What stood in the prompts of the held-out tasks that go worse than without skills, and what became of the wrong skills.
fn told(figures: &mut Figures<'_>, arm: &str, cells: &[Cell]) {
    let held: [(&str, HeldOf); 2] = [
        ("before", |cell| &cell.before),
        ("after", |cell| &cell.after),
    ];
    for (number, (when, held)) in held.into_iter().enumerate() {
        // All arms begin alike.
        if when == "before" && arm != "poisoned" {
            continue;
        }
        let tasks = cells.iter().flat_map(|cell| {
            let given = cell.given.get(number).into_iter().flatten();
            let scores = held(cell).score.iter().zip(&cell.none.score);
            given
                .zip(scores)
                .map(|(given, (with, without))| (given, *with, *without))
        });
        let tasks: Vec<(&Given, f64, f64)> = tasks.collect();
        harm::record(figures, &format!("harm.{arm}, {when}"), &tasks);
    }
    let fates: Vec<&Fate> = cells.iter().flat_map(|cell| &cell.fates).collect();
    let kinds: [(&str, IsFate); 6] = [
        ("all", |_| true),
        ("mended into another wrong one", |fate| {
            fate.bodies.len() > 1
        }),
        ("never judged harmful", |fate| fate.judged[1] == 0),
        ("judged harmful once", |fate| fate.judged[1] == 1),
        ("judged helpful", |fate| fate.judged[0] > 0),
        ("tasks of its tool go worse", |fate| fate.harmed > 0),
    ];
    for (what, is) in kinds {
        let left = fates.iter().filter(|fate| fate.left && is(fate)).count();
        let name = format!("{arm}.wrong skills left, {what}");
        figures.record(&name, left as f64, Bound::None);
    }
}

/// What an arm came to; the first attempts of each world.
fn end(figures: &mut Figures<'_>, arm: &str, cells: &[Cell]) -> Vec<f64> {
    let worlds: Vec<f64> = cells
        .iter()
        .map(|cell| stats::mean(&cell.after.first))
        .collect();
    let name = format!("{arm}.after the stream");
    figures.record(&name, stats::mean(&worlds), Bound::None);
    let sum = |count: fn(&Cell) -> usize| cells.iter().map(count).sum::<usize>() as f64;
    let [wrong, left, idle] = [
        sum(|cell| cell.wrong),
        sum(|cell| cell.left),
        sum(|cell| cell.idle),
    ];
    let [harmful, harmful_left] = [sum(|cell| cell.harmful), sum(|cell| cell.harmful_left)];
    let name = format!("{arm}.wrong skills never followed");
    figures.record(&name, idle / wrong, Bound::None);
    let gone = 1.0 - left / (wrong - idle);
    let name = format!("{arm}.of those followed disabled or mended");
    figures.record(&name, gone, Bound::None);
    let bound = match arm {
        "poisoned" => Bound::AtLeast(0.9),
        _ => Bound::None,
    };
    let name = format!("{arm}.of those judged harmful disabled or mended");
    figures.record(&name, 1.0 - harmful_left / harmful, bound);
    worlds
}

async fn cell(parts: &Parts, seed: Seed, change: Change) -> Result<Cell> {
    let universe = Universe::make(UniverseSpec::of(HIDDEN, 2), seed.0)?;
    let stream = universe.stream(STREAM);
    let held_out = universe.held_out(&stream, HELD_OUT);
    let (skills, wrong) = skills(&universe, &stream, seed)?;
    let store = Arc::new(MemoryStore::new());
    let mut learning = recipe::hisme_robust();
    change(&mut learning);
    let journeyman = parts
        .open(learning, "poisoned", seed, store.clone(), None)
        .await?;
    journeyman
        .add(skills, "what the stream begins with")
        .await?;
    let mut since = Since::new();
    let first = journeyman.library().await?;
    harm::note(&mut since, &first, 0);
    let before = journeyman.evaluate(spoken::tasks(&held_out, seed)?).await?;
    journeyman.learn(spoken::tasks(&stream, seed)?).await?;
    let after = journeyman.evaluate(spoken::tasks(&held_out, seed)?).await?;
    let mut unaided = recipe::hisme_robust();
    unaided.select.selector = Nothing.into();
    let nobody = parts.open(unaided, "unaided", seed, store, None).await?;
    let none = nobody.evaluate(spoken::tasks(&held_out, seed)?).await?;
    let library = journeyman.library().await?;
    harm::note(&mut since, &library, STREAM);
    let given = |report: &RunReport, library: &SkillLibrary| {
        let learnt = Learnt {
            universe: &universe,
            stream: &stream,
            library,
            since: &since,
        };
        (learnt.given(report, &held_out), learnt.made())
    };
    let (given_before, _) = given(&before, &first);
    let (given_after, made) = given(&after, &library);
    let tools: Vec<String> = held_out
        .iter()
        .map(|task| task.world.goal.target.to_string())
        .collect();
    let (none, after) = (Held::of(&none)?, Held::of(&after)?);
    let worse = |tool: &str| {
        let scores = after.score.iter().zip(&none.score);
        let of_it = tools.iter().zip(scores).filter(|(of, _)| *of == tool);
        of_it.filter(|(_, (with, without))| with < without).count()
    };
    let ended = Ended::of(&library, &wrong, worse);
    Ok(Cell {
        before: Held::of(&before)?,
        judged: Judged::of(&stream, PART, &library),
        wrong: wrong.len(),
        left: ended.left,
        idle: ended.idle,
        harmful: ended.harmful,
        harmful_left: ended.harmful_left,
        given: [given_before, given_after],
        made,
        fates: ended.fates,
        none,
        after,
        tools,
    })
}

/// What became of the wrong skills.
struct Ended {
    left: usize,
    idle: usize,
    harmful: usize,
    harmful_left: usize,
    fates: Vec<Fate>,
}

impl Ended {
    /// Of wrong skills, by the members that they are about. `worse` has the number of held-out tasks of a tool that go worse than
    /// without skills.
    fn of(
        library: &SkillLibrary,
        wrong: &BTreeMap<SkillId, Member>,
        worse: impl Fn(&str) -> usize,
    ) -> Self {
        let mended = |entry: &Entry| {
            let right = wrong.get(&entry.skill.id);
            right.is_some_and(|right| spoken::says(&entry.skill.body, right))
        };
        let is_left = |entry: &Entry| {
            let is_wrong = wrong.contains_key(&entry.skill.id) && !mended(entry);
            is_wrong && entry.skill.state == State::Active
        };
        let offered = library.entries().filter(|entry| is_left(entry));
        let (left, idle): (Vec<_>, Vec<_>) =
            offered.partition(|entry| entry.life.lifetime().used > 0);
        let harmed = |entry: &&Entry| {
            let mut judged = entry.life.judged.iter();
            let harms = judged.any(|judged| judged.attribution.judgement == Judgement::Harmful);
            wrong.contains_key(&entry.skill.id) && harms
        };
        let all = || library.entries().chain(library.deleted());
        let fates = all().filter_map(|entry| {
            let member = wrong.get(&entry.skill.id)?;
            let harmed = worse(&member.service.tool.name.to_string());
            Some(Fate::of(entry, member, (is_left(entry), harmed)))
        });
        Self {
            left: left.len(),
            idle: idle.len(),
            harmful: all().filter(harmed).count(),
            harmful_left: left
                .iter()
                .chain(&idle)
                .filter(|entry| harmed(entry))
                .count(),
            fates: fates.collect(),
        }
    }
}

/// A skill for each tool with a hidden contract: for every other one as the service was once. Of those that are wrong, what
/// would be right.
fn skills(
    universe: &Universe,
    stream: &[StreamTask],
    seed: Seed,
) -> Result<(Vec<Skill>, BTreeMap<SkillId, Member>)> {
    let mut skills = Vec::new();
    let mut wrong = BTreeMap::new();
    let hidden = universe
        .members()
        .iter()
        .filter(|member| member.service.is_hidden());
    for (number, member) in hidden.enumerate() {
        let name = &member.service.tool.name;
        let task = stream.iter().find(|task| task.world.goal.target == *name);
        let mut draws = Draws::new("poisoned", &[seed.0, number as u64]);
        let old = task.filter(|_| number % 2 == 1).and_then(|task| {
            stale_service(&WorldSpec::default(), &mut task.world.clone(), &mut draws)
        });
        let id = SkillId::new(format!("start-{number:02}"));
        if old.is_some() {
            wrong.insert(id.clone(), member.clone());
        }
        let said = Member {
            service: old.unwrap_or_else(|| member.service.clone()),
            given: member.given.clone(),
        };
        skills.push(admitted(&spoken::draft(&said), id, Origin::Seed)?);
    }
    Ok((skills, wrong))
}
