//! Attempts that were made before are assessed without a run (SCRIBE, appendices A.1 and B).

use std::sync::Mutex;

use journeyman::{
    contract::SegmentPrompt,
    domain::SubgoalScore,
    papers::scribe::{AssessBy, AssessPolicy, AssessedPair, VariantAgreement},
};

use super::{
    assessing::{Judge, scribe, scribe_parts},
    *,
};

/// The answers of a role that cuts attempts in another way when it is asked in another wording.
fn variant_parts() -> Components {
    let model = ScriptedModel::by(|request, _| {
        let text = request.prompt.text();
        let role = text.lines().next().unwrap_or_default();
        Play::Give(
            match role {
                "role: segment" if text.contains("prompt: Coverage") => {
                    "all of it | speaking | 0 9"
                }
                "role: segment" => {
                    "say the first word | speaking | 0 0\nsay the rest | finishing | 1 9"
                }
                _ => "2 almost",
            }
            .to_owned(),
        )
    });
    let mut components = components();
    components.model = Some(Arc::new(model));
    components.roles = Some(Arc::new(ScriptedRoles::only([Role::Segment, Role::Score])));
    components
}

#[test]
fn attempts_are_assessed_again_without_a_change_of_the_library() {
    block_on(async {
        let journeyman =
            Journeyman::open(variant_parts(), scribe(), Options::new("test", Seed(7))).await;
        let journeyman = journeyman.expect("it opens");
        let attempt = |id: &str, words: &[&str]| {
            sample::trace(id, &sample::task("t", &["one", "two"]), words, true)
        };
        let attempts = [
            attempt("a", &["one", "two"]),
            attempt("b", &[]),
            attempt("c", &["one", "two"]),
        ];
        let mut open = AssessPolicy::default();
        open.open = true;
        let first = journeyman
            .assess(&attempts, &open)
            .await
            .expect("it assesses");
        let ids: Vec<_> = first
            .assessments
            .iter()
            .map(|one| one.as_ref().map(|one| one.attempt.as_str()))
            .collect();
        assert_eq!(ids, [Some("a"), None, Some("c")], "one has no step");
        assert!(
            first.refused.is_empty() && first.usage.total() > 0,
            "{first:?}"
        );
        let two = SubgoalScore::new(2).unwrap();
        let spans = |one: &journeyman::domain::Assessment| -> Vec<_> {
            one.subgoals
                .iter()
                .map(|one| (one.subgoal.first, one.subgoal.last, one.score))
                .collect()
        };
        assert_eq!(
            spans(first.assessments[0].as_ref().unwrap()),
            [(0, 0, Some(two)), (1, 1, Some(two))]
        );

        // The same wording agrees with itself.
        let again = journeyman
            .assess(&attempts, &open)
            .await
            .expect("it assesses");
        assert_eq!(first, again);
        let pair = AssessedPair::new(
            first.assessments[0].as_ref().unwrap(),
            again.assessments[2].as_ref().unwrap(),
        );
        assert!(
            VariantAgreement::of(&[pair]).is_err(),
            "they are of two attempts"
        );
        let agreement =
            VariantAgreement::of(&[pair.with_annotated(again.assessments[0].as_ref().unwrap())]);
        assert_eq!(agreement.unwrap().spans.rate(), Some(1.0));

        // Another wording cuts otherwise: of three spans none is in both.
        let mut coverage = open.clone();
        coverage.by = AssessBy::Subgoals(SegmentPrompt::Coverage);
        let other = journeyman
            .assess(&attempts[..1], &coverage)
            .await
            .expect("it assesses");
        let agreement =
            VariantAgreement::of(&[pair.with_annotated(other.assessments[0].as_ref().unwrap())]);
        let spans = agreement.unwrap().spans;
        assert_eq!((spans.hits, spans.of), (0, 3));

        let library = journeyman.library().await.expect("a library");
        assert_eq!(
            (library.subgoals().count(), library.revision()),
            (0, Revision(0))
        );

        let mut refused = open.clone();
        refused.least_confidence = 2.0;
        assert!(journeyman.assess(&attempts, &refused).await.is_err());
        let mut without = variant_parts();
        without.roles = None;
        let without = Journeyman::open(without, scribe(), Options::new("test", Seed(7))).await;
        let error = without
            .expect("it opens")
            .assess(&attempts, &open)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    });
}

#[test]
fn an_assessment_outside_a_run_says_what_it_could_not_do_and_sees_no_secrets() {
    let seen = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&seen);
    let model = ScriptedModel::by(move |request, _| {
        let text = request.prompt.text();
        told.lock().unwrap().push_str(&text);
        Play::Give(match text.starts_with("role: segment") {
            true => Judge::default().segment.to_owned(),
            false => "7 too good".to_owned(),
        })
    });
    let mut components = scribe_parts(Judge::default());
    components.model = Some(Arc::new(model));
    let mut attempt = sample::trace(
        "a",
        &sample::task("t", &["one", "two"]),
        &["one", "two"],
        true,
    );
    attempt.task.instruction += " password=hunter2hunter2";
    let mut open = AssessPolicy::default();
    open.open = true;
    let report = block_on(async {
        let journeyman =
            Journeyman::open(components, scribe(), Options::new("test", Seed(7))).await;
        journeyman
            .expect("it opens")
            .assess(&[attempt], &open)
            .await
            .expect("it assesses")
    });
    let assessment = report.assessments[0].as_ref().expect("it was cut");
    assert!(assessment.subgoals.iter().all(|one| one.score.is_none()));
    assert_eq!(
        report.refused.len(),
        assessment.subgoals.len(),
        "{report:?}"
    );
    assert!(
        report
            .refused
            .iter()
            .all(|line| line.starts_with("score: ")),
        "{report:?}"
    );
    assert!(report.usage.total() > 0);
    let seen = seen.lock().unwrap();
    assert!(
        seen.contains("role: segment") && !seen.contains("hunter2"),
        "{seen}"
    );
}
