//! The rules of [`MaintenanceProgram`].

use std::{
    num::{NonZeroU32, NonZeroU64},
    sync::Arc,
};

use async_trait::async_trait;

use super::{
    learning::{Learned, LearningFixture, Notes, Watched, learned},
    report::{Report, Tried},
};
use crate::{
    contract::Components,
    domain::{Cause, LibraryChange, Role},
    error::Result,
    library::SkillLibrary,
    policy::{Ask, MaintenanceProgram, Policies, Policy, Release, View},
    run::machine::maintenance::permitted,
};

/// Checks the maintenance programs that the fixture's recipe names; `fresh` makes the host's parts anew at each call, with an
/// empty store. The suite keeps the run in a journal of its own. [`select_program`](super::select_program::check) has an
/// example.
pub async fn check(
    fresh: impl AsyncFn() -> Result<Components>,
    fixture: &LearningFixture,
) -> Report {
    let learned = learned(&fresh, fixture, watched).await;
    let learned =
        |rule: fn(&Learned) -> Tried| learned.as_ref().map_err(Clone::clone).and_then(rule);
    let mut report = Report::new("MaintenanceProgram");
    report.case("repeats", learned(Learned::repeats));
    report.case("ends", learned(Learned::ends));
    report.case("permitted", learned(|run| run.kept("permitted", "change")));
    let applies = |run: &Learned| run.kept("applies", "permitted change");
    report.case("applies", learned(applies));
    report
}

fn watched(fixture: &LearningFixture, notes: &Notes) -> Option<Policies> {
    let known = fixture.known();
    let programs = &fixture.recipe.maintenance.programs;
    let names = programs.iter().map(|one| one.program.name.clone());
    let watched = names.fold(known.clone().replacing(), |policies, name| {
        let (of, notes) = (known.clone(), notes.clone());
        policies.with_program(name.clone(), move |options| {
            let named = Policy::new(&name).with_options(options);
            Ok(Arc::new(Watched {
                program: of.program(&named)?,
                name: name.clone(),
                notes: notes.clone(),
            }))
        })
    });
    (!programs.is_empty()).then_some(watched)
}

/// Why the first change without effect on a library has none.
fn without_effect(changes: &[LibraryChange], library: &SkillLibrary) -> Option<String> {
    let cause = Cause {
        run: None,
        task: None,
        reason: "the changes are tried".to_owned(),
        at: None,
    };
    match library.fork().apply(&cause, changes.to_vec()) {
        Ok(applied) => {
            let mut passed = applied.passed_over.iter();
            let passed = passed.next()?;
            Some(format!("change {}: {:?}", passed.change, passed.reason))
        }
        Err(error) => Some(error.to_string()),
    }
}

#[async_trait]
impl MaintenanceProgram for Watched<dyn MaintenanceProgram> {
    async fn maintain(&self, ask: &mut Ask, view: &View) -> Result<Vec<LibraryChange>> {
        let place = format!("{} behind task {}", self.name, view.step());
        self.notes.called(&place);
        let decided = self.program.maintain(ask, view).await;
        let changes = decided.as_deref().unwrap_or_default();
        let refused = changes
            .iter()
            .find_map(|change| permitted(change, self.program.records(), view.library()).err());
        if refused.is_none() {
            let passed = without_effect(changes, view.library());
            let passed = passed.map(|why| format!("{place}: {why}"));
            self.notes.held("applies", changes.len(), passed);
        }
        let refused = refused.map(|error| format!("{place}: {error}"));
        self.notes.held("permitted", changes.len(), refused);
        self.notes.decided(place, &decided);
        decided
    }

    fn roles(&self) -> Vec<Role> {
        self.program.roles()
    }

    fn records(&self) -> bool {
        self.program.records()
    }

    fn release(&self) -> Option<Release> {
        self.program.release()
    }

    fn writes(&self) -> bool {
        self.program.writes()
    }

    fn kept_attempts(&self, group: NonZeroU32) -> u64 {
        self.program.kept_attempts(group)
    }

    fn every(&self) -> NonZeroU64 {
        self.program.every()
    }

    fn reason(&self) -> &'static str {
        self.program.reason()
    }
}
