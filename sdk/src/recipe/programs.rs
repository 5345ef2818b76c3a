//! The programs of maintenance, to be read beside the papers' listings (HiSME algorithms 1, 3, 4 and 5; SkillRL algorithm 1).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{
    Recipe,
    within_budget::{affordable, ask_within, may_begin, play_all, play_within},
};
use crate::{
    admit::identity::{Compared, Meanings},
    assess::refreshing::refresh,
    contract::RoleTask,
    domain::{LibraryChange, Trace},
    error::Result,
    id::AttemptId,
    maintain::{
        BankPolicy, Overlaps, Upkeep, ValidationRound,
        bank::{distilling, entering},
        bundling, filtering, live,
        outcomes::undecided,
        refactoring, refining,
    },
    measure::gaining,
    meta::evolving,
    policy::{Ask, PlayedCase, View, ask_roles},
    report::EventKind,
};

/// The decisions of a program: changes for one commit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) changes: Vec<LibraryChange>,
    /// Events of the skills that these changes add. They are emitted after the commit, which fixes the skills' names.
    pub(crate) admitted: Vec<EventKind>,
}

impl Decided {
    fn add(&mut self, changes: impl IntoIterator<Item = LibraryChange>) {
        self.changes.extend(changes);
    }

    /// Emits the events, except those of skills that enter: these are kept in `admitted`.
    fn tell(&mut self, ask: &mut Ask, events: Vec<EventKind>) {
        for event in events {
            match event {
                EventKind::Admitted { .. } => self.admitted.push(event),
                event => ask.tell(event),
            }
        }
    }
}

/// Micro maintenance (HiSME 3.3, algorithms 1 and 4): test cases are made and played, skills on trial that pass are released,
/// skills that failed are refined, tested again and released when they pass, as are a curator's drafts, and harmful skills are
/// disabled.
pub(crate) async fn micro(mut ask: Ask, view: View, recipe: Recipe, overlaps: Overlaps) -> Decided {
    let context = recipe.upkeep(view.context(), &overlaps);
    let (mut decided, mut left) = (Decided::default(), view.budget_left());

    let cut = ask_within(&mut ask, &mut left, bundling::bundle_tasks(&context)).await;
    let patches = bundling::patches(&context, &cut);

    let cases = bundling::test_cases(&context, &patches);
    let runs = play_within(&mut ask, &mut left, cases).await;
    tell_undecided(&mut ask, &runs);
    let mut events = Vec::new();
    decided.add(bundling::tested(&context, &patches, &runs, &mut events));
    decided.tell(&mut ask, events);

    let tasks = refining::refine_tasks(&context);
    let cost = |task: &RoleTask| refining::most_retests(&context, &patches, task);
    let tasks = affordable(&mut ask, &left, tasks, cost);
    let written = ask_within(&mut ask, &mut left, tasks).await;
    let mut events = Vec::new();
    let (mut versions, handled) =
        refining::next_versions(&context, view.step(), &written, &mut events);
    decided.add(handled);
    let (drafts, handled) = refining::drafts(&context, &versions, &decided.changes, &mut events);
    versions.extend(drafts);
    decided.add(handled);
    decided.tell(&mut ask, events);

    let cases = refining::retest_cases(&context, &patches, &versions);
    let runs = play_all(&mut ask, &mut left, cases).await;
    tell_undecided(&mut ask, &runs);
    let mut events = Vec::new();
    let changes = refining::released(&context, versions, &runs, &decided.changes, &mut events);
    decided.add(changes);
    decided.tell(&mut ask, events);

    let filtered = filtering::filtered(&context, &decided.changes);
    decided.add(filtered);
    let undone = live::rolled_back(&context, &decided.changes);
    decided.add(undone);
    decided
}

/// Macro maintenance (HiSME 3.2, 3.4, algorithms 3 and 5): overlapping attempts are grouped, the skill that a group shares is
/// written and tried on the group's true instances, and roles learn rules from the results of the skills that they wrote.
pub(crate) async fn across_tasks(
    mut ask: Ask,
    view: View,
    recipe: Recipe,
    overlaps: Overlaps,
) -> Decided {
    let context = recipe.upkeep(view.context(), &overlaps);
    let (mut decided, mut left) = (Decided::default(), view.budget_left());

    let embeddings = ask.embed(refactoring::texts(&context)).await;

    let groups = refactoring::groups(&context, embeddings);
    let cost = |task: &RoleTask| refactoring::most_trials(&context, task);
    let groups = affordable(&mut ask, &left, groups, cost);
    let written = ask_within(&mut ask, &mut left, groups).await;
    let known = view.library().entries().map(|entry| &entry.skill);
    let drafts: Vec<Compared> = Compared::of_replies(&written).collect();
    let unclear = recipe.admit.identity.unclear(known, &drafts);
    let meanings = Meanings::of(&mut ask, unclear).await;
    let written = (written.as_slice(), &meanings);
    let mut events = Vec::new();
    let (proposed, handled) = refactoring::proposed(&context, view.step(), written, &mut events);
    decided.add(handled);
    decided.tell(&mut ask, events);

    let runs = play_all(&mut ask, &mut left, refactoring::trial_cases(&proposed)).await;
    tell_undecided(&mut ask, &runs);
    let mut events = Vec::new();
    let proposed = (proposed, &meanings);
    decided.add(refactoring::added(&context, proposed, &runs, &mut events));
    decided.tell(&mut ask, events);

    let meanings = Meanings::of(&mut ask, evolving::unclear(&context)).await;
    let written = ask_within(&mut ask, &mut left, evolving::due(&context, &meanings)).await;
    decided.add(evolving::learned(&context, &written));
    decided
}

/// The bank (SkillRL algorithm 1, lines 2 to 14 and 26 to 30): the first one is distilled from kept attempts of both kinds; then
/// the failures of the weak categories of each validation round give new skills, and refinements of those that are there.
pub(crate) async fn bank(mut ask: Ask, view: View, recipe: Recipe, overlaps: Overlaps) -> Decided {
    let context = recipe.upkeep(view.context(), &overlaps);
    let Some(policy) = &recipe.maintenance.bank else {
        return Decided::default();
    };
    if !may_begin(&mut ask, &context.left, "bank") {
        return Decided::default();
    }
    let library = view.library();
    let is_first = policy.first && entering::is_empty(library);
    let attempts = match is_first {
        true => entering::undistilled(library, library.traces()),
        false => {
            let round = ValidationRound::of_latest(library, policy);
            entering::undistilled(library, round.drawn(policy))
        }
    };
    let mut decided = Decided::default();
    let missed = distil(
        &mut ask,
        &context,
        (policy, view.step()),
        (&attempts, is_first),
        &mut decided,
    )
    .await;
    let mut events = Vec::new();
    decided.add(entering::marked(
        &context,
        &attempts,
        |attempt| missed.contains(attempt),
        &mut events,
    ));
    decided.tell(&mut ask, events);
    decided
}

/// Distils attempts into skills that enter the bank: successes into patterns if `patterns` is set, failures into lessons, and
/// these into skills. Returns the attempts that have to be distilled again after a temporary error.
pub(crate) async fn distil(
    ask: &mut Ask,
    context: &Upkeep<'_>,
    (policy, step): (&BankPolicy, u64),
    (attempts, patterns): (&[Trace], bool),
    decided: &mut Decided,
) -> BTreeSet<AttemptId> {
    let replies = ask_roles(
        ask,
        distilling::teaching_tasks(context, policy, attempts, patterns),
    )
    .await;
    let (taught, mut missed) = distilling::taught(&replies);

    let distilled = distilling::distil_bank(ask, context, policy, &taught).await;
    missed.extend(distilled.missed);

    let mut events = Vec::new();
    decided.add(entering::entering(
        context,
        policy,
        step,
        &distilled.skills,
        &mut events,
    ));
    decided.tell(ask, events);
    missed
}

/// Measures the skills' information gain (ARISE D.3). The measurement decides nothing.
pub(crate) async fn gains(mut ask: Ask, view: View) -> Decided {
    Decided {
        changes: gaining::measure(&mut ask, &view.context()).await,
        ..Decided::default()
    }
}

/// Clusters the assessed subgoals again and distils new prototypes (SCRIBE 3.2).
///
/// # Errors
/// `Internal` where the clustering fails.
pub(crate) async fn prototypes(mut ask: Ask, view: View, recipe: Recipe) -> Result<Decided> {
    let Some(policy) = &recipe.assess else {
        return Ok(Decided::default());
    };
    if !may_begin(&mut ask, &view.budget_left(), "prototypes") {
        return Ok(Decided::default());
    }
    let mut decided = Decided::default();
    decided.add(refresh(&mut ask, &view, policy).await?);
    Ok(decided)
}

/// Emits an event for each test case that decides nothing.
fn tell_undecided(ask: &mut Ask, runs: &[PlayedCase]) {
    for PlayedCase { case, run } in runs {
        if let Some(reason) = undecided(run) {
            let case = case.case.name.clone();
            ask.tell(EventKind::CaseFailed { case, reason });
        }
    }
}
