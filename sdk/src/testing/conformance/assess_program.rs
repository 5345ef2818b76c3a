//! The rules of [`AssessProgram`].

use std::{num::NonZeroU64, sync::Arc};

use async_trait::async_trait;

use super::{
    learning::{Learned, LearningFixture, Notes, Watched, learned},
    report::{Report, Tried},
};
use crate::{
    contract::Components,
    domain::{Role, Trace},
    error::Result,
    policy::{
        Ask, AssessProgram, Assessed, Policies, Policy, View, checks, named::ScheduledProgram,
    },
};

/// Checks the assessor that the fixture's recipe names, ours or one of the host's own; `fresh` makes the host's parts anew at each
/// call, with an empty store. The suite keeps the run in a journal of its own.
/// [`select_program`](super::select_program::check) has an example.
pub async fn check(
    fresh: impl AsyncFn() -> Result<Components>,
    fixture: &LearningFixture,
) -> Report {
    let learned = learned(&fresh, fixture, watched).await;
    let learned =
        |rule: fn(&Learned) -> Tried| learned.as_ref().map_err(Clone::clone).and_then(rule);
    let mut report = Report::new("AssessProgram");
    report.case("repeats", learned(Learned::repeats));
    report.case("ends", learned(Learned::ends));
    report.case("valid", learned(|run| run.kept("valid", "assessment")));
    report
}

fn watched(fixture: &LearningFixture, notes: &Notes) -> Option<Policies> {
    let named = fixture.recipe.assess.as_ref()?;
    let known = fixture.known();
    let (of, name, notes) = (known.clone(), named.name.clone(), notes.clone());
    let make = move |options: &serde_json::Value| {
        let named = Policy::new(&name).with_options(options);
        Ok(Arc::new(Watched {
            program: of.assessor(&named)?,
            name: name.clone(),
            notes: notes.clone(),
        }) as Arc<dyn AssessProgram>)
    };
    Some(known.replacing().with_assessor(&named.name, make))
}

#[async_trait]
impl AssessProgram for Watched<dyn AssessProgram> {
    async fn assess(
        &self,
        ask: &mut Ask,
        view: &View,
        attempt: &Trace,
    ) -> Result<Option<Assessed>> {
        let place = format!("{} for attempt {}", self.name, attempt.trajectory.attempt);
        self.notes.called(&place);
        let decided = self.program.assess(ask, view, attempt).await;
        if let Ok(Some(assessed)) = &decided {
            let refused = checks::assessed(assessed, attempt).err();
            let refused = refused.map(|error| format!("{place}: {error}"));
            self.notes.held("valid", 1, refused);
        }
        self.notes.decided(place, &decided);
        decided
    }

    fn roles(&self) -> Vec<Role> {
        self.program.roles()
    }

    fn needs_embeddings(&self) -> bool {
        self.program.needs_embeddings()
    }

    fn upkeep(&self, batch: NonZeroU64) -> Option<ScheduledProgram> {
        self.program.upkeep(batch)
    }

    fn kept_attempts(&self) -> u64 {
        self.program.kept_attempts()
    }
}
