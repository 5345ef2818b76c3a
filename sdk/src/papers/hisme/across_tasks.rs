//! Macro maintenance, to be read beside HiSME's algorithms 3 and 5.

use async_trait::async_trait;

use crate::{
    contract::RoleTask,
    domain::{LibraryChange, Role},
    error::Result,
    papers::hisme::{MacroPolicy, overlaps::Overlaps, refactor, rules},
    policy::{Ask, MaintenanceProgram, View},
    stations::{
        admit::identity::{Compared, Meanings},
        maintain::{
            MaintenanceContext,
            events::{tell, tell_undecided},
            within_budget::{affordable, ask_within, play_all},
        },
    },
};

/// Macro maintenance (HiSME 3.2, 3.4, algorithms 3 and 5): overlapping attempts are grouped, the skill that a group shares is
/// written and tried on the group's true instances, and roles learn rules from the results of the skills that they wrote.
#[derive(Debug)]
pub(crate) struct AcrossTasks {
    pub(crate) policy: MacroPolicy,
    pub(crate) overlaps: Overlaps,
}

#[async_trait]
impl MaintenanceProgram for AcrossTasks {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let context = MaintenanceContext {
            context: view.context(),
            policy: &self.policy,
        };
        let (mut decided, mut left) = (Vec::new(), view.budget_left());

        let embeddings = ask.embed(refactor::texts(&context)).await;

        let (groups, handled) = refactor::groups(&context, &self.overlaps, embeddings);
        decided.extend(handled);
        let cost = |task: &RoleTask| refactor::most_trials(&context, task);
        let groups = affordable(ask, &left, groups, cost);
        let written = ask_within(ask, &mut left, groups).await;
        let known = view.library().entries().map(|entry| &entry.skill);
        let drafts: Vec<Compared> = Compared::of_replies(&written).collect();
        let unclear = context.standing.admit.identity.unclear(known, &drafts);
        let meanings = Meanings::of(ask, unclear).await;
        let written = (written.as_slice(), &meanings);
        let mut events = Vec::new();
        let (trials, handled) = refactor::proposed(&context, view.step(), written, &mut events);
        decided.extend(handled);
        tell(ask, events);

        let runs = play_all(ask, &mut left, refactor::trial_cases(&trials)).await;
        tell_undecided(ask, &runs);
        let mut events = Vec::new();
        let trials = (trials, &meanings);
        decided.extend(refactor::added(&context, trials, &runs, &mut events));
        tell(ask, events);

        let meanings = Meanings::of(ask, rules::unclear(&context)).await;
        let written = ask_within(ask, &mut left, rules::due(&context, &meanings)).await;
        decided.extend(rules::learned(&context, &written));
        Ok(decided)
    }

    fn roles(&self) -> Vec<Role> {
        let refactor = self.policy.refactor.map(|_| Role::Refactor);
        let evolve = self.policy.evolve.map(|_| Role::Evolve);
        refactor.into_iter().chain(evolve).collect()
    }

    fn records(&self) -> bool {
        true
    }

    fn writes(&self) -> bool {
        self.policy.refactor.is_some()
    }

    fn reason(&self) -> &'static str {
        "attempts were refactored and rules learnt"
    }
}
