//! Credit for skills, and cases cut from attempts.

use super::*;

#[test]
fn credit_rests_on_what_the_attempt_shows() {
    let scene = scenes(Scene::failing, 200)
        .find(|scene| {
            let refused =
                |exchange: &&Exchange| matches!(exchange.reply.outcome, Outcome::Refused(_));
            scene.exchanges.iter().filter(refused).count() == 1
                && scene.is_done()
                && scene.used == Some(0)
        })
        .unwrap();
    let attempt = trace_of(&scene);
    let at = attempt
        .trajectory
        .steps
        .iter()
        .position(|step| step.result.is_error)
        .unwrap();
    let text = &attempt.trajectory.steps[at].result.text;
    let credit = |attempt: &Trace, word: &str| match read(&attribute(attempt, 0), word).unwrap() {
        RoleAnswer::Credit {
            judgement,
            scope,
            reason,
        } => (judgement, scope, reason),
        other => panic!("{other:?}"),
    };
    let reason = format!(
        "followed; 1 of {} calls refused, first step {}: {text}; the task was done",
        scene.exchanges.len(),
        at + 1
    );
    let scope = format!("step {}", at + 1);
    assert_eq!(
        credit(&attempt, " harmful\n"),
        (Judgement::Harmful, scope, reason.clone())
    );
    assert_eq!(
        credit(&attempt, "uncertain"),
        (Judgement::Uncertain, String::new(), reason)
    );
    let (_, mut attempt) = done();
    attempt.verdict = None;
    attempt.trajectory.exposures.clear();
    let reason = "not followed; no call was refused; nobody could tell whether the task was done";
    assert_eq!(
        credit(&attempt, "neutral"),
        (Judgement::Neutral, String::new(), reason.into())
    );
    assert_eq!(credit(&attempt, "helpful").0, Judgement::Helpful);
    for garbage in ["", "none", "helpful harmful", "Helpful"] {
        check_unusable(&attribute(&attempt, 0), garbage, "none of helpful");
    }
}

#[test]
fn segments_become_the_fragment_that_finishes_and_the_whole_task() {
    let (_, attempt) = done();
    let cases = |text: &str| match read(&bundle(&attempt), text).unwrap() {
        RoleAnswer::Cases(cases) => cases,
        other => panic!("{other:?}"),
    };
    let froms = |cases: &[CaseDraft]| -> Vec<(CaseKind, usize)> {
        cases.iter().map(|case| (case.kind, case.from)).collect()
    };
    let cut = cases(" prepare 1 1; finish 2 2");
    assert_eq!(
        froms(&cut),
        [(CaseKind::Unit, 1), (CaseKind::Integration, 0)]
    );
    assert!(cut.iter().all(|case| !case.about.is_empty()));
    let whole = cases("finish 1 2");
    assert_eq!(
        froms(&whole),
        [(CaseKind::Unit, 0), (CaseKind::Integration, 0)]
    );
    assert_eq!(
        froms(&cases("probe 1 1; collect 2 2")),
        [(CaseKind::Integration, 0)]
    );
    for garbage in [
        "",
        "none",
        "finish 1 1",
        "prepare 1 1; finish 2 3",
        "prepare 1 1; finish 3 3",
        "prepare 1 1;finish 2 2",
        "prepare 1 1; cook 2 2",
        "prepare 2 1; finish 2 2",
        "prepare 1 1 1; finish 2 2",
        "prepare 1 18446744073709551615; finish 2 2",
    ] {
        check_unusable(&bundle(&attempt), garbage, "does not cut");
    }
}
