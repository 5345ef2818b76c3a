//! The bank, to be read beside SkillRL's algorithm 1.

use std::{
    collections::BTreeSet,
    num::{NonZeroU32, NonZeroU64},
};

use async_trait::async_trait;

use crate::{
    domain::{LibraryChange, Role, Trace},
    error::Result,
    id::AttemptId,
    papers::skillrl::{BankPolicy, ValidationRound, admission, distillation},
    policy::{Ask, MaintenanceProgram, View, ask_roles},
    stations::maintain::{MaintenanceContext, events::tell, within_budget::may_begin},
};

/// Algorithm 1, lines 2 to 14 and 26 to 30: the first bank is distilled from kept attempts of both kinds; then the failures of the weak
/// categories of each validation round give new skills, and refinements of those that are there.
#[async_trait]
impl MaintenanceProgram for BankPolicy {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let context = MaintenanceContext {
            context: view.context(),
            policy: self,
        };
        if !may_begin(ask, &context.left, "bank") {
            return Ok(Vec::new());
        }
        let library = view.library();
        let is_first = self.first && admission::is_empty(library);
        let attempts = match is_first {
            true => admission::undistilled(library, library.traces()),
            false => {
                let round = ValidationRound::of_latest(library, self);
                admission::undistilled(library, round.drawn(self))
            }
        };
        let mut decided = Vec::new();
        let missed = distil(
            ask,
            &context,
            view.step(),
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
        // Without `distil-bank` patterns and lessons are skills by themselves.
        let extract = self.first.then_some(Role::Extract);
        extract.into_iter().chain([Role::Lesson]).collect()
    }

    fn records(&self) -> bool {
        true
    }

    fn writes(&self) -> bool {
        true
    }

    /// The bank is distilled from attempts that are kept: those of a whole round.
    fn kept_attempts(&self, group: NonZeroU32) -> u64 {
        u64::from(group.get()).saturating_mul(self.round.get())
    }

    /// After each validation round.
    fn every(&self) -> NonZeroU64 {
        self.round
    }

    fn reason(&self) -> &'static str {
        "attempts were distilled into the bank"
    }
}

/// Distils attempts into skills that enter the bank: successes into patterns if `patterns` is set, failures into lessons, and
/// these into skills. Returns the attempts that have to be distilled again after a temporary error.
pub(crate) async fn distil(
    ask: &mut Ask,
    context: &MaintenanceContext<'_, BankPolicy>,
    step: u64,
    (attempts, patterns): (&[Trace], bool),
    decided: &mut Vec<LibraryChange>,
) -> BTreeSet<AttemptId> {
    let replies = ask_roles(
        ask,
        distillation::teaching_tasks(context, attempts, patterns),
    )
    .await;
    let (taught, mut missed) = distillation::taught(&replies);

    let distilled = distillation::distil_bank(ask, context, &taught).await;
    missed.extend(distilled.missed);

    let mut events = Vec::new();
    decided.extend(admission::entering(
        context,
        step,
        &distilled.skills,
        &mut events,
    ));
    tell(ask, events);
    missed
}
