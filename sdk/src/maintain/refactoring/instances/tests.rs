//! What an instance says of a skill.

use super::*;
use crate::{
    domain::{Usage, Verdict},
    error::{Error, ErrorKind},
    testing::sample,
};

/// A case that allows two refusals.
fn case() -> BundleCase {
    let task = sample::task("one", &["one"]);
    BundleCase {
        refusals: 2,
        ..whole(
            &sample::trace("one", &task, &["one"], true),
            CaseKind::Integration,
        )
    }
}

fn run(refusals: u32, success: Option<bool>, score: f64) -> Result<CaseRun> {
    Ok(CaseRun {
        refusals,
        verdict: Verdict {
            success,
            score,
            ..Verdict::binary(true)
        },
        usage: Usage::default(),
    })
}

fn done(refusals: u32, score: f64) -> Result<CaseRun> {
    run(refusals, Some(true), score)
}

fn broken() -> Result<CaseRun> {
    Err(Error::new(ErrorKind::Unavailable, "test", "it is down"))
}

/// What has to be reached from then on: at most so many refusals and at least that score. Else why it says nothing for it.
fn says(
    aided: &Result<CaseRun>,
    unaided: Option<&Result<CaseRun>>,
) -> std::result::Result<(u32, f64), &'static str> {
    match compare(case(), aided, unaided) {
        Says::Passes(case) => Ok((case.refusals, case.least_score)),
        Says::Fails(..) => Err("fails"),
        Says::Nothing(_) => Err("nothing"),
    }
}

#[test]
fn what_was_done_without_a_skill_is_passed_within_its_own_refusals() {
    assert_eq!(says(&done(2, 0.5), None), Ok((2, 0.0)));
    assert_eq!(says(&done(3, 0.5), None), Err("fails"));
    assert_eq!(says(&run(0, Some(false), 0.0), None), Err("fails"));
    assert_eq!(says(&run(0, None, 0.0), None), Err("nothing"));
    assert_eq!(says(&broken(), None), Err("nothing"));
}

#[test]
fn what_was_done_with_a_skill_has_to_go_better_than_without() {
    let with = |unaided: Result<CaseRun>| says(&done(1, 0.5), Some(&unaided));
    // Fewer refusals, and never more than the attempt itself had.
    assert_eq!(with(done(2, 0.9)), Ok((1, 0.0)));
    assert_eq!(with(done(5, 0.9)), Ok((2, 0.0)));
    assert_eq!(with(done(0, 0.1)), Err("nothing"));
    // As many, and a better score: one above what there is without it.
    assert_eq!(with(done(1, 0.5)), Err("nothing"));
    assert_eq!(with(done(1, 0.6)), Err("nothing"));
    let (refusals, least) = with(done(1, 0.4)).unwrap();
    assert_eq!(refusals, 1);
    assert!(least > 0.4 && least < 0.401, "{least}");
    // It gets there with the skill alone; where the judge cannot tell of that, what is counted decides.
    assert_eq!(with(run(0, Some(false), 0.0)), Ok((2, 0.0)));
    assert_eq!(with(run(1, None, 0.5)), Err("nothing"));
    assert_eq!(with(run(2, None, 0.5)), Ok((1, 0.0)));
    assert_eq!(with(broken()), Err("nothing"));
    // It is to blame where it goes well without it.
    let fails = |unaided| says(&done(3, 0.5), Some(&unaided));
    assert_eq!(fails(done(2, 0.1)), Err("fails"));
    assert_eq!(fails(done(9, 0.1)), Err("nothing"));
    // It does worse than none, though none is not enough.
    assert_eq!(
        says(&run(0, Some(false), 0.0), Some(&done(9, 0.1))),
        Err("fails")
    );
    assert_eq!(says(&done(9, 0.5), Some(&done(4, 0.1))), Err("fails"));
    // Nobody could tell what came of it.
    assert_eq!(
        says(&run(0, None, 0.5), Some(&done(9, 0.1))),
        Err("nothing")
    );
    assert_eq!(fails(run(0, Some(false), 0.0)), Err("nothing"));
}
