//! The budget of maintenance: what a round may cost, what is left out, and that it stays due.

use journeyman::domain::MaintenanceBudget;

use super::*;

fn within(budget: MaintenanceBudget, n: usize) -> (RunReport, SkillLibrary, Vec<Event>) {
    let mut recipe = hisme();
    recipe.maintenance.budget = budget;
    let (report, library, _, events) = learn_with(recipe, Script::default(), n);
    (report, library, events)
}

fn left_out(events: &[Event]) -> u64 {
    let counts = events.iter().map(|event| match event.kind {
        EventKind::OverBudget { count, .. } => u64::from(count),
        _ => 0,
    });
    counts.sum()
}

fn active(library: &SkillLibrary) -> usize {
    let active = library.entries();
    active
        .filter(|entry| entry.skill.state == State::Active)
        .count()
}

#[test]
fn without_a_budget_nothing_is_left_out() {
    let (report, library, events) = within(MaintenanceBudget::default(), 12);
    let cost = report.maintenance;
    assert!(cost.attempts > 0 && cost.roles.total() > 0);
    assert_eq!((cost.over_budget, left_out(&events)), (0, 0));
    assert!(active(&library) > 0);
    assert!(
        report.to_string().contains("attempts at test cases"),
        "{report}"
    );
}

#[test]
fn a_round_makes_no_more_attempts_than_its_budget() {
    // Of tasks of three kinds the third round has a bundle of several cases for each of three skills.
    let attempts = |budget: u64, n: usize| {
        let mut of_attempts = MaintenanceBudget::default();
        of_attempts.attempts = Some(budget);
        let (report, library, events) = within(of_attempts, n);
        assert_eq!(report.maintenance.over_budget, left_out(&events));
        let rounds = n as u64 / 3;
        assert!(report.maintenance.attempts <= rounds * budget);
        (report.maintenance, active(&library))
    };
    let (none, _) = attempts(0, 12);
    assert!(none.attempts == 0 && none.over_budget > 0, "{none:?}");
    let (few, released) = attempts(3, 24);
    assert!(few.attempts > 0 && few.over_budget > 0, "{few:?}");
    // What was left out stayed due.
    assert!(released > 0, "{few:?}");
}

#[test]
fn a_round_asks_for_no_call_more_once_its_tokens_are_used_up() {
    let (free, _, _) = within(MaintenanceBudget::default(), 12);
    let tokens = |budget: u64| {
        let mut of_tokens = MaintenanceBudget::default();
        of_tokens.tokens = Some(budget);
        let (report, _, events) = within(of_tokens, 12);
        assert_eq!(report.maintenance.over_budget, left_out(&events));
        report.maintenance
    };
    let nothing = tokens(0);
    assert_eq!((nothing.tokens(), nothing.attempts), (0, 0));
    assert!(nothing.over_budget > 0);
    // With one token left a call is made, and the next one is not: one call in each of four rounds at most.
    let one = tokens(1);
    assert!(
        one.tokens() > 0 && one.tokens() < free.maintenance.tokens() / 2,
        "{one:?}"
    );
    assert!(one.over_budget > 0);
    let enough = tokens(u64::MAX);
    assert_eq!(
        (enough.tokens(), enough.over_budget),
        (free.maintenance.tokens(), 0)
    );
}
