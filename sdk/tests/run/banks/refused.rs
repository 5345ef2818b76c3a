//! Bad input: what cannot be read, is not there, or fails costs itself and nothing else.

use journeyman::domain::HandledMark;

use super::*;

fn failing(n: usize) -> Vec<Task> {
    (0..n)
        .map(|number| task(&format!("f{number}"), "cake", FAILS))
        .collect()
}

fn done(n: usize) -> Vec<Task> {
    (0..n)
        .map(|number| task(&format!("d{number}"), "cake", "done"))
        .collect()
}

#[test]
fn a_round_without_a_failure_asks_nobody_and_changes_nothing() {
    let (components, prompts) = parts(says, &ALL);
    let mut recipe = skillrl(2);
    bank(&mut recipe, |bank| bank.first = false);
    let (library, events) = learn_from(&components, recipe, done(4));
    assert!(prompts.lock().unwrap().is_empty());
    assert_eq!(library.revision(), Revision(4), "a commit a task");
    assert!(refusals(&events).is_empty());
    // The same with failures: there is something to learn.
    let (components, prompts) = parts(says, &ALL);
    let mut recipe = skillrl(2);
    bank(&mut recipe, |bank| bank.first = false);
    let (library, _) = learn_from(&components, recipe, failing(2));
    assert_eq!(asked(&prompts, "lesson"), 2);
    assert_eq!(library.entries().count(), 2);
}

#[test]
fn a_lesson_that_cannot_be_read_costs_itself_alone() {
    let garbled: Says = |role, prompt| match (role, field(prompt, "task")) {
        ("lesson", "say f0") => Play::Give("it went wrong somehow".to_owned()),
        _ => says(role, prompt),
    };
    let (components, prompts) = parts(garbled, &ALL);
    let (library, events) = learn_from(&components, skillrl(2), failing(4));
    assert_eq!(library.entries().count(), 2);
    let told = refusals(&events);
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].starts_with("lesson: ") && told[0].contains("STEP | FLAWED"),
        "{told:#?}"
    );
    // It was asked and repaired once, and is not asked again in the next round.
    let garbled = of_role(&prompts, "lesson");
    let garbled = garbled.iter().filter(|text| text.contains("say f0"));
    assert_eq!(garbled.count(), 2);
    assert_eq!(library.tasks_learned(), 4, "every task is learned from");
}

#[test]
fn a_bank_that_cannot_be_read_leaves_the_lessons_as_skills_by_themselves() {
    let garbled: Says = |role, prompt| match role {
        "distil-bank" => Play::Give("skills".to_owned()),
        _ => says(role, prompt),
    };
    let (components, _) = parts(garbled, &ALL);
    let (library, events) = learn_from(&components, skillrl(2), failing(2));
    let lessons = [
        "cake/never-hesitate-before-f0@1",
        "cake/never-hesitate-before-f1@1",
    ];
    assert_eq!(
        (skills(&library), library.tasks_learned()),
        (lessons.map(str::to_owned).to_vec(), 2)
    );
    let told = refusals(&events);
    assert!(
        told.iter().all(|one| one.starts_with("distil-bank: ")),
        "{told:#?}"
    );
    assert_eq!(told.len(), 2, "general and cake");

    // A category whose answer can be read has what its role wrote.
    let cake: Says = |role, prompt| match (role, field(prompt, "category")) {
        ("distil-bank", "cake") => Play::Give("skills".to_owned()),
        _ => says(role, prompt),
    };
    let (components, _) = parts(cake, &ALL);
    let mut tasks = failing(1);
    tasks.push(task("t0", "tea", FAILS));
    let (library, _) = learn_from(&components, skillrl(2), tasks);
    let expect = [
        "/speak-up@1",
        "cake/never-hesitate-before-f0@1",
        "tea/tea-first@1",
    ];
    assert_eq!(skills(&library), expect);
}

#[test]
fn a_model_that_is_down_is_asked_three_times_at_most() {
    let down: Says = |role, prompt| match role {
        "lesson" => Play::Fail(Error::new(ErrorKind::Unavailable, "model", "down").temporary()),
        _ => says(role, prompt),
    };
    let (components, prompts) = parts(down, &ALL);
    let mut recipe = skillrl(1);
    recipe.tiers.traces = 5;
    let mut tasks = failing(1);
    tasks.extend(done(4));
    let (library, events) = learn_from(&components, recipe, tasks);
    assert_eq!(asked(&prompts, "lesson"), 3);
    let marks: Vec<&HandledMark> = library.handled().collect();
    let given_up = marks
        .iter()
        .any(|mark| mark.miss.is_none() && mark.subject.ends_with("/0/0"));
    assert!(given_up, "{marks:?}");
    let told = refusals(&events);
    assert!(
        told.iter()
            .any(|one| one.contains("could not be done in 3 maintenances")),
        "{told:#?}"
    );
}

#[test]
fn a_bank_whose_skills_are_all_disabled_is_not_filled_with_the_same_again() {
    let (components, prompts) = parts(says, &ALL);
    let library = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, skillrl(2), options).await;
        let journeyman = journeyman.expect("it opens");
        journeyman.learn(failing(2)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        for entry in library.entries() {
            let disabled = journeyman.set_state(&entry.skill.id, State::Disabled, "wrong");
            disabled.await.expect("it is disabled");
        }
        let before = of_role(&prompts, "distil-bank").len();
        let more = ["g0", "g1"].map(|id| task(id, "cake", FAILS)).to_vec();
        let report = journeyman.learn(more).await.expect("it learns");
        let nothing =
            |one: &journeyman::run::report::TaskReport| one.selections[0].skills().is_empty();
        assert!(report.tasks.iter().all(nothing), "none of them is injected");
        // The failures are distilled; the bank is not shown what is disabled.
        let requests = of_role(&prompts, "distil-bank").split_off(before);
        assert_eq!(requests.len(), 2);
        assert!(requests.iter().all(|text| field(text, "skill").is_empty()));
        journeyman.library().await.expect("a library")
    });
    assert_eq!(
        library.entries().count(),
        2,
        "the same titles do not come back"
    );
    assert!(
        library
            .entries()
            .all(|entry| entry.skill.state == State::Disabled)
    );
}

#[test]
fn another_skill_of_a_title_that_a_person_took_out_of_use_enters_once() {
    let other: Says = |role, prompt| match (role, field(prompt, "category")) {
        ("distil-bank", "") if prompt.contains("h0") => {
            Play::Give("Speak Up | When nobody answers. | Knock at the door.".to_owned())
        }
        ("distil-bank", "") if prompt.contains("g0") => {
            Play::Give("Speak Up | When a bell is there. | Ring it twice.".to_owned())
        }
        ("distil-bank", category) if !category.is_empty() => Play::Give("none".to_owned()),
        _ => says(role, prompt),
    };
    let (components, _) = parts(other, &ALL);
    block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, skillrl(2), options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        let learn = async |ids: [&str; 2]| {
            let tasks = ids.map(|id| task(id, "cake", FAILS)).to_vec();
            journeyman.learn(tasks).await.expect("it learns");
            skills(&journeyman.library().await.expect("a library"))
        };
        assert_eq!(learn(["f0", "f1"]).await, ["/speak-up@1"]);
        let library = journeyman.library().await.expect("a library");
        let skill = &library.entries().next().expect("a skill").skill.id;
        let disabled = journeyman.set_state(skill, State::Disabled, "wrong");
        disabled.await.expect("it is disabled");
        let both = ["/speak-up-2@1", "/speak-up@1"];
        assert_eq!(learn(["g0", "g1"]).await, both);
        assert_eq!(learn(["h0", "h1"]).await, both);
        drop(journeyman);
        let told = refusals(&events.collect::<Vec<_>>().await);
        let known = "the bank has a skill with this title: `speak-up-2`";
        assert!(told.iter().any(|one| one.contains(known)), "{told:?}");
    });
}

#[test]
fn a_title_without_letters_is_refused_with_its_reason() {
    let unnamed: Says = |role, prompt| match (role, field(prompt, "category")) {
        ("distil-bank", "cake") => {
            Play::Give("!? | When. | Do.\nGood | When due. | Do it.".to_owned())
        }
        ("distil-bank", _) => Play::Give("none".to_owned()),
        _ => says(role, prompt),
    };
    let (components, _) = parts(unnamed, &ALL);
    let (library, events) = learn_from(&components, skillrl(2), failing(2));
    assert_eq!(skills(&library), ["cake/good@1"]);
    let told = refusals(&events);
    assert!(
        told[0].starts_with("!?: the title has no letter"),
        "{told:?}"
    );
}

#[test]
fn the_hosts_admission_rule_holds_for_the_bank_too() {
    #[derive(Debug)]
    struct NoCake;
    impl journeyman::policy::AdmitRule for NoCake {
        fn admit(&self, _: &SkillLibrary, skill: &Skill) -> journeyman::Result<()> {
            match skill.scope {
                Scope::General => Ok(()),
                _ => Err(Error::invalid("host", "no cake")),
            }
        }
    }
    let (components, _) = parts(says, &ALL);
    let mut recipe = skillrl(2);
    recipe.admit.rules = vec![journeyman::policy::Policy::new("no-cake")];
    let policies = Policies::new().with_admission("no-cake", |_| Ok(Arc::new(NoCake)));
    let options = Options::new("test", Seed(7)).with_policies(policies);
    let library = block_on(async {
        let journeyman = Journeyman::open(components, recipe, options)
            .await
            .expect("it opens");
        journeyman.learn(failing(2)).await.expect("it learns");
        journeyman.library().await.expect("a library")
    });
    assert_eq!(skills(&library), ["/speak-up@1"]);
}

#[test]
fn findings_say_what_a_bank_lacks() {
    let consequences = |change: fn(&mut Components)| {
        let (mut components, _) = parts(says, &[Role::Extract]);
        change(&mut components);
        let options = Options::new("test", Seed(7));
        let opened = block_on(Journeyman::open(components, skillrl(2), options)).expect("it opens");
        let findings = opened.findings();
        findings
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    };
    let told = consequences(|_| {});
    assert!(
        told.contains("the host's roles do not play lesson"),
        "{told}"
    );
    assert!(
        told.contains("compared by the retriever's scores"),
        "{told}"
    );
    assert!(!told.contains("no skill is ever written"), "{told}");
    let told = consequences(|components| components.model = None);
    assert!(told.contains("no model for its roles"), "{told}");
}

#[test]
fn a_bank_needs_a_round_of_kept_attempts() {
    let mut recipe = skillrl(20);
    recipe.attempts.group = n32(2);
    let refused = |recipe: &Recipe, why: &str| {
        let error = recipe.resolve(&Policies::new()).expect_err(why);
        assert_eq!(error.kind(), ErrorKind::Invalid);
        error.to_string()
    };
    let error = refused(&recipe, "40 attempts");
    for part in ["tiers.traces", "bank", "40"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    recipe.tiers.traces = 40;
    recipe.resolve(&Policies::new()).expect("a whole round");
    for (success, near, field) in [
        (1.5, 0.9, "success"),
        (-0.1, 0.9, "success"),
        (0.4, 0.0, "near"),
        (0.4, f64::NAN, "near"),
    ] {
        bank(&mut recipe, |bank| {
            (bank.success, bank.near) = (success, near)
        });
        let error = refused(&recipe, "out of range");
        assert!(error.contains("BankPolicy"), "{error}");
        assert!(error.contains(field), "{error}");
    }
}
