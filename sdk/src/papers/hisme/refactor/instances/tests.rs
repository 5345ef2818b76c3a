//! Outcomes of a skill on an instance.

use super::*;
use crate::{
    domain::{Exposure, Usage, Verdict},
    error::Error,
    testing::sample,
};

/// A case that allows two refusals.
fn case() -> BundleCase {
    let task = sample::task("one", &["one"]);
    BundleCase {
        refusals: 2,
        ..whole_attempt(
            &SkillLibrary::new(),
            &sample::trace("one", &task, &["one"], true),
            CaseKind::Integration,
        )
    }
}

fn run(refusals: u32, success: Option<bool>, score: f64) -> Result<CaseRun> {
    Ok(CaseRun {
        refusals,
        verdict: match success {
            Some(success) => Verdict::scored(success, score)?,
            None => Verdict::undecided().with_score(score)?,
        },
        usage: Usage::default(),
        model: None,
    })
}

fn done(refusals: u32, score: f64) -> Result<CaseRun> {
    run(refusals, Some(true), score)
}

fn broken() -> Result<CaseRun> {
    Err(Error::unavailable("test", "it is down"))
}

/// The refusals and the score that a confirming instance has to keep to from then on; else the kind of outcome.
fn outcome_of(
    aided: &Result<CaseRun>,
    unaided: Option<&Result<CaseRun>>,
) -> std::result::Result<(u32, f64), &'static str> {
    match compare(case(), aided, unaided) {
        InstanceOutcome::Passes(case) => Ok((case.refusals, case.least_score)),
        InstanceOutcome::Fails(..) => Err("fails"),
        InstanceOutcome::Undecided(_) => Err("undecided"),
    }
}

#[test]
fn an_instance_without_a_skill_confirms_within_its_own_refusals() {
    assert_eq!(outcome_of(&done(2, 0.5), None), Ok((2, 0.0)));
    assert_eq!(outcome_of(&done(3, 0.5), None), Err("fails"));
    assert_eq!(outcome_of(&run(0, Some(false), 0.0), None), Err("fails"));
    assert_eq!(outcome_of(&run(0, None, 0.0), None), Err("undecided"));
    assert_eq!(outcome_of(&broken(), None), Err("undecided"));
}

#[test]
fn an_instance_with_a_skill_confirms_a_skill_that_does_better_than_none() {
    let with = |unaided: Result<CaseRun>| outcome_of(&done(1, 0.5), Some(&unaided));
    // Fewer refusals, and never more than the attempt itself had.
    assert_eq!(with(done(2, 0.9)), Ok((1, 0.0)));
    assert_eq!(with(done(5, 0.9)), Ok((2, 0.0)));
    assert_eq!(with(done(0, 0.1)), Err("undecided"));
    // Equal refusals and a greater score: the least score is just above the one without a skill.
    assert_eq!(with(done(1, 0.5)), Err("undecided"));
    assert_eq!(with(done(1, 0.6)), Err("undecided"));
    let (refusals, least) = with(done(1, 0.4)).unwrap();
    assert_eq!(refusals, 1);
    assert!(least > 0.4 && least < 0.401, "{least}");
    // The attempt succeeds only with the skill; without a verdict on the run without skills, refusals and scores decide.
    assert_eq!(with(run(0, Some(false), 0.0)), Ok((2, 0.0)));
    assert_eq!(with(run(1, None, 0.5)), Err("undecided"));
    assert_eq!(with(run(2, None, 0.5)), Ok((1, 0.0)));
    assert_eq!(with(broken()), Err("undecided"));
    // The skill is to blame if the attempt succeeds without it.
    let fails = |unaided| outcome_of(&done(3, 0.5), Some(&unaided));
    assert_eq!(fails(done(2, 0.1)), Err("fails"));
    assert_eq!(fails(done(9, 0.1)), Err("undecided"));
    // Both fail, and the skill does worse than none.
    assert_eq!(
        outcome_of(&run(0, Some(false), 0.0), Some(&done(9, 0.1))),
        Err("fails")
    );
    assert_eq!(outcome_of(&done(9, 0.5), Some(&done(4, 0.1))), Err("fails"));
    // The run with the skill has no verdict.
    assert_eq!(
        outcome_of(&run(0, None, 0.5), Some(&done(9, 0.1))),
        Err("undecided")
    );
    assert_eq!(fails(run(0, Some(false), 0.0)), Err("undecided"));
}

#[test]
fn an_instance_is_paired_unless_it_is_known_to_have_followed_nothing() {
    let paired = |uses: &[SkillUse], counterfactual| {
        let task = sample::task("one", &["one"]);
        let mut trace = sample::trace("one", &task, &["one"], true);
        trace.trajectory.exposures = (uses.iter().zip(["a", "b"]))
            .map(|(used, skill)| Exposure {
                skill: sample::skill(skill).reference(),
                used: *used,
                since: 0,
            })
            .collect();
        Instance::of(&SkillLibrary::new(), &trace, counterfactual).paired
    };
    use SkillUse::{Followed, NotFollowed, Unknown};
    assert!(paired(&[Followed], true) && paired(&[NotFollowed, Unknown], true));
    assert!(!paired(&[], true) && !paired(&[NotFollowed, NotFollowed], true));
    assert!(!paired(&[Followed], false));
}
