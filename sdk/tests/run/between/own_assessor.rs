//! A short assessor of a host's own: its assessments reach the library, its process scores the reports and the reward.

use journeyman::{
    domain::{AssessedSubgoal, Assessment, Subgoal, Trace},
    papers::scribe::ProcessReward,
    policy::{Ask, AssessProgram, Assessed, Policies, View},
};

use super::*;

/// An attempt is one subgoal, and worth the less the more steps it took.
#[derive(Debug)]
struct Brevity;

#[async_trait]
impl AssessProgram for Brevity {
    async fn assess(&self, _: &mut Ask, _: &View, attempt: &Trace) -> Result<Option<Assessed>> {
        let steps = attempt.trajectory.steps.len();
        let whole = (steps > 0).then(|| {
            Subgoal::new(
                attempt.task.instruction.clone(),
                String::new(),
                0,
                steps - 1,
            )
        });
        let assessment = whole.map(|subgoal| {
            let task = &attempt.task;
            let mut assessment =
                Assessment::new(attempt.trajectory.attempt.clone(), task.id.clone())
                    .with_success(attempt.verdict.as_ref().and_then(Verdict::success))
                    .with_subgoals(vec![AssessedSubgoal::new(subgoal)]);
            assessment.category = task.category.clone();
            assessment
        });
        Ok(assessment.map(|whole| Assessed::new(whole, Some(1.0 / steps as f64))))
    }
}

#[test]
fn its_process_score_is_in_the_report_and_in_the_reward() {
    let policies = Policies::new().with_assessor("brevity", |_| Ok(Arc::new(Brevity)));
    let mut recipe = super::recipe();
    recipe.assess = Some(Policy::new("brevity"));
    recipe.reward.by = ProcessReward::default().into();
    let options = Options::new("own", Seed(7)).with_policies(policies);
    let opened = block_on(Journeyman::open(components(), recipe, options)).expect("it opens");
    let made = block_on(opened.learn(tasks(6))).expect("it learns");
    let kept = block_on(opened.library()).expect("a library");
    for one in made.attempts() {
        let process = (one.steps > 0).then(|| 1.0 / f64::from(one.steps));
        let reward = |done| ProcessReward::default().of(process, done);
        let reward = one.success.map(reward);
        assert_eq!((one.process, one.reward), (process, reward));
    }
    assert!(kept.subgoals().count() > 0);
}
