//! Policies of a host's own.

use journeyman::{
    papers::skillrl::BankSelector,
    policy::Policy,
    stations::select::{First, GatePolicy, Random, SelectPer, Top},
    testing::conformance::Outcome,
};

use super::{
    host_policies::{
        Flaw, admit_rule, assess_program, check_maintenance, check_scoring_selector,
        check_selector, credit_rule, learning, maintenance_program, reward_rule, select_program,
        write_program,
    },
    *,
};

/// The cases that fail for each flaw.
fn check(suite: fn(Flaw) -> Report, flaws: &[(Flaw, &[&str])]) {
    for (flaw, expected) in flaws {
        let report = suite(*flaw);
        assert_eq!(failed(&report), *expected, "{flaw:?}\n{report}");
    }
}

/// The cases that are skipped, and a part of the reason of each.
fn check_skipped(report: &Report, expected: &[(&str, &str)]) {
    let skipped: Vec<&str> = report.skipped().map(|case| case.name).collect();
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    assert_eq!(skipped, names, "{report}");
    for (case, (_, why)) in report.skipped().zip(expected) {
        let told = matches!(&case.outcome, Outcome::Skipped(told) if told.contains(why));
        assert!(told, "{why}: {report}");
    }
}

#[test]
fn selectors() {
    check(
        select_program,
        &[
            (Flaw::None, &[]),
            (Flaw::AsksOtherwise, &["repeats"]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::KnowsOfOtherRuns, &["repeats"]),
            (Flaw::Panics, &["ends"]),
            (Flaw::Waits, &["ends"]),
            (Flaw::Fails, &[]),
            (Flaw::Elsewhere, &["offered"]),
            (Flaw::Twice, &["counted"]),
        ],
    );
}

#[test]
fn our_selectors_keep_the_rules() {
    let limit = std::num::NonZeroUsize::MIN;
    let mut gate = GatePolicy::default();
    gate.absolute = Some(0.5);
    for selector in [
        First.into(),
        Top::new(limit).into(),
        Random.into(),
        BankSelector::default().into(),
        Policy::from(gate),
    ] {
        for per in [SelectPer::Query, SelectPer::Rollout] {
            let mut fixture = learning(Flaw::None);
            fixture.recipe.select.selector = selector.clone();
            fixture.recipe.select.per = per;
            fixture.recipe.attempts.group = std::num::NonZeroU32::new(3).unwrap();
            fixture.recipe.write.when = journeyman::stations::propose::WriteWhen::Never;
            fixture.recipe.maintenance.programs.clear();
            let report = check_scoring_selector(&fixture);
            assert!(failed(&report).is_empty(), "{selector:?}: {report}");
            // Each chooses skills.
            assert_eq!(report.skipped().count(), 0, "{selector:?}: {report}");
        }
    }
}

#[test]
fn writers() {
    check(
        write_program,
        &[
            (Flaw::None, &[]),
            (Flaw::AsksOtherwise, &["repeats"]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::KnowsOfOtherRuns, &["repeats"]),
            (Flaw::Panics, &["ends"]),
            (Flaw::Waits, &["ends"]),
            (Flaw::Fails, &[]),
            (Flaw::Invalid, &["valid"]),
        ],
    );
}

#[test]
fn assessors() {
    check(
        assess_program,
        &[
            (Flaw::None, &[]),
            (Flaw::AsksOtherwise, &["repeats"]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::KnowsOfOtherRuns, &["repeats"]),
            (Flaw::Panics, &["ends"]),
            (Flaw::Waits, &["ends"]),
            (Flaw::Fails, &[]),
            (Flaw::Invalid, &["valid"]),
            (Flaw::Elsewhere, &["valid"]),
        ],
    );
}

#[test]
fn maintenance_programs() {
    check(
        maintenance_program,
        &[
            (Flaw::None, &[]),
            (Flaw::AsksOtherwise, &["repeats"]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::KnowsOfOtherRuns, &["repeats"]),
            (Flaw::Panics, &["ends"]),
            (Flaw::Waits, &["ends"]),
            (Flaw::Fails, &[]),
            (Flaw::Invalid, &["permitted"]),
            (Flaw::Forbidden, &["permitted"]),
            (Flaw::Elsewhere, &["applies"]),
        ],
    );
}

#[test]
fn a_fault_of_a_program_is_told_with_its_place() {
    let said = |report: Report| report.into_result().unwrap_err().to_string();
    for (report, part) in [
        (select_program(Flaw::AsksOtherwise), "asks something else"),
        (select_program(Flaw::Elsewhere), "not offered"),
        (select_program(Flaw::Panics), "a policy that panics"),
        (write_program(Flaw::KnowsOfOtherRuns), "made a second time"),
        (write_program(Flaw::Invalid), "own for task 0"),
        (assess_program(Flaw::Elsewhere), "of another attempt"),
        (maintenance_program(Flaw::Panics), "behind task 1"),
        (maintenance_program(Flaw::Elsewhere), "change 0: Unknown"),
        (
            maintenance_program(Flaw::Forbidden),
            "may not record evidence",
        ),
    ] {
        let said = said(report);
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_program_that_is_not_tried_is_skipped() {
    let nothing = "the program decided on no";
    check_skipped(&select_program(Flaw::DoesNothing), &[("offered", nothing)]);
    check_skipped(&write_program(Flaw::DoesNothing), &[("valid", nothing)]);
    check_skipped(&assess_program(Flaw::DoesNothing), &[("valid", nothing)]);
    check_skipped(
        &maintenance_program(Flaw::DoesNothing),
        &[("permitted", nothing), ("applies", nothing)],
    );

    let mut fixture = learning(Flaw::None);
    let every = std::num::NonZeroU64::new(100).unwrap();
    fixture.recipe.maintenance.every("own", every);
    let never = "did not call the program";
    let names = ["repeats", "ends", "permitted", "applies"];
    check_skipped(
        &check_maintenance(&fixture),
        &names.map(|name| (name, never)),
    );
    fixture.recipe.maintenance.programs.clear();
    let none = "names no such program";
    check_skipped(
        &check_maintenance(&fixture),
        &names.map(|name| (name, none)),
    );
}

#[test]
fn a_second_run_is_not_compared_where_parts_draw_samples() {
    for (samples, expected) in [(false, &["repeats"][..]), (true, &[])] {
        let mut fixture = learning(Flaw::KnowsOfOtherRuns);
        fixture.recipe.write.when = journeyman::stations::propose::WriteWhen::Never;
        fixture.recipe.maintenance.programs.clear();
        fixture.samples = samples;
        assert_eq!(failed(&check_selector(&fixture)), expected);
    }
}

#[test]
fn reward_rules() {
    check(
        reward_rule,
        &[
            (Flaw::None, &[]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::Invalid, &["finite"]),
            (Flaw::Fails, &["repeats", "finite"]),
            (Flaw::Panics, &["repeats", "finite"]),
        ],
    );
    check_skipped(
        &reward_rule(Flaw::DoesNothing),
        &[("finite", "rewards none")],
    );
}

#[test]
fn credit_rules() {
    check(
        credit_rule,
        &[
            (Flaw::None, &[]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::Elsewhere, &["exposed"]),
            (Flaw::Twice, &["exposed"]),
            (Flaw::Miscounts, &["uses"]),
            (Flaw::Invalid, &["finite"]),
            (Flaw::Panics, &["repeats", "exposed", "uses", "finite"]),
        ],
    );
    let nothing = "credits no skill";
    check_skipped(
        &credit_rule(Flaw::DoesNothing),
        &[("exposed", nothing), ("uses", nothing), ("finite", nothing)],
    );
}

#[test]
fn admission_rules() {
    check(
        admit_rule,
        &[
            (Flaw::None, &[]),
            (Flaw::DecidesOtherwise, &["repeats"]),
            (Flaw::Fails, &[]),
            (Flaw::Panics, &["repeats"]),
        ],
    );
}
