//! SCRIBE: the judge that is bound to rubrics against an open one, the router against clusters that came later, and prototypes that
//! persist.

use std::{collections::BTreeMap, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    PrototypeId, Result,
    builtin::MemoryStore,
    contract::SkillStore,
    domain::{Assessment, Trace},
    library::SkillLibrary,
};
use quickstart::{Parts, Way};
use serde::{Deserialize, Serialize};

use super::{
    WORLDS, arms, bounded, difference,
    judged::{Judge, Place, Scores, judged, only, reached, scores},
    key,
    patterns::{right, true_patterns},
    router::{Cut, against_the_world, router},
    spread,
    subgoals::tool,
    world::{Host, World},
};
use crate::figures::{Bound, Figures, Outcome, stats};

/// Tasks that are learned from, in parts of as many tasks as lie between two refreshes.
const STREAM: usize = 50;
const PART: usize = 10;
/// Why nothing is said about a rubric's tool.
const NO_TOOL: &str = "by chat prototypes are kinds of subgoals and of no tool";
/// Attempts whose subgoals are judged again and again: the latest that are kept.
const JUDGED: usize = 60;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Cell {
    bound: Judge,
    open: Judge,
    /// Of both judges for the subgoals of tasks without a passing demand alone, which no rubric can know.
    lasting: [Judge; 2],
    /// Of the judge that is bound to rubrics, where the rubric's pattern is what the world demands of the tool, and where it is not;
    /// with the number of subgoals; `None` without one. Tools that no task is about are in neither.
    by_rubric: [Option<(Judge, usize)>; 2],
    /// The same where the rubric is of the tool that the subgoal's last step calls, and where it is of another.
    by_tool: [Option<(Judge, usize)>; 2],
    /// Subgoals that both judges scored each time, and those that were asked about.
    subgoals: [usize; 2],
    /// The router's accuracy: spans, skills, prototypes; and prototypes in a second pass over the clusters' own members.
    router: [f64; 4],
    /// The same cut beside the world's own.
    cut: Cut,
    /// For each refresh, the share of the prototypes before that go on.
    persisting: Vec<f64>,
    prototypes: usize,
    /// For prototypes with members of one task alone, and for those of several: how many have the true pattern, of how many. `None`
    /// by chat, where prototypes are kinds of subgoals and of no tool.
    right: Option<[(usize, usize); 2]>,
}

pub(super) fn run(figures: &mut Figures<'_>, parts: &Parts) -> Outcome {
    let mut cells: Vec<Cell> = Vec::new();
    for number in 0..WORLDS {
        let seed = figures.options().seed;
        let key = key(parts, &format!("judged, world {number}"));
        cells.push(figures.once(&key, || {
            let world = World::new(parts, seed, number)?;
            Ok(cell(parts, &world)?)
        })?);
    }
    judges(figures, &cells);
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
    for (place, what) in ["bound to rubrics", "open"].into_iter().enumerate() {
        let agreement = of(&|cell| cell.lasting[place].agreement);
        let name = format!("scribe.agreement where no demand passes, {what}");
        spread(figures, &name, &agreement);
    }
    let tools = cells.iter().any(|cell| cell.right.is_some());
    let by_rubric = cells.iter().map(|cell| cell.by_rubric);
    shares(
        figures,
        ["a true pattern", "another pattern"].map(|what| format!("where the rubric has {what}")),
        tools,
        by_rubric,
    );
    let by_tool = cells.iter().map(|cell| cell.by_tool);
    shares(
        figures,
        ["the called tool", "another tool"].map(|what| format!("where the rubric is of {what}")),
        tools,
        by_tool,
    );
}

/// Two kinds of judged subgoals: how many, and the agreement in each. A subgoal weighs the same, whichever world it is of.
fn shares(
    figures: &mut Figures<'_>,
    kinds: [String; 2],
    tools: bool,
    of: impl Iterator<Item = [Option<(Judge, usize)>; 2]> + Clone,
) {
    for (place, kind) in kinds.iter().enumerate() {
        let some: Vec<(Judge, usize)> = of.clone().filter_map(|both| both[place]).collect();
        let count: usize = some.iter().map(|(_, count)| count).sum();
        let name = format!("scribe.subgoals {kind}");
        if !tools {
            figures.skip(&name, NO_TOOL);
            continue;
        }
        figures.record(&name, count as f64, Bound::None);
        let agreeing = some
            .iter()
            .map(|(judge, count)| judge.agreement * *count as f64);
        if count > 0 {
            let name = format!("scribe.agreement {kind}");
            figures.record(&name, agreeing.sum::<f64>() / count as f64, Bound::None);
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
    let again = of(&|cell| cell.router[3]);
    let name = "scribe.router: prototypes of the clusters' own members, in a second pass";
    spread(figures, name, &again);
    let prototypes = of(&|cell| cell.prototypes as f64);
    spread(figures, "scribe.prototypes", &prototypes);
    for (place, what) in ["one task alone", "several tasks"].into_iter().enumerate() {
        let name = format!("scribe.prototypes of {what}");
        let counts: Vec<(usize, usize)> = cells
            .iter()
            .filter_map(|cell| Some(cell.right?[place]))
            .collect();
        if counts.is_empty() {
            figures.skip(&name, NO_TOOL);
            continue;
        }
        let right: usize = counts.iter().map(|(right, _)| right).sum();
        let all: usize = counts.iter().map(|(_, all)| all).sum();
        figures.record(&name, all as f64, Bound::None);
        if all > 0 {
            let share = right as f64 / all as f64;
            figures.record(
                &format!("{name}, with the true pattern"),
                share,
                Bound::None,
            );
        }
    }
    let persisting = of(&|cell| stats::mean(&cell.persisting));
    bounded(
        figures,
        "scribe.prototypes that persist over a refresh",
        &persisting,
        Bound::AtLeast(0.9),
    );
}

/// Learns from the stream. The library, and for each refresh but the first the share of prototypes that go on.
pub(super) fn learn(host: &Host<'_>, world: &World) -> Result<(Arc<MemoryStore>, Vec<f64>)> {
    let store = Arc::new(MemoryStore::new());
    let session = host.open(arms::scribe(), store.clone(), None)?;
    let mut before = Vec::new();
    let mut persisting = Vec::new();
    let stream = world.stream.get(..STREAM).unwrap_or(&world.stream);
    for part in stream.chunks(PART) {
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
    let (store, persisting) = learn(&host, world)?;
    let library = SkillLibrary::replay(&block_on(store.load())?.committed)?;
    let traces: Vec<Trace> = library.traces().cloned().collect();
    let attempts = traces.get(traces.len().saturating_sub(JUDGED)..);
    let attempts = attempts.unwrap_or(&traces);
    let again = Host {
        seed: world.seed.derive("judge", 0),
        ..host.clone()
    };
    let session = again.open(arms::scribe(), store, None)?;
    let policy = arms::scribe().assess.unwrap_or_default();
    let assessed = block_on(session.assess(attempts, &policy))?.assessments;
    let both = scores(parts, world, &library, attempts.iter().zip(&assessed))?;
    let [scored, openly] = &both.scores;
    let reached = &reached(parts.way, &both, &library, attempts)?;
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
        judged(&only(scores, of_these), reached)
    };
    let true_patterns = &true_patterns(&library, &world.truths);
    let these = |is_one: &dyn Fn(&Place, &PrototypeId) -> bool| {
        let scores = only(scored, |place| {
            let route = both.routes.get(place);
            route.is_some_and(|route| is_one(place, route))
        });
        (!scores.is_empty()).then(|| (judged(&scores, reached), scores.len()))
    };
    let by_rubric = [true, false].map(|wanted| {
        let is_so = |_: &Place, route: &PrototypeId| true_patterns.get(route) == Some(&wanted);
        these(&is_so)
    });
    let titles: BTreeMap<&PrototypeId, &str> = (library.prototypes().iter())
        .map(|one| (&one.id, one.rubric.title.as_str()))
        .collect();
    let by_tool = [true, false].map(|wanted| {
        let is_so = |place: &Place, route: &PrototypeId| {
            let of_it = |attempt: &&Trace| attempt.trajectory.attempt == place.attempt;
            let attempt = attempts.iter().find(of_it);
            let called = attempt.and_then(|attempt| tool(&attempt.trajectory, place.last));
            let called = called.map(|tool| tool.replacen('_', " ", 1));
            (called.as_deref() == titles.get(route).copied()) == wanted
        };
        these(&is_so)
    });
    let assessed: Vec<Assessment> = assessed.into_iter().flatten().collect();
    Ok(Cell {
        bound: judged(scored, reached),
        open: judged(openly, reached),
        lasting: [lasting(scored), lasting(openly)],
        by_rubric,
        by_tool,
        subgoals: [scored.len(), both.asked],
        router: router(&assessed, &library)?,
        cut: against_the_world(parts.way, &assessed, attempts)?,
        persisting,
        prototypes: library.prototypes().len(),
        right: (parts.way == Way::Compact).then(|| right(&library, &world.truths)),
    })
}
