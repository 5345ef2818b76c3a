//! Skills of which nobody said whether the agent followed them.

use SkillUse::{Followed, NotFollowed, Unknown};

use super::*;

/// Learns with an agent that says this of the first skill and of the others.
fn learn_with_use(uses: [SkillUse; 2], recipe: Recipe, script: Script) -> (SkillLibrary, Prompts) {
    let (mut components, prompts) = parts(script);
    components.executor = Some(Arc::new(Says(follower(), uses)));
    let (_, library, prompts, _) = learn_by((components, prompts), recipe, tasks(6));
    (library, prompts)
}

#[test]
fn the_attribute_role_is_asked_as_the_recipe_says() {
    let check = |attribute, uses, asked: usize, judged: [u32; 2]| {
        let mut recipe = hisme();
        recipe.maintenance = Maintenance::default();
        recipe.credit.attribute = attribute;
        let script = Script {
            attribute: "harmful: it was refused",
            ..Script::default()
        };
        let (library, prompts) = learn_with_use(uses, recipe, script);
        let prompts = prompts.lock().unwrap();
        let questions = prompts.iter();
        let questions = questions.filter(|prompt| prompt.starts_with("role: attribute"));
        assert_eq!(questions.count(), asked, "{attribute:?} {uses:?}");
        let counts = library
            .entries()
            .map(|entry| entry.life.counts(entry.skill.version));
        let (mut harmful, mut neutral) = (0, 0);
        for count in counts {
            harmful += count.harmful;
            neutral += count.neutral;
        }
        assert_eq!([harmful, neutral], judged, "{attribute:?} {uses:?}");
    };
    // Each of three attempts was given two skills.
    let (known, open) = ([Followed, NotFollowed], [Followed, Unknown]);
    check(Attribute::Always, known, 3, [3, 3]);
    check(Attribute::Always, open, 6, [6, 0]);
    check(Attribute::Always, [Unknown; 2], 6, [6, 0]);
    check(Attribute::Always, [NotFollowed; 2], 6, [6, 0]);
    check(Attribute::UseUnknown, known, 0, [0, 0]);
    check(Attribute::UseUnknown, open, 3, [3, 0]);
    check(Attribute::UseUnknown, [Unknown; 2], 6, [6, 0]);
    check(Attribute::Never, [Unknown; 2], 0, [0, 0]);
}

#[test]
fn lifetimes_count_what_was_said_and_then_what_was_judged() {
    let check = |uses, judgement: &'static str, expect: [u64; 3]| {
        let mut recipe = hisme();
        recipe.maintenance = Maintenance::default();
        let script = Script {
            attribute: judgement,
            ..Script::default()
        };
        let (library, _) = learn_with_use(uses, recipe, script);
        let mut sums = [0; 3];
        for lifetime in library.entries().map(|entry| entry.life.lifetime()) {
            sums[0] += lifetime.injected;
            sums[1] += lifetime.used;
            sums[2] += lifetime.use_unknown;
        }
        assert_eq!(sums, expect, "{uses:?} {judgement}");
    };
    let (helpful, neutral) = ("helpful: it was followed", "neutral: it was not followed");
    let uncertain = "uncertain: who knows";
    check([Followed, NotFollowed], uncertain, [6, 3, 0]);
    check([Followed, Unknown], uncertain, [6, 3, 3]);
    check([Unknown; 2], uncertain, [6, 0, 6]);
    check([Unknown; 2], helpful, [6, 6, 0]);
    check([Unknown; 2], neutral, [6, 0, 0]);
}

#[test]
fn a_refused_attempt_of_unknown_use_refines_nothing_unless_a_role_settles_it() {
    let refined = |used, attribute| {
        let mut recipe = hisme();
        recipe.select.selector = top(1);
        micro(&mut recipe, |parts| parts.filter = None);
        let script = Script {
            extract: |words| format!("skill {words}: How to say {words}.\nsay: oops {words}"),
            attribute,
            ..Script::default()
        };
        let (_, prompts) = learn_with_use([used; 2], recipe, script);
        let prompts = prompts.lock().unwrap();
        let mut prompts = prompts.iter();
        prompts.any(|prompt| prompt.starts_with("role: refine"))
    };
    let (uncertain, neutral) = ("uncertain: who knows", "neutral: it made no difference");
    assert!(refined(Followed, uncertain) && refined(Followed, neutral));
    assert!(!refined(Unknown, uncertain) && !refined(Unknown, neutral));
    assert!(!refined(NotFollowed, uncertain) && !refined(NotFollowed, neutral));
    // What did harm is refined in any case.
    let harmful = "harmful: it was refused";
    assert!(refined(Unknown, harmful));
}

#[test]
fn an_attempt_of_unknown_use_corroborates_nothing() {
    let states = |used| {
        let mut recipe = hisme();
        recipe.select.selector = top(1);
        recipe.credit.attribute = Attribute::Never;
        let (library, _) = learn_with_use([used; 2], recipe, Script::default());
        let states = library.entries().map(|entry| entry.skill.state);
        states.collect::<Vec<_>>()
    };
    // The second task of each kind comes to the same skill, which stood in its prompt.
    assert_eq!(states(NotFollowed), [State::Active; 3]);
    assert_eq!(states(Unknown), [State::Trial; 3]);
    assert_eq!(states(Followed), [State::Trial; 3]);
}
