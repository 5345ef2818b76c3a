//! The bank, to be read beside SkillRL's algorithm 1.

use std::collections::BTreeSet;

use async_trait::async_trait;

use super::{events::tell, within_budget::may_begin};
use crate::{
    domain::{LibraryChange, Role, Trace},
    error::Result,
    id::AttemptId,
    policy::{Ask, MaintenanceProgram, View, ask_roles},
    stations::maintain::{
        BankPolicy, MaintenanceContext, MaintenanceOptions, ValidationRound,
        bank::{admission, distillation},
    },
};

/// The bank (SkillRL algorithm 1, lines 2 to 14 and 26 to 30): the first one is distilled from kept attempts of both kinds; then
/// the failures of the weak categories of each validation round give new skills, and refinements of those that are there.
#[derive(Debug)]
pub(super) struct Bank(pub(super) MaintenanceOptions);

#[async_trait]
impl MaintenanceProgram for Bank {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let context = self.0.maintenance_context(view.context());
        let Some(policy) = &self.0.policy.bank else {
            return Ok(Vec::new());
        };
        if !may_begin(ask, &context.left, "bank") {
            return Ok(Vec::new());
        }
        let library = view.library();
        let is_first = policy.first && admission::is_empty(library);
        let attempts = match is_first {
            true => admission::undistilled(library, library.traces()),
            false => {
                let round = ValidationRound::of_latest(library, policy);
                admission::undistilled(library, round.drawn(policy))
            }
        };
        let mut decided = Vec::new();
        let missed = distil(
            ask,
            &context,
            (policy, view.step()),
            (&attempts, is_first),
            &mut decided,
        )
        .await;
        let mut events = Vec::new();
        decided.extend(admission::marked(
            &context,
            &attempts,
            |attempt| missed.contains(attempt),
            &mut events,
        ));
        tell(ask, events);
        Ok(decided)
    }

    fn roles(&self) -> Vec<Role> {
        let first = self.0.policy.bank.filter(|bank| bank.first);
        // Without `distil-bank` patterns and lessons are skills by themselves.
        let extract = first.map(|_| Role::Extract);
        extract.into_iter().chain([Role::Lesson]).collect()
    }

    fn records(&self) -> bool {
        true
    }

    fn reason(&self) -> &'static str {
        "attempts were distilled into the bank"
    }
}

/// Distils attempts into skills that enter the bank: successes into patterns if `patterns` is set, failures into lessons, and
/// these into skills. Returns the attempts that have to be distilled again after a temporary error.
pub(crate) async fn distil(
    ask: &mut Ask,
    context: &MaintenanceContext<'_>,
    (policy, step): (&BankPolicy, u64),
    (attempts, patterns): (&[Trace], bool),
    decided: &mut Vec<LibraryChange>,
) -> BTreeSet<AttemptId> {
    let replies = ask_roles(
        ask,
        distillation::teaching_tasks(context, policy, attempts, patterns),
    )
    .await;
    let (taught, mut missed) = distillation::taught(&replies);

    let distilled = distillation::distil_bank(ask, context, policy, &taught).await;
    missed.extend(distilled.missed);

    let mut events = Vec::new();
    decided.extend(admission::entering(
        context,
        policy,
        step,
        &distilled.skills,
        &mut events,
    ));
    tell(ask, events);
    missed
}
