//! Skills with which tasks take more steps, and are done all the same.

use journeyman::{domain::Withhold, stations::proof::LiftPolicy};

use super::*;

/// A session of a host's own loop that takes its one skill, withholds it from half of the tasks, and writes none.
async fn session() -> Journeyman {
    let mut recipe = recipe();
    recipe.select.selector = top(1);
    recipe.select.withhold = Some(Withhold::new(0.5));
    recipe.write.when = WriteWhen::Never;
    let journeyman = open_as("test", &own_loop(), recipe).await;
    let skill = sample::skill("say-one");
    journeyman.add(vec![skill], "a start").await.expect("added");
    journeyman
}

/// Does so many tasks in so many steps each: with a skill, and without one.
async fn does(journeyman: &Journeyman, count: usize, [with, without]: [u32; 2]) {
    for number in 0..count {
        let task = Task::new(
            format!("task-{number}"),
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
    let findings = journeyman.findings().into_iter();
    findings
        .filter(|finding| finding.kind == FindingKind::TakesLonger)
        .collect()
}

#[test]
fn where_a_skill_is_withheld_at_random_it_is_known_that_tasks_take_longer_with_it() {
    block_on(async {
        for (steps, found) in [([5, 3], 1), ([3, 3], 0), ([3, 5], 0)] {
            let journeyman = session().await;
            does(&journeyman, 80, steps).await;
            let findings = longer(&journeyman);
            assert_eq!(findings.len(), found, "{steps:?}: {findings:?}");
            for finding in findings {
                assert!(finding.kind.is_warning());
                assert_eq!(finding.about.as_deref(), Some("say-one"));
                assert!(finding.reason.starts_with("+2.0 steps"), "{finding}");
            }
            // What is done says nothing of it.
            let lifts = journeyman.lift(LiftPolicy::default()).expect("a ledger");
            assert_eq!(lifts.lifts[0].success.estimate(), Some(0.0));
        }
    });
}
