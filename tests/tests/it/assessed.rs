//! Assessment on the bundled model: attempts are cut, routed and scored by real inference (SCRIBE).

use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64, NonZeroUsize},
    sync::Arc,
};

use futures::executor::block_on;
use journeyman::{
    Seed,
    agent::MemoryStore,
    domain::{AttemptId, PrototypeId, SubgoalRef, SubgoalScore, Trace},
    library::{KnownSubgoal, SkillLibrary},
    papers::scribe::{AnchorPolicy, AssessPolicy},
    recipe::{self, Recipe},
    run::report::RunReport,
};
use journeyman_tests::source::bundled_model;
use journeyman_toolworld::{
    general::roles::NOT_HELPING,
    stream::{Universe, UniverseSpec},
};
use quickstart::{Parts, spoken};

/// Tasks that are learned from, and those before the first clustering and between two of them.
const TASKS: usize = 12;
const REFRESH: u64 = 4;

/// Small numbers, so that the test takes about a minute.
fn recipe() -> Recipe {
    let mut recipe = recipe::scribe();
    recipe.attempts.group = const { NonZeroU32::new(2).expect("not 0") };
    let anchors = AnchorPolicy::new(
        const { NonZeroUsize::new(2).expect("not 0") },
        const { NonZeroU32::new(2).expect("not 0") },
    );
    let mut assess = AssessPolicy::default();
    assess.first = const { NonZeroU64::new(REFRESH).expect("not 0") };
    assess.refresh = const { NonZeroU64::new(REFRESH).expect("not 0") };
    assess.anchors = Some(anchors);
    recipe.assess = Some(assess.into());
    recipe
}

fn learn(seed: u64) -> (RunReport, SkillLibrary) {
    let parts = Parts::deterministic(&bundled_model(), 8).expect("the bundled model");
    let universe = Universe::make(UniverseSpec::of(3, 1), seed).expect("a universe");
    let tasks = spoken::tasks(&universe.stream(TASKS), Seed(seed));
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let journeyman = parts
            .open(recipe(), "learn", Seed(seed), store, None)
            .await
            .expect("it opens");
        let report = journeyman
            .learn(tasks.expect("they are tasks"))
            .await
            .expect("it learns");
        (report, journeyman.library().await.expect("a library"))
    })
}

/// For each kept attempt the kind of subgoal that each of its steps belongs to, in the cut that its world gives.
fn kinds(library: &SkillLibrary) -> BTreeMap<&AttemptId, Vec<String>> {
    let kinds = |trace: &Trace| -> Vec<String> {
        let cut = spoken::true_cut(trace).expect("it was recorded in its world");
        let subgoals = cut.subgoals().iter();
        let steps = subgoals.flat_map(|one| vec![one.skill.clone(); one.last + 1 - one.first]);
        steps.collect()
    };
    let traces = library.traces();
    let traces = traces.filter(|trace| !trace.trajectory.steps.is_empty());
    traces
        .map(|trace| (&trace.trajectory.attempt, kinds(trace)))
        .collect()
}

/// Of the prototypes, how many are named for the kind that most of their members are, where their attempts are kept.
fn right(library: &SkillLibrary, kinds: &BTreeMap<&AttemptId, Vec<String>>) -> (usize, usize) {
    let known: BTreeMap<&SubgoalRef, &KnownSubgoal> =
        library.subgoals().map(|one| (&one.at, one)).collect();
    let mut counts = (0, 0);
    for prototype in library.prototypes() {
        let mut members: BTreeMap<&str, usize> = BTreeMap::new();
        for at in &prototype.members {
            let last = known.get(at).map(|one| one.assessed.subgoal.last);
            let steps = kinds.get(&at.attempt).zip(last);
            if let Some(kind) = steps.and_then(|(steps, last)| steps.get(last)) {
                *members.entry(kind).or_default() += 1;
            }
        }
        let title = prototype.rubric.title.as_str();
        println!("{title}: {members:?}");
        let own = members.get(title);
        let is_right = own.is_some() && own == members.values().max();
        counts = (counts.0 + usize::from(is_right), counts.1 + 1);
    }
    counts
}

/// Of the scored subgoals whose attempts and prototypes are kept, how many have the full score exactly where they were reached: where
/// the last step is of the prototype's kind in the world's own cut, if it is one that helps.
fn agreeing(library: &SkillLibrary, kinds: &BTreeMap<&AttemptId, Vec<String>>) -> (usize, usize) {
    let titles: BTreeMap<&PrototypeId, &str> = (library.prototypes().iter())
        .map(|one| (&one.id, one.rubric.title.as_str()))
        .collect();
    let mut counts = (0, 0);
    for known in library.subgoals() {
        let assessed = &known.assessed;
        let route = assessed.route.as_ref();
        let title = route.and_then(|route| titles.get(&route.prototype));
        let steps = kinds.get(&known.at.attempt);
        let kind = steps.and_then(|steps| steps.get(assessed.subgoal.last));
        let (Some(score), Some(title), Some(kind)) = (assessed.score, title, kind) else {
            continue;
        };
        let reached = kind != NOT_HELPING && kind == title;
        let full = score.get() == SubgoalScore::MAX;
        counts = (counts.0 + usize::from(full == reached), counts.1 + 1);
    }
    counts
}

#[test]
fn nine_of_ten_prototypes_are_named_for_their_members_and_17_of_20_scores_agree_with_the_world() {
    let (report, library) = learn(21);
    let kinds = kinds(&library);
    let (right, prototypes) = right(&library, &kinds);
    let (agreeing, scored) = agreeing(&library, &kinds);
    println!("{right} of {prototypes} prototypes, {agreeing} of {scored} scores");
    // The shares are of at least so many: few, since the test takes a minute.
    assert!(prototypes >= 3, "{prototypes}");
    assert!(10 * right >= 9 * prototypes, "{right} of {prototypes}");
    assert!(scored >= 13, "{scored}");
    assert!(100 * agreeing >= 85 * scored, "{agreeing} of {scored}");
    let later = report.tasks.iter().skip(REFRESH as usize);
    let later = later.flat_map(|task| &task.attempts);
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
