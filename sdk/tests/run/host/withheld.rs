//! The ledger of lifts: a share of the tasks goes without a skill by chance, and the others are compared with them.

use journeyman::{
    domain::Withhold,
    library::RunFilter,
    policy::Policies,
    run::report::LiftReport,
    stations::proof::{ComparePolicy, LiftOf, LiftPolicy, LiftVerdict, Lifts, ProvenRelease},
};

use super::{proven::proving, *};
use crate::traced::traced;

/// Takes the best skill always, and writes none.
fn withholding(share: f64, limit: usize) -> Recipe {
    let mut recipe = recipe();
    recipe.select.selector = top(limit);
    recipe.select.withhold = Some(Withhold::new(share));
    recipe.write.when = WriteWhen::Never;
    recipe.attempts.group = n32(1);
    recipe
}

async fn learning(recipe: Recipe, components: Components, count: usize) -> (Journeyman, RunReport) {
    let journeyman = with_two_skills(recipe, components).await;
    let report = journeyman.learn(tasks(count)).await.expect("it learns");
    (journeyman, report)
}

async fn with_two_skills(recipe: Recipe, components: Components) -> Journeyman {
    let opened = Journeyman::open(components, recipe, Options::new("test", Seed(7))).await;
    let journeyman = opened.expect("it opens");
    let skills = vec![sample::skill("say-one"), sample::skill("say-two")];
    journeyman.add(skills, "a start").await.expect("added");
    journeyman
}

fn lifts(journeyman: &Journeyman) -> Lifts {
    journeyman.lift(LiftPolicy::default()).expect("a ledger")
}

#[test]
fn a_skill_that_helps_is_found_to_help_from_tasks_that_went_without_it() {
    block_on(async {
        // With a skill each task is done, without one every second.
        let (journeyman, report) = learning(withholding(0.3, 1), components(), 300).await;
        let without = report.tasks.iter().filter(|task| {
            task.selections[0].decision == Decision::Nothing(NothingReason::Withheld)
        });
        let without = without.count();
        assert!((60..120).contains(&without), "{without}");
        let lifts = lifts(&journeyman);
        let library = &lifts.lifts[0];
        assert_eq!((&library.of, &library.name), (&LiftOf::Library, &None));
        assert_eq!(library.tasks().1 as usize, without);
        assert_eq!(library.verdict, Some(LiftVerdict::Helps), "{lifts}");
        let estimate = library.success.estimate().expect("both");
        assert!((0.35..0.65).contains(&estimate), "{lifts}");
        // One skill alone was chosen each time: it says the same of each.
        let skills = lifts.lifts.iter().filter(|one| one.of != LiftOf::Library);
        let told: u64 = skills
            .clone()
            .map(|one| one.tasks().0 + one.tasks().1)
            .sum();
        assert_eq!(told, 300);
        assert!(lifts.to_string().contains("; it helps"), "{lifts}");
        assert!(
            skills
                .clone()
                .all(|one| one.name.is_some() && one.model.is_none())
        );
    });
}

#[test]
fn of_two_skills_that_are_chosen_together_each_is_withheld_by_itself() {
    block_on(async {
        let (journeyman, report) = learning(withholding(0.3, 2), components(), 300).await;
        let shown: Vec<usize> = (report.tasks.iter())
            .map(|task| task.selections[0].skills().len())
            .collect();
        for expected in 0..=2 {
            assert!(shown.contains(&expected));
        }
        let lifts = lifts(&journeyman);
        // Either skill is enough, so that one alone brings less than both together.
        let of = |is: fn(&LiftOf) -> bool| {
            let one = lifts.lifts.iter().find(|one| is(&one.of)).expect("there");
            one.success.estimate().expect("known")
        };
        let library = of(|of| *of == LiftOf::Library);
        let skill = of(|of| *of != LiftOf::Library);
        assert!(library > skill + 0.1, "{lifts}");
        // What an attempt was not given is not credited to it.
        let library = journeyman.library().await.expect("read");
        for assignment in library.assignments() {
            let without = assignment.skills.iter().filter(|one| !one.given);
            for one in without {
                let entry = library.get(&one.skill.id).expect("there");
                let credited = entry.evidence.iter();
                assert!(
                    credited
                        .clone()
                        .all(|credit| credit.attempt != assignment.attempt)
                );
            }
        }
    });
}

#[test]
fn a_run_that_is_taken_back_leaves_nothing_in_the_ledger_and_a_replay_has_the_same() {
    block_on(async {
        let components = components();
        let journal = components.journal.clone().expect("a journal");
        let (journeyman, report) = learning(withholding(0.5, 1), components, 20).await;
        let entries = journal.read(&report.run).await.expect("read");
        let replayed = journeyman::run::replay(&entries, &Policies::new()).expect("replayed");
        let library = journeyman.library().await.expect("read");
        let kept: Vec<_> = library.assignments().collect();
        assert_eq!(kept.len(), 20);
        assert!(kept.iter().copied().eq(replayed.library().assignments()));
        let filter = RunFilter::of_run(report.run.clone());
        journeyman
            .retire(&filter, "a bad day")
            .await
            .expect("retired");
        assert!(lifts(&journeyman).lifts.is_empty());
    });
}

#[test]
fn without_the_option_nothing_is_drawn_and_nothing_is_kept() {
    block_on(async {
        let mut recipe = withholding(0.5, 1);
        recipe.select.withhold = None;
        let (journeyman, report) = learning(recipe, components(), 20).await;
        let drawn = report.tasks.iter().flat_map(|task| &task.selections);
        assert!(drawn.clone().all(|selection| selection.withheld.is_none()));
        let library = journeyman.library().await.expect("read");
        assert_eq!(library.assignments().count(), 0);
        assert!(report.lifts.is_empty());
        // Nor in evaluation.
        let recipe = withholding(0.5, 1);
        let (journeyman, _) = learning(recipe, components(), 1).await;
        let report = journeyman.evaluate(tasks(20)).await.expect("evaluated");
        let mut selections = report.tasks.iter().flat_map(|task| &task.selections);
        assert!(selections.all(|one| one.withheld.is_none() && !one.skills().is_empty()));
    });
}

/// The verdicts on lifts that events tell.
fn verdicts(events: Events) -> Vec<LiftReport> {
    let events = told(events).into_iter();
    let lifts = events.filter_map(|event| match event.kind {
        EventKind::LiftChanged { lift } => Some(*lift),
        _ => None,
    });
    lifts.collect()
}

#[test]
fn each_verdict_that_changes_is_an_event_when_it_does_and_stands_in_the_report() {
    block_on(async {
        let components = components();
        let journal = components.journal.clone().expect("a journal");
        let journeyman = with_two_skills(withholding(0.3, 1), components).await;
        let events = journeyman.events();
        let report = journeyman.learn(tasks(300)).await.expect("it learns");
        let told = verdicts(events);
        assert_eq!(report.lifts, told);
        // It is told when it is known, and not at the end.
        let of_library = |lift: &&LiftReport| lift.skill.is_none();
        let first = told.iter().find(of_library).expect("the library helps");
        assert_eq!((first.helps, &first.name), (Some(true), &None));
        assert!(first.given + first.withheld < 100, "{first:?}");
        let difference = first.difference.expect("both kinds of task");
        assert!(first.low < difference && difference < first.high);
        // What was told last of each is what the ledger says, and what did not change is not told.
        for lift in lifts(&journeyman).lifts {
            let skill = match &lift.of {
                LiftOf::Skill(skill) => Some(skill),
                LiftOf::Library => None,
            };
            let helps = match lift.verdict {
                Some(LiftVerdict::Helps) => Some(true),
                Some(LiftVerdict::Harms) => Some(false),
                _ => None,
            };
            let of_it = told.iter().filter(|one| one.skill.as_ref() == skill);
            let of_it: Vec<Option<bool>> = of_it.map(|one| one.helps).collect();
            assert_eq!(of_it.last().copied().flatten(), helps, "{told:?}");
            assert!(of_it.windows(2).all(|two| two[0] != two[1]), "{told:?}");
        }
        let said = report.to_string();
        assert!(said.contains("\n  the library helps: +"), "{said}");
        assert!(said.contains("\n  skill say-one helps: +"), "{said}");
        // A run's journal tells the same, and a second run what is new alone.
        let entries = journal.read(&report.run).await.expect("read");
        let replayed = journeyman::run::replay(&entries, &Policies::new()).expect("replayed");
        assert_eq!(replayed.report().lifts, report.lifts);
        let again = journeyman.learn(alike(3)).await.expect("it learns");
        assert!(again.lifts.is_empty());
    });
}

#[test]
fn in_a_hosts_own_loop_a_verdict_is_told_with_the_task_that_changes_it() {
    block_on(async {
        let journeyman = with_two_skills(withholding(0.5, 1), own_loop()).await;
        let events = journeyman.events();
        for task in tasks(40) {
            let attempt = journeyman.begin(task).await.expect("begun");
            let has = !attempt.injection().skills.is_empty();
            let finished = attempt.finish(sample::outcome(has)).await;
            finished.expect("finished");
        }
        let told = verdicts(events);
        let library = told.iter().find(|lift| lift.skill.is_none());
        let library = library.expect("the library helps");
        assert_eq!((library.helps, library.difference), (Some(true), Some(1.0)));
        assert!(told.iter().any(|lift| lift.name.is_some()), "{told:?}");
    });
}

#[test]
fn of_attempts_that_are_open_at_once_one_alone_tells_a_verdict_that_changes() {
    block_on(async {
        let journeyman = with_two_skills(withholding(0.5, 1), own_loop()).await;
        let events = journeyman.events();
        let mut open = Vec::new();
        for task in tasks(60) {
            open.push(journeyman.begin(task).await.expect("begun"));
        }
        for attempt in open {
            let has = !attempt.injection().skills.is_empty();
            let finished = attempt.finish(sample::outcome(has)).await;
            finished.expect("finished");
        }
        let told = verdicts(events);
        let of_library = told.iter().find(|lift| lift.skill.is_none());
        assert_eq!(of_library.and_then(|lift| lift.helps), Some(true));
        for lift in &told {
            let of_it = told.iter().filter(|one| one.skill == lift.skill);
            let of_it: Vec<Option<bool>> = of_it.map(|one| one.helps).collect();
            assert!(of_it.windows(2).all(|two| two[0] != two[1]), "{told:?}");
        }
    });
}

#[test]
fn where_the_ledger_releases_skills_a_verdict_is_as_sure_as_a_release() {
    block_on(async {
        for (error, is_told) in [(0.05, true), (1e-30, false)] {
            let mut recipe = proving(4);
            recipe.select.withhold = Some(Withhold::new(0.5));
            let mut compare = ComparePolicy::default();
            compare.error = error;
            let set = |program: &mut ProvenRelease| program.compare = compare;
            recipe.maintenance.edit(set);
            let journeyman = with_two_skills(recipe, own_loop()).await;
            let events = journeyman.events();
            for task in tasks(40) {
                let attempt = journeyman.begin(task).await.expect("begun");
                let has = !attempt.injection().skills.is_empty();
                let finished = attempt.finish(sample::outcome(has)).await;
                finished.expect("finished");
            }
            assert_eq!(!verdicts(events).is_empty(), is_told, "{error}");
        }
    });
}

#[test]
fn a_verdict_on_a_lift_is_in_telemetry() {
    let kept = traced(async || {
        learning(withholding(0.5, 1), components(), 60).await;
    });
    let lifts = kept.events("journeyman.lift");
    let of = |skill: Option<&str>| {
        let mut lifts = lifts.iter();
        let lift = lifts.find(|lift| lift.field("journeyman.skill.id") == skill);
        lift.expect("it is told")
    };
    let (library, skill) = (of(None), of(Some("say-one")));
    for lift in [library, skill] {
        let number = |name: &str| -> f64 {
            let field = lift.field(&format!("journeyman.lift.{name}"));
            field.and_then(|text| text.parse().ok()).expect("a number")
        };
        assert_eq!(lift.field("journeyman.lift.verdict"), Some("helps"));
        assert!(number("low") < number("difference"));
        assert!(number("difference") < number("high"));
        let tasks = number("given") + number("withheld");
        assert!((8.0..60.0).contains(&tasks), "{tasks}");
        // The scripted agent names no model.
        assert_eq!(lift.field("gen_ai.request.model"), None);
    }
    assert_eq!(library.field("journeyman.skill.version"), None);
    assert_eq!(skill.field("journeyman.skill.version"), Some("1"));
}

#[test]
fn attempts_at_a_task_are_drawn_together_and_count_once() {
    block_on(async {
        let mut recipe = withholding(0.5, 1);
        recipe.attempts.group = n32(4);
        let (journeyman, report) = learning(recipe, components(), 30).await;
        for task in &report.tasks {
            let given = task.attempts.iter().map(|attempt| attempt.injected.len());
            let given: std::collections::BTreeSet<usize> = given.collect();
            assert_eq!((task.attempts.len(), given.len()), (4, 1));
        }
        let library = journeyman.library().await.expect("read");
        let kept: Vec<_> = library.assignments().collect();
        assert_eq!(kept.len(), 30);
        // The mean over the group: without a skill every second attempt is done, by its seed.
        let shares = kept.iter().filter(|one| one.without);
        assert!(
            shares
                .clone()
                .any(|one| one.success > 0.0 && one.success < 1.0)
        );
        let with = kept.iter().filter(|one| !one.without);
        assert!(with.clone().count() > 5 && with.clone().all(|one| one.success == 1.0));
    });
}

#[test]
fn tasks_of_two_shares_count_each_by_its_own_chance() {
    block_on(async {
        let store = Arc::new(MemoryStore::new());
        for (name, share, count) in [("first", 0.5, 10), ("second", 0.1, 30)] {
            let mut parts = components();
            parts.store = Some(store.clone());
            let options = Options::new(name, Seed(7));
            let opened = Journeyman::open(parts, withholding(share, 1), options).await;
            let journeyman = opened.expect("it opens");
            if name == "first" {
                let skills = vec![sample::skill("say-one")];
                journeyman.add(skills, "a start").await.expect("added");
            }
            journeyman.learn(tasks(count)).await.expect("it learns");
            let library = journeyman.library().await.expect("read");
            // In the order in which they came.
            let shares: Vec<f64> = library.assignments().map(|one| one.share).collect();
            assert!(shares.is_sorted_by(|one, next| one >= next));
            let (with, without) = lifts(&journeyman).lifts[0].tasks();
            assert_eq!((with + without) as usize, shares.len());
        }
    });
}
