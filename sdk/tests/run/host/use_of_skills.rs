//! What a host says of the skills that it was given, and what it is worth.

use journeyman::{
    Version,
    domain::SkillRef,
    stations::{propose::WriteWhen, reward::UsedWhen},
};

use super::*;

/// The report of one attempt that was done with a skill in its prompt, and the number of the skill's credits.
fn done(used: SkillUse, reward: UsedWhen, credit: UsedWhen) -> (TaskReport, u64) {
    let mut recipe = recipe::standard();
    recipe.select.selector = top(1);
    recipe.write.when = WriteWhen::Never;
    recipe.reward.skill_use = reward;
    recipe.credit.used_when = credit;
    block_on(async {
        let mut parts = own_loop();
        parts.scorer = None;
        let journeyman = open_as("test", &parts, recipe).await;
        let mut skill = sample::skill("one");
        skill.body = "say one two".to_owned();
        let added = journeyman.add(vec![skill.clone()], "shipped").await;
        added.expect("it is added");
        let did = Did { used, ..CLEAN };
        let report = attempt(&journeyman, alike(1).remove(0), did).await;
        let library = journeyman.library().await.expect("a library");
        let entry = library.get(&skill.id).expect("it is there");
        (report, entry.uses)
    })
}

#[test]
fn what_a_host_says_is_reported_and_silence_is_unknown() {
    for used in [SkillUse::Followed, SkillUse::NotFollowed, SkillUse::Unknown] {
        let (report, _) = done(used, UsedWhen::Injected, UsedWhen::Injected);
        let attempt = &report.attempts[0];
        assert_eq!((attempt.used, attempt.injected.len()), (used, 1));
        let json = serde_json::to_value(attempt).expect("it is JSON");
        let word = used.to_string().replace(' ', "_");
        assert_eq!(json["used"], json!(word));
    }
}

#[test]
fn the_reward_counts_unknown_use_as_the_recipe_says() {
    let check = |when, expect: [f64; 3]| {
        let rewards = [SkillUse::Followed, SkillUse::NotFollowed, SkillUse::Unknown]
            .map(|used| done(used, when, UsedWhen::Injected).0.attempts[0].reward);
        assert_eq!(rewards, expect.map(Some), "{when:?}");
    };
    check(UsedWhen::Injected, [2.0, 2.0, 2.0]);
    check(UsedWhen::Followed, [2.0, 1.0, 1.0]);
    check(UsedWhen::FollowedOrUnknown, [2.0, 1.0, 2.0]);
}

#[test]
fn the_credit_of_a_skill_of_unknown_use_is_as_the_recipe_says() {
    let check = |when, expect: [u64; 3]| {
        let credits = [SkillUse::Followed, SkillUse::NotFollowed, SkillUse::Unknown]
            .map(|used| done(used, UsedWhen::Injected, when).1);
        assert_eq!(credits, expect, "{when:?}");
    };
    check(UsedWhen::Injected, [1, 1, 1]);
    check(UsedWhen::Followed, [1, 0, 0]);
    check(UsedWhen::FollowedOrUnknown, [1, 0, 1]);
}

#[test]
fn over_an_attempt_the_strongest_word_counts() {
    let used = block_on(async {
        let mut recipe = recipe::standard();
        recipe.select.selector = top(1);
        let mut parts = own_loop();
        parts.scorer = None;
        let journeyman = open_as("test", &parts, recipe).await;
        let mut skill = sample::skill("one");
        skill.body = "say one two".to_owned();
        journeyman.add(vec![skill], "shipped").await.expect("added");
        let handle = journeyman.begin(alike(1).remove(0)).await.expect("begun");
        let given = handle.skill().expect("a skill").clone();
        for used in [
            SkillUse::NotFollowed,
            SkillUse::Followed,
            SkillUse::NotFollowed,
            SkillUse::Unknown,
        ] {
            handle.used(&given, used);
        }
        // Another version did not stand in the prompt.
        let other = SkillRef {
            version: Version(9),
            ..given.clone()
        };
        handle.used(&other, SkillUse::Followed);
        let report = handle.finish(Outcome::success()).await;
        let report = report.expect("it finishes").expect("a report");
        report.attempts[0].used
    });
    assert_eq!(used, SkillUse::Followed);
}

#[test]
fn a_run_counts_attempts_by_what_is_known_of_their_use() {
    let (mut task, _) = done(SkillUse::Unknown, UsedWhen::Injected, UsedWhen::Injected);
    let attempts = [
        (SkillUse::Followed, true),
        (SkillUse::Unknown, true),
        (SkillUse::Unknown, true),
        (SkillUse::NotFollowed, true),
        (SkillUse::NotFollowed, false),
    ];
    let attempts = attempts.map(|(used, injected)| {
        let mut one = task.attempts[0].clone();
        one.used = used;
        if !injected {
            one.injected.clear();
        }
        one
    });
    task.attempts = attempts.into();
    let mut report = sample::run_report();
    report.tasks = vec![task];
    let line = "with a skill in the prompt: 4 attempts; a skill was followed in 1, none in 1, unknown in 2\n";
    assert!(report.to_string().contains(line), "{report}");
    // Why it is unknown, and only where it is.
    let why = "  why unknown: in 2 attempts nothing said whether a skill was followed: no line `Skill: …`";
    assert!(report.to_string().contains(why), "{report}");
    assert!(
        report.to_string().contains("no `AttemptHandle::used`"),
        "{report}"
    );
    report.tasks[0]
        .attempts
        .retain(|one| one.used != SkillUse::Unknown);
    let said = report.to_string();
    assert!(
        said.contains("followed in 1, none in 1, unknown in 0\n"),
        "{said}"
    );
    assert!(!said.contains("why unknown"), "{said}");
}
