//! The bundled model as a curator (SkillOS), through llama.cpp: its calls after its own attempts in held-out worlds, a library that it
//! curates over a stream of tasks, and rollouts of groups that it tags.
#![allow(clippy::expect_used, clippy::print_stdout)]

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroUsize},
    path::Path,
    sync::Arc,
};

use apprentice::{Arena, Curating, Share, held_out};
use futures::executor::block_on;
use journeyman::{
    Result, Seed,
    builtin::{FrozenStore, MemoryStore, ModelExecutor, ModelExecutorOptions},
    contract::{Backends, Retriever, SkillStore},
    domain::{Origin, Task},
    interchange::rollouts::{self, Validator},
    measure::Efficiency,
    recipe::{self, Grouping},
    report::{CallCounts, RunReport},
    reward::CompositeWeights,
    run::{GroupRollout, Journeyman, Options, Rollouts},
};
use journeyman_tantivy::{Bm25Retriever, Config};
use journeyman_tests::papers::rule_agent::RuleAgent;
use journeyman_toolworld::{
    dialect::{ApprenticeDialect, Mode},
    stream::{StreamTask, Universe, UniverseSpec},
};
use quickstart::Parts;

fn parts() -> Parts {
    let model =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/apprentice/apprentice.gguf");
    Parts::exact(&model, 8).expect("the bundled model")
}

/// Measured on 450 worlds a kind of the seeds 11 to 13, which this test does not use: inserted 99.3, updated 99.3, deleted and kept
/// 100, updated where it was not injected 99.8 per cent. The bounds are five points below.
#[test]
fn it_inserts_a_useful_skill_updates_a_stale_one_and_deletes_it_beside_a_better_one() {
    let parts = parts();
    let arena = Arena::new(parts.model.clone(), parts.model.clone(), Mode::Row).expect("an arena");
    let measured = Curating::measure(&arena, held_out, 4_001, 60).expect("it measures");
    let check = |what: &str, share: &Share, least: f64| {
        println!("{what}: {share} of {}", share.count());
        assert!(share.count() >= 40, "{what}: only {} worlds", share.count());
        assert!(
            share.value() >= least,
            "{what}: {share}, and the bound is {least}"
        );
    };
    let [inserted, kept] = &measured.failed;
    println!("after a failed attempt: a useful skill {inserted}, nothing {kept}");
    check("inserted a useful skill", &measured.inserted, 0.943);
    check("updated a stale one, right then", &measured.updated, 0.943);
    check("deleted it beside the right one", &measured.deleted, 0.95);
    check("left alone what is right", &measured.kept, 0.95);
    check(
        "updated a stale one that was not injected",
        &measured.not_injected,
        0.948,
    );
}

fn tasks(tasks: &[StreamTask]) -> Vec<Task> {
    let tasks = tasks.iter().map(StreamTask::task);
    tasks.collect::<Result<_>>().expect("they are tasks")
}

async fn open(backends: Backends, session: &str) -> Journeyman {
    let opened = Journeyman::open(backends, recipe::skillos(), Options::new(session, Seed(7)));
    opened.await.expect("it opens")
}

/// The share of attempts that did their task with no call refused.
fn first_attempts(report: &RunReport) -> f64 {
    let parts = report
        .attempts()
        .filter_map(|one| one.parts.get("first_attempt"));
    let (sum, count) = parts.fold((0.0, 0.0), |(sum, count), part| (sum + part, count + 1.0));
    sum / count
}

#[test]
fn a_library_that_it_curates_makes_later_tasks_cheaper_under_any_executor() {
    let parts = parts();
    let spec = UniverseSpec {
        hidden: 6,
        plain: 2,
        ..UniverseSpec::default()
    };
    let universe = Universe::make(spec, 4_002).expect("a universe");
    let stream = universe.stream(40);
    let held_out = tasks(&universe.held_out(&stream, 40));
    let store = Arc::new(MemoryStore::new());
    let backends = |store: Arc<dyn SkillStore>| parts.backends(store, None).expect("parts");
    let report = block_on(async {
        let learning = open(backends(store.clone()), "learn").await;
        learning.learn(tasks(&stream)).await.expect("it learns")
    });
    let curations = report
        .tasks
        .iter()
        .filter_map(|task| task.curation.as_ref());
    let mut counts = CallCounts::default();
    curations.for_each(|curation| counts.add(curation.counts()));
    let eight = NonZeroUsize::new(8).expect("not 0");
    let (early, late) = (
        Efficiency::of(&report.tasks[..8], eight),
        Efficiency::of(&report.tasks[32..], eight),
    );
    println!("{counts:?}\nfirst eight: {early:?}\nlast eight: {late:?}");
    assert!(counts.insert >= 6 && counts.validity() >= 0.9, "{counts:?}");
    // Inserts come early in the stream, and what it then does costs fewer steps.
    assert!(early.windows[0].calls.insert > late.windows[0].calls.insert);
    assert!(early.steps > late.steps);

    let evaluate = |store: Arc<dyn SkillStore>, mode: Option<Mode>| {
        let mut backends = backends(store);
        if let Some(mode) = mode {
            let dialect = Arc::new(ApprenticeDialect::new(mode));
            let options = ModelExecutorOptions::default();
            let executor = ModelExecutor::new(parts.model.clone(), dialect.clone(), options);
            backends.executor = Some(Arc::new(executor.expect("an executor")));
            backends.dialect = Some(dialect);
        } else {
            backends.executor = Some(Arc::new(RuleAgent));
        }
        block_on(async {
            let reading = open(backends, "test").await;
            let report = reading
                .evaluate(held_out.clone())
                .await
                .expect("it evaluates");
            let library = reading.library().await.expect("a library");
            (report, library)
        })
    };
    let snapshot = block_on(store.load()).expect("it loads");
    // The model in three ways of acting, and an agent that has no model.
    for mode in [Some(Mode::Row), Some(Mode::Host), Some(Mode::Model), None] {
        let frozen = Arc::new(FrozenStore::new(snapshot.clone()));
        let (with, library) = evaluate(frozen, mode);
        let (without, _) = evaluate(Arc::new(MemoryStore::new()), mode);
        let (with, without) = (first_attempts(&with), first_attempts(&without));
        println!("{mode:?}: first attempts {with:.2} with the library, {without:.2} without");
        assert!(with >= without + 0.5, "{mode:?}: {with} and {without}");
        let curated =
            |entry: &journeyman::library::Entry| entry.skill.provenance.origin == Origin::Curated;
        assert!(library.cache().count() >= 6 && library.cache().all(curated));
    }
}

/// Checks that the rollouts are a valid group for a trainer of the curator, with an answer to each task.
fn check_exported(rolled: &[Result<GroupRollout>], size: NonZeroU32) {
    let exported = rollouts::of_curator(rolled, &CompositeWeights::default()).expect("a group");
    assert!(exported.refused.is_empty(), "{:?}", exported.refused);
    let mut validator = Validator::of_size(size);
    let lines = rollouts::write(&exported.rollouts).expect("they are valid");
    for line in lines.lines() {
        validator.line(line).expect("a valid line");
    }
    validator.finish().expect("a valid group");
    for (line, made) in exported.rollouts.iter().zip(rolled.iter().flatten()) {
        let answered: BTreeSet<u32> = line.segments.iter().map(|one| one.step).collect();
        assert_eq!(answered.len(), made.report.tasks.len());
    }
}

#[test]
fn groups_that_it_tags_are_rolled_out_side_by_side() {
    let parts = parts();
    let spec = UniverseSpec {
        hidden: 3,
        plain: 0,
        ..UniverseSpec::default()
    };
    let universe = Universe::make(spec, 4_003).expect("a universe");
    let untagged = tasks(&universe.stream(9)).into_iter().map(|task| Task {
        tags: Vec::new(),
        ..task
    });
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        let backends = parts.backends(store, None).expect("parts");
        let journeyman = open(backends, "groups").await;
        let tagged = journeyman.tag(untagged.collect()).await.expect("it tags");
        assert!(tagged.untagged.is_empty(), "{:?}", tagged.untagged);
        // Each tool has three tasks, and the tags name the tool and the parameters that the task gives.
        let groups = Grouping::default().groups(tagged.tasks).expect("groups");
        let sizes: Vec<usize> = groups.iter().map(Vec::len).collect();
        println!(
            "groups of {sizes:?} tasks, tags of the first: {:?}",
            groups[0][0].tags
        );
        assert_eq!(sizes, [3, 3, 3]);

        let four = NonZeroU32::new(4).expect("not 0");
        let rollouts = Rollouts::new(four).with_retriever(|| {
            Ok(Arc::new(Bm25Retriever::new(Config::default())?) as Arc<dyn Retriever>)
        });
        let rolled = journeyman
            .roll_out(groups[0].clone(), &rollouts.recorded())
            .await;
        let rolled = rolled.expect("it rolls out");
        check_exported(&rolled, four);
        let rolled: Vec<_> = rolled
            .into_iter()
            .map(|one| one.expect("a rollout"))
            .collect();
        assert_eq!(rolled.len(), 4);
        for one in &rolled {
            println!("{:?}: reward {:?}", one.terms, one.reward);
            let first = one.report.tasks[0].curation.as_ref().expect("it was asked");
            assert_eq!(
                first.counts().insert,
                1,
                "the group's tool has a hidden contract"
            );
            // The skill of the first task is there for the second.
            assert_eq!(one.report.tasks[1].attempts[0].injected.len(), 1);
            assert!(
                one.reward.is_some_and(|reward| reward > 1.5),
                "{:?}",
                one.terms
            );
            assert!(one.terms.compression.is_some_and(|term| term > 0.0));
        }
        assert_eq!(
            journeyman
                .library()
                .await
                .expect("a library")
                .entries()
                .count(),
            0
        );
        let merged = journeyman
            .merge(&rolled[0], "the first")
            .await
            .expect("it merges");
        assert!(merged.conflicts.is_empty() && merged.committed > 0);
        assert_eq!(
            journeyman
                .library()
                .await
                .expect("a library")
                .entries()
                .count(),
            1
        );
    });
}
