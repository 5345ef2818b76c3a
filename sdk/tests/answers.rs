//! Answers as instruct models give them: all that is plain is read, and nothing is read wrongly.
#![allow(clippy::unwrap_used, missing_docs)]

use journeyman::{
    agent::{ChatFormat, role::GeneralRoles},
    domain::Role,
    testing::{AnswerCase, AnswerTo, Meaning, answers, held_back_answers, read_answers},
};

fn check(cases: &[AnswerCase]) {
    let roles = GeneralRoles::shipped().unwrap();
    let figures = read_answers(cases, &ChatFormat::default(), &roles);
    assert!(figures.faults().is_empty(), "\n{}\n", figures.faults());
    let refused = |case: &&AnswerCase| matches!(case.meaning, Meaning::Refused(_));
    let refused = cases.iter().filter(refused).count();
    assert_eq!(figures.refused_rightly, refused);
    assert_eq!(figures.read_rightly, cases.len() - refused);
}

#[test]
fn the_corpus_is_read_rightly() {
    check(&answers());
}

#[test]
fn what_was_held_back_is_read_rightly() {
    check(&held_back_answers());
}

#[test]
fn the_corpus_has_all_kinds() {
    let cases = answers();
    let count = |to: &dyn Fn(&AnswerTo) -> bool| cases.iter().filter(|case| to(&case.to)).count();
    assert!(count(&|to| matches!(to, AnswerTo::Turn(_))) >= 24);
    for role in Role::ALL {
        assert!(count(&|to| *to == AnswerTo::Role(role)) >= 5, "{role}");
    }
    let refused = |case: &&AnswerCase| matches!(case.meaning, Meaning::Refused(_));
    let refused = cases.iter().filter(refused).count();
    assert!(cases.len() >= 60 && refused * 5 >= cases.len());
}
