//! Skills with which tasks take more steps, and are done all the same.

use journeyman::{domain::Withhold, stations::proof::LiftPolicy};

use super::*;

/// A session of a host's own loop that takes the best skill always, and writes none.
async fn session(withhold: Option<Withhold>) -> Journeyman {
    let mut recipe = recipe();
    recipe.select.selector = top(1);
    recipe.select.withhold = withhold;
    recipe.write.when = WriteWhen::Never;
    open_as("test", &own_loop(), recipe).await
}

async fn add(journeyman: &Journeyman) {
    let skill = sample::skill("say-one");
    journeyman.add(vec![skill], "a start").await.expect("added");
}

/// Does so many tasks in so many steps each: with a skill, and without one.
async fn does(journeyman: &Journeyman, name: &str, count: usize, [with, without]: [u32; 2]) {
    for number in 0..count {
        let task = Task::new(
            format!("{name}-{number}"),
            "Say one word to the customer who refunds a ticket.",
        );
        let mut attempt = journeyman.begin(task).await.expect("begun");
        let steps = match attempt.skill() {
            Some(_) => with,
            None => without,
        };
        for _ in 0..steps {
            let looked = StepResult::new("nothing yet", desk());
            attempt.record(Step::new(Action::call("look", json!({})), looked));
        }
        let finished = attempt.finish(Outcome::success()).await;
        finished.expect("finished");
    }
}

/// What is found about longer tasks.
fn longer(journeyman: &Journeyman) -> Vec<Finding> {
    let kinds = [FindingKind::TakesLonger, FindingKind::SeemsToTakeLonger];
    let findings = journeyman.findings().into_iter();
    findings
        .filter(|finding| kinds.contains(&finding.kind))
        .collect()
}

#[test]
fn where_chance_leaves_a_skill_out_it_is_known_that_tasks_take_longer_with_it() {
    block_on(async {
        for (steps, found) in [([5, 3], 1), ([3, 3], 0), ([3, 5], 0)] {
            let journeyman = session(Some(Withhold::new(0.5))).await;
            add(&journeyman).await;
            does(&journeyman, "task", 80, steps).await;
            let findings = longer(&journeyman);
            assert_eq!(findings.len(), found, "{steps:?}: {findings:?}");
            for finding in findings {
                assert_eq!(finding.kind, FindingKind::TakesLonger);
                assert_eq!(finding.about.as_deref(), Some("say-one"));
                assert!(finding.reason.starts_with("+2.0 steps"), "{finding}");
            }
            // What is done says nothing of it.
            let lifts = journeyman.lift(LiftPolicy::default()).expect("a ledger");
            assert_eq!(lifts.lifts[0].success.estimate(), Some(0.0));
        }
    });
}

#[test]
fn without_such_a_share_a_session_tells_of_what_it_saw_in_learning() {
    block_on(async {
        for (steps, found) in [([5, 3], 1), ([3, 3], 0)] {
            let journeyman = session(None).await;
            does(&journeyman, "before", 16, steps).await;
            add(&journeyman).await;
            does(&journeyman, "few", 4, steps).await;
            assert_eq!(longer(&journeyman), Vec::new());
            does(&journeyman, "more", 26, steps).await;
            let findings = longer(&journeyman);
            assert_eq!(findings.len(), found, "{steps:?}: {findings:?}");
            for finding in findings {
                assert_eq!(finding.kind, FindingKind::SeemsToTakeLonger);
                assert!(finding.kind.is_warning());
                assert_eq!(finding.about.as_deref(), Some("say-one"));
                let told = finding.to_string();
                for part in [
                    "the skill say-one",
                    "30 tasks",
                    "5.0 steps",
                    "16 without any skill 3.0",
                ] {
                    assert!(told.contains(part), "{part:?} in {told}");
                }
            }
        }
    });
}
