//! The first bank, and its growth after validation rounds, within a run.

use journeyman::run::{RunPlan, Station};
use journeyman::testing::Edited as _;

use super::*;

/// Two categories, of which the agent fails the second.
fn both_kinds() -> Vec<Task> {
    vec![
        task("ta", "tea", "done"),
        task("tb", "tea", "done"),
        task("ca", "cake", FAILS),
        task("cb", "cake", FAILS),
    ]
}

#[test]
fn the_first_bank_is_distilled_from_kept_attempts_of_both_kinds() {
    let (components, prompts) = parts(says, &ALL);
    let (library, events) = learn_from(&components, skillrl(4), both_kinds());
    assert_eq!(
        skills(&library),
        ["/speak-up@1", "cake/cake-first@1", "tea/tea-first@1"]
    );
    assert_eq!(
        (asked(&prompts, "extract"), asked(&prompts, "lesson")),
        (2, 2)
    );
    // Patterns and lessons for the general skills, and those of its tasks for each category.
    let findings = |prompt: &String| {
        let lines = prompt
            .lines()
            .filter_map(|line| line.strip_prefix("finding: say "));
        lines.collect::<Vec<_>>().join(" ")
    };
    let requests = of_role(&prompts, "distil-bank");
    let requests: Vec<String> = requests.iter().map(findings).collect();
    assert_eq!(requests, ["ta tb ca cb", "ca cb", "ta tb"]);
    for entry in library.entries() {
        let skill = &entry.skill;
        assert_eq!(
            (skill.provenance.origin, skill.state),
            (Origin::Distilled, State::Active)
        );
        let tasks = skill.provenance.tasks.len();
        assert_eq!(tasks, if skill.scope == Scope::General { 4 } else { 2 });
    }
    assert!(refusals(&events).is_empty(), "{events:#?}");
    // All of it is one commit of its own.
    let distilled = library.entries().map(|entry| entry.added_at);
    assert_eq!(
        distilled.collect::<std::collections::BTreeSet<_>>().len(),
        1
    );
}

#[test]
fn skills_of_the_bank_do_the_tasks_and_no_attempt_is_distilled_twice() {
    let (components, prompts) = parts(says, &ALL);
    let tasks = both_kinds()
        .into_iter()
        .chain(both_kinds().into_iter().map(|mut task| {
            task.id = format!("{}-again", task.id).into();
            task
        }));
    let (library, _) = learn_from(&components, skillrl(4), tasks.collect());
    assert_eq!(library.tasks_learned(), 8);
    // In the second round nothing failed: the skill of the category says what to do.
    let latest = library.traces().skip(4);
    assert!(latest.into_iter().all(|trace| trace.is_success()));
    assert_eq!(
        (asked(&prompts, "extract"), asked(&prompts, "lesson")),
        (2, 2)
    );
    assert_eq!(library.entries().count(), 3);
}

#[test]
fn without_distil_bank_patterns_and_lessons_are_skills_by_themselves() {
    let (components, _) = parts(says, &[Role::Extract, Role::Lesson]);
    let (library, events) = learn_from(&components, skillrl(4), both_kinds());
    let expect = [
        "cake/never-hesitate-before-ca@1",
        "cake/never-hesitate-before-cb@1",
        "tea/pattern-ta@1",
        "tea/pattern-tb@1",
    ];
    assert_eq!(skills(&library), expect);
    assert!(refusals(&events).is_empty(), "{events:#?}");
    let lesson = library
        .entries()
        .find(|entry| entry.skill.name.as_str().ends_with("-ca"));
    let lesson = &lesson.expect("a lesson").skill;
    assert_eq!(lesson.provenance.origin, Origin::Distilled);
    assert!(lesson.body.contains("Step 1: said hm"), "{}", lesson.body);

    // The same lesson twice is one skill.
    let same: Says = |role, _| {
        Play::Give(match role {
            "lesson" => "0 | said hm | said it | Never hesitate.".to_owned(),
            _ => "none: nothing".to_owned(),
        })
    };
    let (components, _) = parts(same, &[Role::Extract, Role::Lesson]);
    let (library, events) = learn_from(&components, skillrl(4), both_kinds());
    assert_eq!(skills(&library), ["cake/never-hesitate@1"]);
    let told = [
        "never-hesitate: the bank has a skill with this title: `never-hesitate`, of the same commit",
    ];
    assert_eq!(refusals(&events), told);
}

/// A library with skills of both categories, and what evolution makes of it.
fn evolve(says: Says, change: impl Fn(&mut Recipe)) -> (SkillLibrary, Vec<Event>, Prompts) {
    let (components, prompts) = parts(says, &ALL);
    let mut recipe = skillrl(5);
    change(&mut recipe);
    let of = |name: &str, category: &str| {
        sample::skill(name)
            .edited(|it| it.scope = Scope::Category(category.into()))
            .with_provenance(
                sample::skill(name)
                    .provenance
                    .edited(|it| it.origin = Origin::Seed),
            )
    };
    let known = vec![
        sample::skill("general"),
        of("know-cake", "cake"),
        of("know-tea", "tea"),
    ];
    let (library, events) = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.add(known, "a start").await.expect("added");
        let events = journeyman.events();
        let mut tasks = both_kinds();
        tasks.push(task("tc", "tea", RECOVERS));
        journeyman.learn(tasks).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (library, events.collect::<Vec<_>>().await)
    });
    (library, events, prompts)
}

#[test]
fn only_weak_categories_evolve_and_refinements_have_parents() {
    let refine: Says = |role, prompt| match (role, field(prompt, "category")) {
        ("distil-bank", "") => Play::Give("none".to_owned()),
        ("distil-bank", "cake") => Play::Give(
            "0> Know Cake Better | When cake is asked for. | Say it, and say it again.\n\
             Cake Twice | When two cakes are asked for. | Ask how many."
                .to_owned(),
        ),
        _ => says(role, prompt),
    };
    let (library, events, prompts) = evolve(refine, |_| {});
    let expect = [
        "/general@1",
        "cake/cake-twice@1",
        "cake/know-cake@2",
        "tea/know-tea@1",
    ];
    assert_eq!(skills(&library), expect);
    let refined = library.get(&"know-cake".into()).expect("it is there");
    let parent = sample::skill("know-cake").reference();
    assert_eq!(refined.skill.parents, [parent], "the version before it");
    assert_eq!(refined.skill.body, "Say it, and say it again.");
    assert_eq!(
        asked(&prompts, "extract"),
        0,
        "successes are no material of evolution"
    );
    assert_eq!(asked(&prompts, "lesson"), 2);
    // The model is shown the skills of the scope.
    let shown = |prompt: &String| field(prompt, "skill").to_owned();
    let requests = of_role(&prompts, "distil-bank");
    assert_eq!(
        requests.iter().map(shown).collect::<Vec<_>>(),
        ["general", "know-cake"]
    );
    assert!(refusals(&events).is_empty(), "{events:#?}");
}

#[test]
fn what_the_bank_says_already_stays_out() {
    let repeats: Says = |role, prompt| match (role, field(prompt, "category")) {
        ("distil-bank", "") => Play::Give("none".to_owned()),
        ("distil-bank", _) => Play::Give(
            "Know Cake | Another text. | Another body.\n\
             Renamed | How to do know-cake. | To do know-cake, say know-cake.\n\
             Nearly | How to do: General! | To do general, say “general”.\n\
             0> Same | How to do know-cake. | To do know-cake, say know-cake.\n\
             0> Once | When cake is asked for. | Once.\n\
             0> Twice | When cake is asked for. | Twice.\n\
             New | When cake is new. | Say new."
                .to_owned(),
        ),
        _ => says(role, prompt),
    };
    let (library, events, _) = evolve(repeats, |_| {});
    let expect = [
        "/general@1",
        "cake/know-cake@2",
        "cake/new@1",
        "tea/know-tea@1",
    ];
    assert_eq!(skills(&library), expect);
    let told = [
        "Know Cake: the bank has a skill with this title: `know-cake`, active",
        "Renamed: the bank has a skill with this content: `know-cake`, active",
        "Nearly: the bank has a skill with this wording: `general`, active",
        "Same: nothing was changed",
        "Twice: another refinement of the same skill comes first",
    ];
    assert_eq!(refusals(&events), told);
}

#[test]
fn the_success_threshold_and_the_number_of_failures_are_the_policys() {
    let lessons = |change: fn(&mut BankPolicy)| {
        let (_, _, prompts) = evolve(says, |recipe| bank(recipe, change));
        asked(&prompts, "lesson")
    };
    assert_eq!(lessons(|_| {}), 2);
    assert_eq!(lessons(|bank| bank.failures = n32(1)), 1);
    assert_eq!(lessons(|bank| bank.success = 0.0), 0, "no evolution");
    // With refusals counted, tea has a rate of two thirds.
    let refusals = |bank: &mut BankPolicy| bank.failure = Failure::Refusal;
    assert_eq!(lessons(refusals), 2);
    assert_eq!(
        lessons(|bank| (bank.failure, bank.success) = (Failure::Refusal, 0.7)),
        3
    );
}

#[test]
fn a_recovered_attempt_is_shown_up_to_its_refusal() {
    let (_, _, prompts) = evolve(says, |recipe| {
        bank(recipe, |bank| {
            (bank.failure, bank.success) = (Failure::Refusal, 1.0)
        });
    });
    let lessons = of_role(&prompts, "lesson");
    let of_tea: Vec<&String> = lessons
        .iter()
        .filter(|text| text.contains("say tc"))
        .collect();
    assert_eq!(of_tea.len(), 1);
    assert_eq!(
        field(of_tea[0], "outcome"),
        "failed",
        "cut off at the refusal"
    );
}

#[test]
fn a_request_shows_what_the_requests_before_it_gave() {
    let once: Says = |role, prompt| match (role, field(prompt, "category")) {
        ("distil-bank", "cake") => Play::Give(match field(prompt, "skill") {
            "" => "Cake | When cake is due. | Say cake.".to_owned(),
            drafted => {
                assert_eq!(drafted, "draft-0");
                "0> Cake | When cake is due. | Say cake, then bow.".to_owned()
            }
        }),
        ("distil-bank", _) => Play::Give("none".to_owned()),
        _ => says(role, prompt),
    };
    let (components, prompts) = parts(once, &ALL);
    let mut recipe = skillrl(4);
    bank(&mut recipe, |bank| bank.shown = n32(1));
    let (library, _) = learn_from(&components, recipe, both_kinds());
    assert_eq!(asked(&prompts, "distil-bank"), 4 + 2 + 2);
    assert_eq!(skills(&library), ["cake/cake@1"]);
    let skill = &library.entries().next().expect("it is there").skill;
    assert_eq!(skill.body, "Say cake, then bow.");
    assert_eq!(skill.provenance.tasks.len(), 2);
}

#[test]
fn untrusted_attempts_taint_only_what_is_distilled_from_them() {
    let (mut components, _) = parts(says, &ALL);
    let world = ScriptedEnvironment::words().beginning(|task, _| {
        let mut seen = sample::observation(&task.instruction);
        if task.id.as_str() == "ca" {
            seen.source = sample::source(Trust::Untrusted);
        }
        Play::Give(seen)
    });
    components.environment = Some(Arc::new(world));
    let (library, events) = learn_from(&components, skillrl(4), both_kinds());
    let held = |entry: &&journeyman::library::Entry| entry.skill.state == State::Quarantined;
    assert_eq!(
        library.entries().filter(held).count(),
        0,
        "{:?}",
        refusals(&events)
    );
    // What the tainted material says stays out, since clean material says the same.
    assert_eq!(refusals(&events).len(), 2, "{events:#?}");
    assert_eq!(library.entries().count(), 3);
}

fn machine() -> RunMachine {
    let mut recipe = skillrl(4);
    bank(&mut recipe, |bank| {
        (bank.failure, bank.success) = (Failure::Refusal, 1.0)
    });
    let mut tasks = both_kinds();
    for number in 0..8 {
        let tag = [FAILS, "done", RECOVERS][number % 3];
        tasks.push(task(
            &format!("m{number}"),
            &format!("more {}", number % 2),
            tag,
        ));
    }
    let plan = RunPlan::new(RunId::new("run"), Seed(7), recipe, tasks);
    RunMachine::new(plan.edited(|it| it.replays = true)).expect("a machine")
}

/// Runs to the end in the order that the seed shuffles; with `saves` the machine is saved and resumed after every answer.
fn run(shuffle: Option<Seed>, saves: bool) -> (String, usize) {
    let (components, _) = parts(says, &ALL);
    let performer = Performer::new(Arc::new(components), skillrl(4).limits);
    let (mut machine, mut round, mut asked) = (machine(), 0, 0);
    while !machine.is_finished() {
        let mut effects = machine.effects();
        let pick = shuffle.and_then(|seed| seed.derive("pick", round).index(effects.len()));
        let (id, effect) = effects.swap_remove(pick.unwrap_or(0));
        asked += usize::from(id.station == Station::Maintain);
        let answer = block_on(performer.perform(effect)).expect("it is performed");
        machine.answer(id, answer).expect("it fits");
        round += 1;
        if saves {
            let json = machine.save().expect("it saves");
            let resumed = RunMachine::resume(&json, &Policies::new()).expect("it resumes");
            assert_eq!(resumed, machine);
            machine = resumed;
        }
    }
    (bytes(machine.library()), asked)
}

#[test]
fn a_bank_is_saved_and_resumed_between_any_two_answers_in_any_order() {
    let (library, asked) = run(None, false);
    assert!(asked > 12, "{asked}");
    assert_eq!(run(None, true), (library.clone(), asked));
    for seed in 0..6 {
        assert_eq!(
            run(Some(Seed(seed)), seed == 0),
            (library.clone(), asked),
            "{seed}"
        );
    }
}

#[test]
fn a_run_with_a_bank_replays_to_the_same_bytes() {
    let (components, _) = parts(says, &ALL);
    let journal = Arc::new(MemoryJournal::new());
    let components = components.with_journal(journal.clone());
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, skillrl(2), options).await;
        let journeyman = journeyman.expect("it opens");
        let report = journeyman.learn(both_kinds()).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        assert!(library.entries().count() >= 2);
        use journeyman::contract::Journal;
        let entries = journal.read(&report.run).await.expect("it reads");
        let replayed = replay(&entries, &Policies::new()).expect("it replays");
        assert_eq!(bytes(replayed.library()), bytes(&library));
        assert!(replayed.is_finished());
    });
}
