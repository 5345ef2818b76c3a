//! SCRIBE: the judge that is bound to rubrics against an open one, the router against clusters that came later, and prototypes that
//! persist.

use std::{
    num::{NonZeroU32, NonZeroU64},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Result,
    agent::MemoryStore,
    contract::SkillStore,
    domain::{Assessment, Subgoal, Trace},
    library::SkillLibrary,
    papers::scribe::AssessPolicy,
    recipe::Recipe,
};
use quickstart::Parts;
use serde::{Deserialize, Serialize};

use super::{
    arms, bounded, difference,
    differences::Counts,
    judged::{Judge, Place, Scores, Tallies, Tally, facts, judged, only, scores, tallied},
    key,
    router::{Cut, against_the_world, router},
    spread,
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome, stats};

/// Worlds behind each figure.
pub(super) const WORLDS: u64 = 4;
/// Tools with a hidden contract.
pub(super) const HIDDEN: usize = 8;
/// Attempts whose subgoals are judged again and again: the latest that are kept.
const JUDGED: usize = 8;

/// How much is learned from.
#[derive(Clone, Copy)]
pub(super) struct Course {
    tasks: usize,
    /// Tasks between two refreshes.
    part: NonZeroU64,
    /// Attempts at a task.
    group: NonZeroU32,
    /// Whether subgoals are judged again at each refresh, for the drift of the judge.
    anchored: bool,
}

/// Four refreshes. No figure is of anchors.
pub(super) const COURSE: Course = Course {
    tasks: 20,
    part: NonZeroU64::new(5).expect("not 0"),
    group: NonZeroU32::new(2).expect("not 0"),
    anchored: false,
};

/// The same with twice the tasks and attempts.
pub(super) const LONG_COURSE: Course = Course {
    tasks: 40,
    part: NonZeroU64::new(10).expect("not 0"),
    group: arms::LARGE_GROUP,
    anchored: true,
};

const JUDGES: [&str; 2] = ["bound to rubrics", "open"];

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    bound: Judge,
    open: Judge,
    /// Of both judges for the subgoals of tasks without a passing demand alone, which no rubric can know.
    lasting: [Judge; 2],
    /// Counts of both judges by what was judged.
    tallies: [Tallies; 2],
    /// Subgoals that both judges scored each time, and those that were asked about.
    subgoals: [usize; 2],
    /// The router's accuracy: spans, skills, prototypes; and prototypes in a second pass over the clusters' own members.
    router: [f64; 4],
    /// The same cut beside the world's own.
    cut: Cut,
    /// Why routes differ from the clusters, and where the cut differs from the world's.
    differences: Counts,
    /// For each refresh, the share of the prototypes before that go on.
    persisting: Vec<f64>,
    prototypes: usize,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let mut cells: Vec<Cell> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("judged, world {number}"));
        cells.push(figures.once(&key, || {
            let world = World::of(HIDDEN, seed, number)?;
            Ok(cell(parts, &world)?)
        })?);
    }
    judges(figures, &cells);
    tallies(figures, &cells);
    prototypes(figures, &cells);
    Ok(())
}

/// The judge that is bound to rubrics beside the open one.
fn judges(figures: &mut Figures<'_>, cells: &[Cell]) {
    let of = |value: &dyn Fn(&Cell) -> f64| -> Vec<f64> { cells.iter().map(value).collect() };
    let subgoals = of(&|cell| cell.subgoals[0] as f64);
    spread(
        figures,
        "scribe.subgoals judged by both each time",
        &subgoals,
    );
    let asked = of(&|cell| cell.subgoals[1] as f64);
    spread(figures, "scribe.subgoals with a rubric", &asked);
    let bound = of(&|cell| cell.bound.variance);
    let open = of(&|cell| cell.open.variance);
    spread(
        figures,
        "scribe.variance of repeated judgements, bound to rubrics",
        &bound,
    );
    spread(
        figures,
        "scribe.variance of repeated judgements, open",
        &open,
    );
    difference(
        figures,
        "scribe.variance, bound to rubrics less open",
        (&bound, &open),
        (Bound::None, Bound::Below(0.0)),
    );
    let bound = of(&|cell| cell.bound.agreement);
    let open = of(&|cell| cell.open.agreement);
    bounded(
        figures,
        "scribe.agreement with the world, bound to rubrics",
        &bound,
        Bound::AtLeast(0.85),
    );
    spread(figures, "scribe.agreement with the world, open", &open);
    difference(
        figures,
        "scribe.agreement, bound to rubrics less open",
        (&bound, &open),
        (Bound::Above(0.0), Bound::None),
    );
    for (place, what) in JUDGES.into_iter().enumerate() {
        let agreement = of(&|cell| cell.lasting[place].agreement);
        let name = format!("scribe.agreement where no demand passes, {what}");
        spread(figures, &name, &agreement);
    }
}

/// The judgements by what was judged: how many, what is wrong with them, and how they vary.
fn tallies(figures: &mut Figures<'_>, cells: &[Cell]) {
    for (place, what) in JUDGES.into_iter().enumerate() {
        let mut all = Tallies::new();
        for (group, tally) in cells.iter().flat_map(|cell| &cell.tallies[place]) {
            all.entry(group.clone()).or_default().add(tally);
        }
        for (group, tally) in &all {
            let mut record = |name: &str, value: f64| {
                let name = format!("scribe.judgements, {what}, {group}: {name}");
                figures.record(&name, value, Bound::None);
            };
            let count = |count: fn(&Tally) -> usize| count(tally) as f64;
            record("all", count(|one| one.judgements));
            record("full score, not reached", count(|one| one.too_good));
            record("reached, with a flaw", count(|one| one.flawed));
            record("reached, and less than that", count(|one| one.missed));
            record("variance of a subgoal's", tally.variance());
        }
    }
}

/// The router, and the prototypes that it routes to.
fn prototypes(figures: &mut Figures<'_>, cells: &[Cell]) {
    let of = |value: &dyn Fn(&Cell) -> f64| -> Vec<f64> { cells.iter().map(value).collect() };
    for (place, what) in ["spans that match exactly", "skills", "prototypes"]
        .into_iter()
        .enumerate()
    {
        let accuracy = of(&|cell| cell.router[place]);
        let name = format!("scribe.router: {what}");
        bounded(figures, &name, &accuracy, Bound::AtLeast(0.95));
    }
    for (what, share) in [
        ("spans that match", (|cut| cut.spans) as fn(&Cut) -> f64),
        ("skills that match", |cut| cut.skills),
    ] {
        let share = of(&|cell| share(&cell.cut));
        let name = format!("scribe.cut beside the world's own: {what}");
        bounded(figures, &name, &share, Bound::AtLeast(0.95));
    }
    let found = of(&|cell| cell.cut.found);
    let name = "scribe.cut beside the world's own: spans of the world's that were found";
    spread(figures, name, &found);
    let attempts = of(&|cell| cell.cut.attempts as f64);
    spread(figures, "scribe.attempts that were cut", &attempts);
    let mut differences = Counts::default();
    cells
        .iter()
        .for_each(|cell| differences.add(&cell.differences));
    differences.record(figures, "scribe");
    let again = of(&|cell| cell.router[3]);
    let name = "scribe.router: prototypes of the clusters' own members, in a second pass";
    spread(figures, name, &again);
    let prototypes = of(&|cell| cell.prototypes as f64);
    spread(figures, "scribe.prototypes", &prototypes);
    let persisting = of(&|cell| stats::mean(&cell.persisting));
    bounded(
        figures,
        "scribe.prototypes that persist over a refresh",
        &persisting,
        Bound::AtLeast(0.9),
    );
}

/// The recipe that learns from the stream, and assesses what came of it.
pub(super) fn recipe(course: Course) -> Recipe {
    let mut recipe = arms::scribe();
    recipe.attempts.group = course.group;
    recipe.assess = Some(assess(course).into());
    recipe
}

/// How [`recipe`] assesses.
pub(super) fn assess(course: Course) -> AssessPolicy {
    let mut assess = arms::assess();
    assess.first = course.part;
    assess.refresh = course.part;
    assess.anchors = assess.anchors.filter(|_| course.anchored);
    assess
}

/// Learns from the stream. The library, and for each refresh but the first the share of prototypes that go on.
pub(super) fn learn(
    host: &Host<'_>,
    world: &World,
    course: Course,
) -> Result<(Arc<MemoryStore>, Vec<f64>)> {
    let store = Arc::new(MemoryStore::new());
    let session = host.open(recipe(course), store.clone(), None)?;
    let mut before = Vec::new();
    let mut persisting = Vec::new();
    let stream = world.stream.get(..course.tasks);
    let stream = stream.unwrap_or(&world.stream);
    for part in stream.chunks(course.part.get() as usize) {
        block_on(session.learn(part.to_vec()))?;
        let library = block_on(session.library())?;
        let now = library.prototypes().iter().map(|one| one.id.clone());
        let now: Vec<_> = now.collect();
        if !before.is_empty() {
            let go_on = before.iter().filter(|id| now.contains(id)).count();
            persisting.push(go_on as f64 / before.len() as f64);
        }
        before = now;
    }
    Ok((store, persisting))
}

fn cell(parts: &Parts, world: &World) -> Result<Cell> {
    let host = Host::new(parts, world.seed);
    let (store, persisting) = learn(&host, world, COURSE)?;
    let committed = block_on(store.load())?.committed;
    let library = SkillLibrary::replay(&committed)?;
    let mut differences = Counts::of_routes(&library, &committed)?;
    let traces: Vec<Trace> = library.traces().cloned().collect();
    let attempts = traces.get(traces.len().saturating_sub(JUDGED)..);
    let attempts = attempts.unwrap_or(&traces);
    let again = Host {
        seed: world.seed.derive("judge", 0),
        ..host.clone()
    };
    let session = again.open(recipe(COURSE), store, None)?;
    let assessed = block_on(session.assess(attempts, &assess(COURSE)))?.assessments;
    let both = scores(parts, world, &library, attempts.iter().zip(&assessed))?;
    let [scored, openly] = &both.scores;
    let facts = &facts(&both, &library, attempts)?;
    let lasting: Vec<Trace> = attempts
        .iter()
        .filter(|attempt| !world.passing.contains(&attempt.task.id))
        .cloned()
        .collect();
    let lasting = |scores: &Scores| {
        let of_these = |place: &Place| {
            let mut known = lasting.iter();
            known.any(|attempt| attempt.trajectory.attempt == place.attempt)
        };
        judged(&only(scores, of_these), facts)
    };
    for (attempt, assessment) in attempts.iter().zip(&assessed) {
        let subgoals = assessment.iter().flat_map(|one| &one.subgoals);
        let subgoals: Vec<&Subgoal> = subgoals.map(|one| &one.subgoal).collect();
        differences.cut(&subgoals, attempt)?;
    }
    let assessed: Vec<Assessment> = assessed.into_iter().flatten().collect();
    Ok(Cell {
        bound: judged(scored, facts),
        open: judged(openly, facts),
        lasting: [lasting(scored), lasting(openly)],
        tallies: [tallied(scored, facts), tallied(openly, facts)],
        subgoals: [scored.len(), both.asked],
        router: router(&assessed, &library)?,
        cut: against_the_world(&assessed, attempts)?,
        differences,
        persisting,
        prototypes: library.prototypes().len(),
    })
}
