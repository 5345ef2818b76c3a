//! The rules of [`WriteProgram`].

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    learning::{Learned, LearningFixture, Notes, Watched, learned},
    report::{Report, Tried},
};
use crate::{
    admit::insert_ready,
    contract::Components,
    domain::{SkillDraft, Trace},
    error::{Error, Result},
    policy::{Ask, OwnPolicy, Policies, View, WriteProgram},
    propose::Writer,
};

/// Checks the writer that the fixture's recipe names; `fresh` makes the host's parts anew at each call, with an empty store.
/// The suite keeps the run in a journal of its own. [`select_program`](super::select_program::check) has an example.
pub async fn check(
    fresh: impl AsyncFn() -> Result<Components>,
    fixture: &LearningFixture,
) -> Report {
    let learned = learned(&fresh, fixture, watched).await;
    let learned =
        |rule: fn(&Learned) -> Tried| learned.as_ref().map_err(Clone::clone).and_then(rule);
    let mut report = Report::new("WriteProgram");
    report.case("repeats", learned(Learned::repeats));
    report.case("ends", learned(Learned::ends));
    report.case("valid", learned(|run| run.kept("valid", "draft")));
    report
}

fn watched(fixture: &LearningFixture, notes: &Notes) -> Option<Policies> {
    let Writer::Own(own) = &fixture.recipe.write.by else {
        return None;
    };
    let (known, name, notes) = (fixture.policies.clone(), own.name.clone(), notes.clone());
    let make = move |parameters: &serde_json::Value| {
        let own = OwnPolicy::new(&name).with_parameters(parameters.clone());
        Ok(Arc::new(Watched {
            program: known.writer(&own)?,
            name: name.clone(),
            notes: notes.clone(),
        }) as Arc<dyn WriteProgram>)
    };
    Some(
        fixture
            .policies
            .clone()
            .replacing()
            .with_writer(&own.name, make),
    )
}

#[async_trait]
impl WriteProgram for Watched<dyn WriteProgram> {
    async fn write(
        &self,
        ask: &mut Ask,
        view: &View,
        attempts: &[Trace],
    ) -> Result<Vec<SkillDraft>> {
        let place = format!("{} for task {}", self.name, view.step());
        self.notes.called(&place);
        let written = self.program.write(ask, view, attempts).await;
        let drafts = written.as_deref().unwrap_or_default();
        let mut refused = drafts.iter().filter_map(|draft| insert_ready(draft).err());
        let refused = refused.next().map(Error::from);
        let refused = refused.map(|error| format!("{place}: {error}"));
        self.notes.held("valid", drafts.len(), refused);
        self.notes.decided(place, &written);
        written
    }
}
