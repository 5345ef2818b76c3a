//! Micro maintenance, to be read beside HiSME's algorithms 1 and 4.

use std::num::NonZeroU32;

use async_trait::async_trait;

use crate::{
    contract::RoleTask,
    domain::{LibraryChange, Role},
    error::Result,
    papers::hisme::{MicroPolicy, bundles, filter, refinement},
    policy::{Ask, MaintenanceProgram, Release, View},
    stations::maintain::{
        MaintenanceContext,
        events::{tell, tell_undecided},
        live,
        within_budget::{affordable, ask_within, play_all, play_within},
    },
};

/// Test cases are made and played, skills on trial that pass are released, skills that failed are refined, tested again and released
/// when they pass, as are a curator's drafts, and harmful skills are disabled.
#[async_trait]
impl MaintenanceProgram for MicroPolicy {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let context = MaintenanceContext {
            context: view.context(),
            policy: self,
        };
        let (mut decided, mut left) = (Vec::new(), view.budget_left());

        let cut = ask_within(ask, &mut left, bundles::bundle_tasks(&context)).await;
        let patches = bundles::patches(&context, &cut);

        let cases = bundles::test_cases(&context, &patches);
        let runs = play_within(ask, &mut left, cases).await;
        tell_undecided(ask, &runs);
        let mut events = Vec::new();
        decided.extend(bundles::tested(&context, &patches, &runs, &mut events));
        tell(ask, events);

        let tasks = refinement::refine_tasks(&context);
        let cost = |task: &RoleTask| refinement::most_retests(&context, &patches, task);
        let tasks = affordable(ask, &left, tasks, cost);
        let written = ask_within(ask, &mut left, tasks).await;
        let mut events = Vec::new();
        let (mut versions, handled) =
            refinement::next_versions(&context, view.step(), &written, &mut events);
        decided.extend(handled);
        let (drafts, handled) = refinement::drafts(&context, &versions, &decided, &mut events);
        versions.extend(drafts);
        decided.extend(handled);
        tell(ask, events);

        let cases = refinement::retest_cases(&context, &patches, &versions);
        let runs = play_all(ask, &mut left, cases).await;
        tell_undecided(ask, &runs);
        let mut events = Vec::new();
        let changes = refinement::released(&context, versions, &runs, &decided, &mut events);
        decided.extend(changes);
        tell(ask, events);

        let filtered = filter::filtered(&context, &decided);
        decided.extend(filtered);
        if self.refine.is_some() {
            let undone = live::rolled_back(&context, &decided);
            decided.extend(undone);
        }
        Ok(decided)
    }

    fn roles(&self) -> Vec<Role> {
        let bundle = self.bundles.map(|_| Role::Bundle);
        let refine = self.refine.map(|_| Role::Refine);
        bundle.into_iter().chain(refine).collect()
    }

    fn records(&self) -> bool {
        true
    }

    fn release(&self) -> Option<Release> {
        let bundles = self.bundles.as_ref();
        let by_cases = bundles.map(|bundles| Release::by_cases(bundles.tasks));
        Some(by_cases.unwrap_or_else(Release::by_live_attempts))
    }

    /// Bundles are cut from attempts that are kept.
    fn kept_attempts(&self, _: NonZeroU32) -> u64 {
        self.bundles.map_or(0, |_| 1)
    }

    fn reason(&self) -> &'static str {
        "skills were tested, mended and filtered"
    }
}
