//! Assessment on the bundled model: attempts are cut, routed and scored by real inference (SCRIBE).
#![allow(clippy::expect_used)]

use std::{collections::BTreeMap, num::NonZeroU64, path::Path, sync::Arc};

use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    builtin::MemoryStore,
    domain::{SubgoalScore, Task},
    library::SkillLibrary,
    recipe::{self, Recipe},
    report::RunReport,
};
use journeyman_toolworld::{
    stream::{Member, StreamTask, Universe, UniverseSpec},
    tool::SkillText,
};
use quickstart::Parts;

fn recipe() -> Recipe {
    let mut recipe = recipe::scribe();
    recipe.attempts.group = const { std::num::NonZeroU32::new(4).expect("not 0") };
    if let Some(assess) = &mut recipe.assess {
        assess.first = const { NonZeroU64::new(15).expect("not 0") };
        assess.refresh = const { NonZeroU64::new(15).expect("not 0") };
    }
    recipe
}

fn spec() -> UniverseSpec {
    UniverseSpec {
        hidden: 6,
        plain: 1,
        ..UniverseSpec::default()
    }
}

fn learn(seed: u64, count: usize) -> (RunReport, SkillLibrary) {
    let model = "../examples/apprentice/apprentice.gguf";
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(model);
    let parts = Parts::exact(&model, 8).expect("the bundled model");
    let universe = Universe::make(spec(), seed).expect("a universe");
    let stream = universe
        .stream(count)
        .iter()
        .map(StreamTask::task)
        .collect::<Result<Vec<Task>>>();
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let journeyman = parts
            .open(recipe(), "learn", Seed(seed), store, None)
            .await
            .expect("it opens");
        let report = journeyman
            .learn(stream.expect("they are tasks"))
            .await
            .expect("it learns");
        (report, journeyman.library().await.expect("a library"))
    })
}

/// Of the prototypes of tools that tasks are about, how many have the true pattern.
fn right(universe: &Universe, library: &SkillLibrary) -> (usize, usize) {
    let truths: Vec<_> = universe.members().iter().map(Member::skill).collect();
    let mut counts = (0, 0);
    for prototype in library.prototypes() {
        let truth = |truth: &&SkillText| truth.title.to_string() == prototype.rubric.title;
        if let Some(truth) = truths.iter().find(truth) {
            let pattern = SkillText::parse(&prototype.rubric.pattern);
            let same = pattern.is_some_and(|pattern| pattern.says_the_same(truth));
            counts = (counts.0 + usize::from(same), counts.1 + 1);
        }
    }
    counts
}

/// Of the scored subgoals whose attempts are kept, how many have the full score exactly where the world accepted their last
/// call.
fn agreeing(library: &SkillLibrary) -> (usize, usize) {
    let traces = library.traces();
    let traces: BTreeMap<_, _> = traces
        .map(|trace| (&trace.trajectory.attempt, trace))
        .collect();
    let mut counts = (0, 0);
    for known in library.subgoals() {
        let (Some(score), Some(trace)) = (known.assessed.score, traces.get(&known.at.attempt))
        else {
            continue;
        };
        let last = trace.trajectory.steps.get(known.assessed.subgoal.last);
        let accepted = last.is_some_and(|step| !step.result.is_error);
        let full = score.get() == SubgoalScore::MAX;
        counts = (counts.0 + usize::from(full == accepted), counts.1 + 1);
    }
    counts
}

/// The bounds were set after seed 7 had been looked at, and before seed 21 was run.
#[test]
fn prototypes_have_the_true_pattern_and_scores_agree_with_the_world() {
    let universe = Universe::make(spec(), 21).expect("a universe");
    let (report, library) = learn(21, 45);
    let (right, prototypes) = right(&universe, &library);
    assert!(prototypes >= 5, "{prototypes}");
    assert!(10 * right >= 9 * prototypes, "{right} of {prototypes}");
    let (agreeing, scored) = agreeing(&library);
    assert!(scored >= 100, "{scored}");
    assert!(100 * agreeing >= 85 * scored, "{agreeing} of {scored}");
    let later = report.tasks.iter().skip(15).flat_map(|task| &task.attempts);
    let judged: Vec<_> = later.filter(|one| one.steps > 0).collect();
    let with_process = judged.iter().filter(|one| one.process.is_some()).count();
    assert!(
        10 * with_process >= 9 * judged.len(),
        "{with_process} of {}",
        judged.len()
    );
    assert!(!library.anchors().is_empty());
    assert_eq!(library.anchor_checks().count(), 3);
}
