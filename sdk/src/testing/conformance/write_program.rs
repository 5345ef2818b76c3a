//! The rules of [`WriteProgram`].

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    learning::{Learned, LearningFixture, Notes, Watched, learned},
    report::{Report, Tried},
};
use crate::{
    contract::Components,
    domain::Role,
    error::{Error, Result},
    policy::{Ask, Policies, Policy, View, WriteGroup, WriteProgram, Written, checks},
    stations::admit::insert_ready,
};

/// Checks the writer that the fixture's recipe names, one of ours or of the host's own; `fresh` makes the host's parts anew at each
/// call, with an empty store.
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
    let named = &fixture.recipe.write.by;
    let known = fixture.known();
    let (of, name, notes) = (known.clone(), named.name.clone(), notes.clone());
    let make = move |options: &serde_json::Value| {
        let named = Policy::new(&name).with_options(options);
        Ok(Arc::new(Watched {
            program: of.writer(&named)?,
            name: name.clone(),
            notes: notes.clone(),
        }) as Arc<dyn WriteProgram>)
    };
    Some(known.replacing().with_writer(&named.name, make))
}

#[async_trait]
impl WriteProgram for Watched<dyn WriteProgram> {
    async fn write(&self, ask: &mut Ask, view: &View, group: &WriteGroup<'_>) -> Result<Written> {
        let place = format!("{} for task {}", self.name, view.step());
        self.notes.called(&place);
        let written = self.program.write(ask, view, group).await;
        let drafts = || written.iter().flat_map(Written::drafts);
        let refused = drafts().find_map(|draft| insert_ready(draft).err());
        let refused = refused.map(Error::from);
        let refused = refused.or_else(|| checks::one_curation(written.as_ref().ok()?).err());
        let refused = refused.map(|error| format!("{place}: {error}"));
        self.notes.held("valid", drafts().count(), refused);
        self.notes.decided(place, &written);
        written
    }

    fn roles(&self) -> Vec<Role> {
        self.program.roles()
    }

    fn takes_failures(&self) -> bool {
        self.program.takes_failures()
    }

    fn takes_undecided(&self) -> bool {
        self.program.takes_undecided()
    }

    fn most_attempts(&self) -> usize {
        self.program.most_attempts()
    }
}
