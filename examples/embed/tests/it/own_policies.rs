//! Each of a host's own policies has its effect in one session, and each is a short file.

use std::{process::Command, sync::LazyLock};

/// The policies, each with its options and its registration.
const FILES: [(&str, &str); 7] = [
    (
        "by_trigger",
        include_str!("../../src/bin/own_policies/by_trigger.rs"),
    ),
    (
        "followers",
        include_str!("../../src/bin/own_policies/followers.rs"),
    ),
    (
        "forbidden_tools",
        include_str!("../../src/bin/own_policies/forbidden_tools.rs"),
    ),
    (
        "recorder",
        include_str!("../../src/bin/own_policies/recorder.rs"),
    ),
    (
        "refusals",
        include_str!("../../src/bin/own_policies/refusals.rs"),
    ),
    (
        "step_price",
        include_str!("../../src/bin/own_policies/step_price.rs"),
    ),
    (
        "unfollowed",
        include_str!("../../src/bin/own_policies/unfollowed.rs"),
    ),
];

/// What the program prints.
static SAID: LazyLock<String> = LazyLock::new(|| {
    let run = Command::new(env!("CARGO_BIN_EXE_own_policies"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{errors}");
    String::from_utf8(run.stdout).unwrap()
});

/// The lines below a heading, without their indent, and the heading's rest.
fn section(start: &str) -> (&'static str, Vec<&'static str>) {
    let mut lines = SAID.lines().skip_while(|line| !line.starts_with(start));
    let heading = lines.next().unwrap_or_default();
    let below = lines.map_while(|line| line.strip_prefix("  "));
    (&heading[start.len()..], below.collect())
}

/// An attempt as the program prints it.
#[derive(Debug)]
struct Attempt {
    steps: u32,
    taken: f64,
    reward: f64,
    used: &'static str,
}

/// The attempts at a task.
fn attempts(task: &str) -> Vec<Attempt> {
    let (_, lines) = section(task);
    let attempts = lines.iter().filter_map(|line| {
        let (steps, rest) = line.strip_prefix("attempt: ")?.split_once(" steps, ")?;
        let (taken, rest) = rest.split_once(" of them taken, reward ")?;
        let (reward, used) = rest.split_once(", skill ")?;
        Some(Attempt {
            steps: steps.parse().ok()?,
            taken: taken.parse().ok()?,
            reward: reward.parse().ok()?,
            used,
        })
    });
    let attempts: Vec<Attempt> = attempts.collect();
    assert_eq!(attempts.len(), 4, "{task}: {}", *SAID);
    attempts
}

/// The skill that a task's attempts were given.
fn given(task: &str) -> &'static str {
    let (rest, _) = section(task);
    rest.trim_start_matches(" with ").trim_end_matches(':')
}

#[test]
fn the_selector_takes_the_skill_with_the_most_trigger_words() {
    assert_eq!(given("Refund-0"), "no skill");
    assert_eq!(given("Refund-1"), "refund-order");
    // Three words of the shipped skill stand in the task, and two of the written one.
    assert_eq!(given("Exchange-1"), "exchange-by-warehouse");
    assert_eq!(given("Cancel-4"), "no skill");
}

#[test]
fn the_reward_rule_charges_for_steps() {
    for task in ["Refund-0", "Refund-4", "Exchange-0", "Cancel-2"] {
        for attempt in attempts(task) {
            let expected = 1.0 - 0.1 * f64::from(attempt.steps);
            assert!((attempt.reward - expected).abs() < 1e-6, "{attempt:?}");
        }
    }
}

#[test]
fn the_assessor_scores_the_share_of_calls_that_the_desk_took() {
    // One call of each attempt was refused, and none with the skill that was written.
    for attempt in attempts("Refund-0") {
        let steps = f64::from(attempt.steps);
        assert!(
            (attempt.taken - (steps - 1.0) / steps).abs() < 0.01,
            "{attempt:?}"
        );
    }
    for attempt in attempts("Refund-4") {
        assert!((attempt.taken - 1.0).abs() < 1e-6, "{attempt:?}");
    }
}

#[test]
fn the_writer_records_the_calls_of_the_shortest_attempt_that_the_desk_took() {
    let (_, written) = section("Refund-0");
    assert!(written.contains(&"written: refund-order"), "{}", *SAID);
    let (_, steps) = section("refund-order is ");
    let last = ["- Call `verify_customer`.", "- Call `refund_order`."];
    assert!(steps.ends_with(&last), "{steps:?}");
    // One call of each attempt was refused.
    let shortest = attempts("Refund-0").iter().map(|one| one.steps).min();
    assert_eq!(shortest.unwrap() as usize, steps.len() + 1);
    for followed in attempts("Refund-4") {
        assert_eq!(followed.steps as usize, steps.len());
    }
}

#[test]
fn the_credit_rule_credits_the_attempts_that_followed_a_skill() {
    for attempt in attempts("Exchange-0") {
        assert_eq!(attempt.used, "not followed");
    }
    let (unfollowed, _) = section("exchange-by-warehouse is ");
    assert!(unfollowed.contains("in 8 prompts, followed 0 times, 0 credits, utility 0.00"));
    for attempt in attempts("Refund-1") {
        assert_eq!(attempt.used, "followed");
    }
    let (followed, _) = section("refund-order is ");
    assert!(followed.contains("in 16 prompts, followed 16 times, 16 credits, utility 0."));
    assert!(!followed.ends_with("utility 0.00"), "{followed}");
}

#[test]
fn the_admission_rule_refuses_what_names_a_forbidden_tool() {
    for number in 0..5 {
        let (_, lines) = section(&format!("Cancel-{number}"));
        let why = "the skill names the tool override_policy";
        let is_refused = |line: &&str| line.starts_with("refused: ") && line.ends_with(why);
        assert!(lines.iter().any(is_refused), "{lines:?}");
    }
    assert!(!SAID.contains("cancel-order"), "{}", *SAID);
}

#[test]
fn the_maintenance_program_archives_what_nobody_follows() {
    let (archived, _) = section("exchange-by-warehouse is ");
    assert!(archived.starts_with("archived:"), "{archived}");
    // The skill that was written stands in its place.
    for number in 2..5 {
        let task = format!("Exchange-{number}");
        assert_eq!(given(&task), "exchange-order");
        for attempt in attempts(&task) {
            assert_eq!(attempt.used, "followed");
        }
    }
}

#[test]
fn each_policy_is_a_file_of_under_sixty_lines() {
    for (name, file) in FILES {
        let lines = file.lines().count();
        assert!(lines < 60, "{name}: {lines} lines");
        // With its options, its registration and its documentation.
        for part in ["impl PolicyOptions for", "fn register(", "//! ", "\n/// "] {
            assert!(file.contains(part), "{name} lacks `{part}`");
        }
    }
}
