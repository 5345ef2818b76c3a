//! What attempts at several tasks share becomes a skill.

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
        recipe.write = WriteWhen::Never;
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
    let (made, _) = refactored("shared: Says one two.\nsay: one two");
    assert_eq!(made, [State::Active]);
    let (made, events) = refactored("no use: Says nonsense.\nsay: no");
    assert!(made.is_empty());
    let told = events.iter().any(|event| {
        matches!(event, Event::Refused { reason, .. } if reason.contains("does not bear it out"))
    });
    assert!(told);
}

/// Tasks that share all but their last words, and as many after which what came of those is seen.
fn tasks_alike() -> Vec<Task> {
    let task = |number: usize, last: &str| {
        let words = ["stir", "all", "the", "hot", "soup", last];
        sample::task(&format!("task-{number}"), &words)
    };
    let lasts = ["one", "two", "three"].into_iter().enumerate();
    let others = (0..3).map(|n| sample::task(&format!("other-{n}"), &["other"]));
    let alike = lasts.map(|(number, last)| task(number, last));
    alike.chain(others).collect()
}

#[test]
fn skills_are_shown_with_the_attempts_that_they_were_made_from() {
    let mut recipe = hisme();
    recipe.selector = Selector::Nothing;
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
    let states = |refactor| {
        let mut recipe = hisme();
        recipe.selector = Selector::Nothing;
        recipe.attribute = false;
        let script = Script {
            // Of the first attempt what all share, of each other one all that it did.
            extract: |words| {
                let words = words.trim_end_matches(" one");
                format!("skill {words}: How to say {words}.\nsay: {words}")
            },
            refactor,
            ..Script::default()
        };
        let (_, library, ..) = learn_from(recipe, script, tasks_alike());
        let shared = library
            .entries()
            .find(|entry| entry.skill.name.as_str() == "skill-stir-all-the-hot-soup");
        shared.expect("it is there").skill.state
    };
    assert_eq!(states("none: they share nothing"), State::Trial);
    let same = "skill stir all the hot soup: How to say stir all the hot soup.\nsay: stir all the hot soup";
    assert_eq!(states(same), State::Active);
}
