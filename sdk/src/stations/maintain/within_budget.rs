//! Questions of maintenance, within its budget ([`MaintenanceBudget`]).

use crate::{
    contract::RoleTask,
    domain::{MaintenanceBudget, SkillRef},
    policy::{Ask, Case, PlayedCase, RoleReply, questions::ask_roles_counted},
    run::report::EventKind,
};

/// Gives roles their tasks: all at once without a budget in tokens, else one after the other until it is used up. What is left
/// out is told.
pub(crate) async fn ask_within(
    ask: &mut Ask,
    left: &mut MaintenanceBudget,
    tasks: Vec<RoleTask>,
) -> Vec<RoleReply> {
    let due = tasks.len();
    let at_once = if left.tokens.is_none() { due } else { 1 };
    let mut replies = Vec::with_capacity(due);
    let mut tasks = tasks.into_iter();
    while replies.len() < due && !left.is_spent() {
        let (asked, used) = ask_roles_counted(ask, tasks.by_ref().take(at_once).collect()).await;
        left.pay(used, 0);
        replies.extend(asked);
    }
    tell_left_out(ask, due - replies.len(), "calls of roles");
    replies
}

/// Plays bundles of test cases, each as a whole: all at once without a budget in tokens, else one after the other. The cases of a
/// bundle follow each other. What is left out is told.
pub(crate) async fn play_within(
    ask: &mut Ask,
    left: &mut MaintenanceBudget,
    cases: Vec<Case>,
) -> Vec<PlayedCase> {
    let (due, one_by_one) = (cases.len(), left.tokens.is_some());
    let (mut runs, mut batch) = (Vec::with_capacity(due), Vec::new());
    let mut room = *left;
    for bundle in bundles(cases) {
        let count = bundle.len() as u64;
        if !room.allows(count) || left.is_spent() {
            continue;
        }
        room.pay(Default::default(), count);
        batch.extend(bundle);
        if one_by_one {
            runs.extend(play_all(ask, left, std::mem::take(&mut batch)).await);
            room = *left;
        }
    }
    runs.extend(play_all(ask, left, batch).await);
    tell_left_out(ask, due - runs.len(), "test cases");
    runs
}

/// Plays cases that the budget was found to allow, all at once.
pub(crate) async fn play_all(
    ask: &mut Ask,
    left: &mut MaintenanceBudget,
    cases: Vec<Case>,
) -> Vec<PlayedCase> {
    let count = cases.len() as u64;
    let (runs, used) = ask.play_counted(cases).await;
    left.pay(used, count);
    runs
}

/// The first of these tasks whose trials the budget allows; what is left out is told. `attempts` is the number of attempts that
/// the trial of a task's result takes at most.
pub(crate) fn affordable(
    ask: &mut Ask,
    left: &MaintenanceBudget,
    tasks: Vec<RoleTask>,
    attempts: impl Fn(&RoleTask) -> u64,
) -> Vec<RoleTask> {
    let (due, mut room) = (tasks.len(), *left);
    let allowed = tasks.into_iter().filter(|task| {
        let count = attempts(task);
        let is_allowed = room.allows(count);
        if is_allowed {
            room.pay(Default::default(), count);
        }
        is_allowed
    });
    let allowed: Vec<RoleTask> = allowed.collect();
    tell_left_out(ask, due - allowed.len(), "calls of roles");
    allowed
}

/// Whether a part that asks roles may begin; that it may not is told.
pub(crate) fn may_begin(ask: &mut Ask, left: &MaintenanceBudget, part: &str) -> bool {
    let spent = left.is_spent();
    if spent {
        tell_left_out(ask, 1, part);
    }
    !spent
}

fn tell_left_out(ask: &mut Ask, count: usize, of: &str) {
    if let Ok(count) = u32::try_from(count)
        && count > 0
    {
        let of = of.to_owned();
        ask.tell(EventKind::OverBudget { count, of });
    }
}

/// The cases by the version that they test; those of a version follow each other.
fn bundles(cases: Vec<Case>) -> Vec<Vec<Case>> {
    let mut bundles: Vec<(Option<SkillRef>, Vec<Case>)> = Vec::new();
    for case in cases {
        let of = case.skill.as_ref().map(|skill| skill.reference());
        match bundles.last_mut() {
            Some((known, bundle)) if *known == of => bundle.push(case),
            _ => bundles.push((of, vec![case])),
        }
    }
    bundles.into_iter().map(|(_, bundle)| bundle).collect()
}
