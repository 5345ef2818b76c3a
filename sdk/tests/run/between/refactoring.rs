//! What attempts at several tasks share becomes a skill.

use std::{collections::BTreeSet, ops::Range};

use super::*;

/// What the refactorer was shown.
fn shown(prompts: &Prompts) -> Vec<String> {
    let prompts = prompts.lock().unwrap();
    let refactor = prompts
        .iter()
        .filter(|prompt| prompt.starts_with("role: refactor"));
    refactor.cloned().collect()
}

#[test]
fn what_attempts_share_becomes_a_skill_when_all_of_them_bear_it_out() {
    let refactored = |refactor| {
        let mut recipe = hisme();
        recipe.write.when = WriteWhen::Never;
        let script = Script {
            refactor,
            ..Script::default()
        };
        let same = |number| sample::task(&format!("task-{number}"), &["one", "two"]);
        let (_, library, prompts, events) = learn_from(recipe, script, (0..6).map(same).collect());
        let asked = shown(&prompts);
        assert!(!asked.is_empty(), "attempts at the same words overlap");
        let made: Vec<State> = library.entries().map(|entry| entry.skill.state).collect();
        (made, events)
    };
    let (made, _) = refactored("none: they share nothing");
    assert!(made.is_empty());
    let (made, events) = refactored("shared: Says one two.\nsay: one two");
    assert_eq!(made, [State::Active]);
    // Which attempts were put together, and why.
    let grouped = events.iter().find_map(|event| match &event.kind {
        EventKind::Grouped {
            attempts, reason, ..
        } => Some((attempts.len(), reason.clone())),
        _ => None,
    });
    let (attempts, reason) = grouped.expect("a group was told");
    assert!(
        attempts >= 2 && reason.contains("shared"),
        "{attempts} {reason}"
    );
    let (made, events) = refactored("no use: Says nonsense.\nsay: no");
    assert!(made.is_empty());
    let told = events.iter().any(|event| {
        matches!(&event.kind, EventKind::Refused { reason, .. } if reason.contains("does not confirm it"))
    });
    assert!(told);
}

/// Tasks that share all but their last words.
fn alike<const N: usize>(lasts: [&str; N]) -> Vec<Task> {
    let task = |last: &str| {
        let words = ["stir", "all", "the", "hot", "soup", last];
        sample::task(&format!("task-{last}"), &words)
    };
    lasts.into_iter().map(task).collect()
}

/// After these what came of those before is seen.
fn others() -> Vec<Task> {
    let tasks = (0..3).map(|n| sample::task(&format!("other-{n}"), &["other"]));
    tasks.collect()
}

/// Tasks that are alike, and others.
fn tasks_alike() -> Vec<Task> {
    [alike(["one", "two", "three"]), others()].concat()
}

/// A role that extracts of the first task what all share, and of each other one all that was done.
fn extracting(refactor: &'static str) -> Script {
    Script {
        extract: |words| {
            let words = words.trim_end_matches(" one");
            format!("skill {words}: How to say {words}.\nsay: {words}")
        },
        refactor,
        ..Script::default()
    }
}

const NONE: &str = "none: they share nothing";
const SAME: &str =
    "skill stir all the hot soup: How to say stir all the hot soup.\nsay: stir all the hot soup";

/// What became of what all share: its version and state.
fn shared(library: &SkillLibrary) -> (u64, State) {
    let mut entries = library.entries();
    let shared = entries.find(|entry| entry.skill.name.as_str() == "skill-stir-all-the-hot-soup");
    let skill = &shared.expect("it is there").skill;
    (skill.version.0, skill.state)
}

#[test]
fn skills_are_shown_with_the_attempts_that_they_were_made_from() {
    let mut recipe = hisme();
    recipe.select.selector = Nothing.into();
    let (.., prompts, _) = learn_from(recipe, Script::default(), tasks_alike());
    let asked = shown(&prompts);
    let count = |prompt: &str, field: &str| {
        let lines = prompt.lines();
        lines.filter(|line| line.starts_with(field)).count()
    };
    let with_skills = asked.iter().filter(|prompt| count(prompt, "skill: ") > 0);
    assert!(with_skills.count() > 0, "skills overlap: {asked:?}");
    for prompt in &asked {
        let skills = count(prompt, "skill: ");
        assert!(count(prompt, "task: ") >= skills.max(2), "{prompt}");
    }
}

#[test]
fn attempts_speak_for_the_skill_that_they_are_found_to_share() {
    let state = |refactor| {
        let mut recipe = hisme();
        recipe.select.selector = Nothing.into();
        recipe.credit.attribute = Attribute::Never;
        let (_, library, ..) = learn_from(recipe, extracting(refactor), tasks_alike());
        shared(&library)
    };
    assert_eq!(state(NONE), (1, State::Trial));
    assert_eq!(state(SAME), (1, State::Active));
}

#[test]
fn a_bundle_has_whole_attempts_at_four_tasks() {
    let mut recipe = hisme();
    recipe.select.selector = Nothing.into();
    let tasks = alike(["one", "two", "three", "four", "five", "six"]);
    let (_, library, ..) = learn_from(recipe, extracting(SAME), tasks);
    let mut entries = library.entries();
    let shared = entries.find(|entry| entry.skill.name.as_str() == "skill-stir-all-the-hot-soup");
    let bundle = &shared.expect("it is there").life.bundle;
    let tasks: BTreeSet<_> = bundle.iter().map(|one| &one.case.task.id).collect();
    assert_eq!((tasks.len(), bundle.len()), (4, 4));
}

/// What becomes of a skill that is judged harmful each time that it is followed.
fn judged_harmful(script: Script, tasks: Vec<Task>, ours: bool) -> (u64, State) {
    let mut recipe = hisme();
    across(&mut recipe, |parts| {
        let refactor = parts.refactor.as_mut().expect("it refactors");
        refactor.counterfactual = ours;
    });
    micro(&mut recipe, |parts| {
        parts.refine = None;
        let mut filter = FilterPolicy::new(n32(1), 1);
        filter.keep_supported = ours;
        parts.filter = Some(filter);
    });
    let script = Script {
        attribute: "harmful: it was refused",
        ..script
    };
    let (_, library, ..) = learn_from(recipe, script, tasks);
    let mut entries = library.entries();
    let harmed = entries.any(|entry| entry.life.counts(entry.skill.version).harmful > 0);
    assert!(harmed);
    shared(&library)
}

#[test]
fn the_filter_leaves_what_is_spoken_for() {
    let state = |refactor, ours| {
        let tasks = alike(["one", "two", "three", "four", "five", "six"]);
        judged_harmful(extracting(refactor), tasks, ours)
    };
    assert_eq!(state(NONE, true), (1, State::Disabled));
    // A later version would be one that came back.
    assert_eq!(state(SAME, true), (1, State::Active));
    // In the paper judgements alone decide.
    assert_ne!(state(SAME, false), (1, State::Active));
}

/// Tasks of which what the skill says is refused once, as is what is said without one.
fn cold() -> Vec<Task> {
    let task = |last: &str| {
        let words = ["stir", "all", "the", "cold", "soup", last];
        sample::task(&format!("task-{last}"), &words)
    };
    ["four", "five", "six"].map(task).to_vec()
}

#[test]
fn a_known_skill_takes_what_goes_better_with_it_than_without() {
    let state = |then: Vec<Task>| {
        let mut recipe = hisme();
        micro(&mut recipe, |parts| parts.refine = None);
        recipe.batch = n64(1);
        every(&mut recipe, 1);
        // No judgement speaks for it.
        let script = Script {
            attribute: "uncertain: who knows",
            ..extracting(SAME)
        };
        let tasks = [alike(["one"]), then, others()].concat();
        let (_, library, ..) = learn_from(recipe, script, tasks);
        let used: u64 = library.entries().map(|one| one.life.lifetime().used).sum();
        assert!(used > 0, "it was followed");
        shared(&library)
    };
    assert_eq!(state(alike(["four", "five", "six"])), (1, State::Active));
    assert_eq!(state(cold()), (1, State::Trial));
}

#[test]
fn attempts_that_followed_a_skill_do_not_speak_for_it_where_they_cost_no_less_than_without() {
    let mut tasks = alike(["one"]);
    tasks.extend(["bread", "fish"].map(|word| sample::task(&format!("other-{word}"), &[word])));
    tasks.extend(cold());
    let state = judged_harmful(extracting(SAME), tasks, true);
    assert_eq!(state, (1, State::Disabled));
}

/// An agent that does `task-0`, and at every other task says a wrong word and ends its turn.
fn fails_elsewhere() -> ScriptedExecutor {
    ScriptedExecutor::acting(|attempt: &Attempt<'_>, steps: &[Step]| {
        let due: Vec<String> =
            serde_json::from_value(attempt.task.payload.clone()).unwrap_or_default();
        Play::Give(match (attempt.task.id.as_str(), steps.len()) {
            ("task-0", said) => due.get(said).cloned().map(Action::Message),
            (_, 0) => Some(Action::Message("no".to_owned())),
            _ => Some(Action::EndTurn),
        })
    })
}

#[test]
fn a_skill_and_what_failed_with_it_are_refactored_where_the_recipe_asks_for_revisions() {
    let learned = |revisions: bool, numbers: Range<u32>| {
        let mut recipe = recipe::hisme();
        recipe.batch = n64(3);
        every(&mut recipe, 3);
        recipe.write.when = WriteWhen::Never;
        across(&mut recipe, |parts| {
            let refactor = parts.refactor.as_mut().expect("it refactors");
            refactor.revisions = revisions;
        });
        let (mut components, prompts) = parts(Script {
            refactor: "better soup: Says stir hot soup.\nsay: stir hot soup",
            ..Script::default()
        });
        components.executor = Some(Arc::new(fails_elsewhere()));
        let mut skill = sample::skill("soup");
        skill.description = "say stir hot soup".to_owned();
        skill.body = "say: stir hot soup".to_owned();
        skill.provenance.tasks = vec!["task-0".into()];
        let same = |n| sample::task(&format!("task-{n}"), &["stir", "hot", "soup"]);
        let tasks: Vec<Task> = numbers.map(same).collect();
        let library = block_on(async {
            let options = Options::new("test", Seed(7));
            let journeyman = Journeyman::open(components, recipe, options).await;
            let journeyman = journeyman.expect("it opens");
            let added = journeyman.add(vec![skill], "a host's").await;
            added.expect("added");
            journeyman.learn(tasks).await.expect("it learns");
            journeyman.library().await.expect("a library")
        });
        let skills = library.entries().map(|entry| &entry.skill);
        let made = skills.filter(|skill| skill.provenance.origin == Origin::Refactored);
        let made_from = made.map(|skill| skill.provenance.tasks.clone());
        (shown(&prompts), made_from.collect::<Vec<_>>())
    };
    // The successful attempt at the skill's own task confirms what is written.
    let (asked, made) = learned(true, 0..3);
    let outcomes = |prompt: &String| {
        let lines = prompt.lines();
        let outcomes = lines.filter_map(|line| line.strip_prefix("outcome: "));
        outcomes.map(str::to_owned).collect::<Vec<_>>()
    };
    let of_soup = asked.iter().find(|prompt| prompt.contains("skill: soup"));
    assert_eq!(
        outcomes(of_soup.expect("the skill's group")),
        ["failed", "failed", "done"]
    );
    // Tasks at which it failed with the skill are none that the new one was written from.
    assert_eq!(made, [[TaskId::from("task-0")]]);
    assert_eq!(learned(false, 0..3), (Vec::new(), Vec::new()));
    // Where no successful attempt could confirm what is written, nobody is asked.
    assert_eq!(learned(true, 1..4), (Vec::new(), Vec::new()));
}

#[test]
fn what_attempts_at_one_task_share_is_no_skill() {
    let mut recipe = hisme();
    recipe.write.when = WriteWhen::Never;
    let (components, prompts) = parts(Script {
        refactor: "shared: Says one two.\nsay: one two",
        ..Script::default()
    });
    // What they were made from is kept no more.
    let skill = |last: &str| {
        let words = format!("stir all the hot soup in the big old iron pot {last}");
        let mut skill = sample::skill(&words);
        skill.description = format!("How to say {words}.");
        skill.body = format!("say: {words}");
        skill.provenance.tasks = vec![format!("gone-{last}").as_str().into()];
        skill
    };
    let skills = vec![skill("one"), skill("two")];
    let (library, events) = block_on(async {
        let options = Options::new("test", Seed(7));
        let journeyman = Journeyman::open(components, recipe, options).await;
        let journeyman = journeyman.expect("it opens");
        let events = journeyman.events();
        journeyman.add(skills, "a host's").await.expect("added");
        journeyman.learn(tasks(3)).await.expect("it learns");
        let library = journeyman.library().await.expect("a library");
        drop(journeyman);
        (library, events.collect::<Vec<_>>().await)
    });
    let skills_alone = |prompt: &String| !prompt.contains("\ntask: ");
    assert!(shown(&prompts).iter().any(skills_alone));
    let skills = library.entries().map(|entry| &entry.skill);
    let mut made = skills.filter(|skill| skill.provenance.origin == Origin::Refactored);
    assert!(made.all(|skill| skill.provenance.tasks.len() >= 2));
    let told = events.iter().any(
        |event| matches!(&event.kind, EventKind::Refused { reason, .. } if reason.contains("at two tasks")),
    );
    assert!(told);
}
