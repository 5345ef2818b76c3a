use std::sync::Arc;

use journeyman::{
    ErrorKind,
    policy::{Policies, Policy},
    recipe,
    stations::credit::PerStep,
};

use crate::{
    arm::{Arm, Sweep},
    plan::{Conditions, Plan},
};

fn plan() -> Plan {
    let arms = vec![
        Arm::without_skills("no skills"),
        Arm::new("learning", recipe::standard()),
    ];
    Plan::new("small", Conditions::new("a model", "a world"), arms)
}

#[test]
fn checkpoints_are_evenly_spaced_and_end_with_the_stream() {
    let mut plan = plan();
    assert_eq!(plan.positions(), [0, 12, 24, 36, 48]);
    (plan.stream, plan.checkpoints) = (10, 3);
    assert_eq!(plan.positions(), [0, 3, 6, 10]);
}

#[test]
fn each_rule_of_a_plan_is_checked() {
    assert_eq!(plan().validate(), Ok(()));
    let check = |change: &dyn Fn(&mut Plan), said: &str| {
        let mut plan = plan();
        change(&mut plan);
        let error = plan.validate().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(said), "{error}");
    };
    check(&|plan| plan.seeds.clear(), "no seeds");
    check(&|plan| plan.seeds = vec![1, 1], "a seed occurs twice");
    check(&|plan| plan.held_out = 0, "no tasks");
    check(&|plan| plan.checkpoints = 49, "checkpoints");
    check(&|plan| plan.checkpoints = 0, "checkpoints");
    check(&|plan| plan.baseline = 2, "an arm that the plan does not");
    check(&|plan| plan.arms.clear(), "no arms");
    let sweep = Sweep {
        arm: "learning".to_owned(),
        path: "attempts.group".to_owned(),
        values: vec![(2.into(), 2)],
    };
    check(
        &|plan| plan.sweeps.push(sweep.clone()),
        "an arm that the plan does not",
    );
    check(
        &|plan| plan.arms[1].name = "No_skills".replace('_', "/"),
        "two arms",
    );
    check(
        &|plan| plan.arms[1].recipe.attempts.temperature = -1.0,
        "must be finite",
    );
    // What only the policies know, the host's own among them.
    let keeps_few = |plan: &mut Plan| {
        plan.arms[1].recipe = recipe::skillrl();
        plan.arms[1].recipe.tiers.traces = 1;
    };
    check(&keeps_few, "more attempts than the recipe keeps");
    let mut unregistered = plan();
    unregistered.arms[1].recipe.credit.by = Policy::new("mine");
    let error = unregistered.validate().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert_eq!(error.fact("arm"), Some("learning"));
    unregistered.policies = Policies::new().with_credit("mine", |_| Ok(Arc::new(PerStep)));
    assert_eq!(unregistered.validate(), Ok(()));
}
