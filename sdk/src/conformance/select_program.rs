//! The rules of [`SelectProgram`].

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    learning::{Learned, LearningFixture, Notes, Watched, learned},
    report::{Report, Tried},
};
use crate::{
    contract::Components,
    domain::{Selection, TurnQuery},
    error::Result,
    policy::{Ask, OwnPolicy, Policies, SelectProgram, View, checks},
    select::Selector,
};

/// Checks the selector that the fixture's recipe names; `fresh` makes the host's parts anew at each call, with an empty store.
/// The suite keeps the run in a journal of its own.
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     Result, Seed, async_trait,
///     builtin::EnvironmentJudge,
///     conformance::{LearningFixture, select_program::check},
///     contract::Components,
///     domain::{Action, Decision, NothingReason, Selection, TurnQuery},
///     policy::{Ask, OwnPolicy, Policies, SelectProgram, View},
///     recipe,
///     select::Selector,
///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
/// };
///
/// /// Chooses the first skill.
/// #[derive(Debug)]
/// struct First;
///
/// #[async_trait]
/// impl SelectProgram for First {
///     async fn select(&self, _: &mut Ask, view: &View, _: &TurnQuery) -> Result<Selection> {
///         let first = view.offered().next().map(|entry| entry.skill.reference());
///         Ok(first.map_or(Selection::nothing(NothingReason::NoCandidates), |first| {
///             Selection::unscored(Decision::Inject { skills: vec![first], explored: false })
///         }))
///     }
/// }
///
/// let fresh = async || {
///     let agent = ScriptedExecutor::acting(|_, _| Play::Give(Some(Action::Message("hello".to_owned()))));
///     let world = ScriptedEnvironment::words();
///     Ok(Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge)))
/// };
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Selector::Own(OwnPolicy::new("first"));
/// let fixture = LearningFixture {
///     recipe,
///     policies: Policies::new().with_selector("first", |_| Ok(Arc::new(First))),
///     skills: vec![sample::skill("greeting")],
///     tasks: vec![sample::task("greet", &["hello"])],
///     seed: Seed(7),
///     samples: false,
/// };
/// let report = futures::executor::block_on(check(fresh, &fixture));
/// assert_eq!(report.skipped().count(), 0);
/// report.into_result()?;
/// # Ok::<(), journeyman::Error>(())
/// ```
pub async fn check(
    fresh: impl AsyncFn() -> Result<Components>,
    fixture: &LearningFixture,
) -> Report {
    let learned = learned(&fresh, fixture, watched).await;
    let learned =
        |rule: fn(&Learned) -> Tried| learned.as_ref().map_err(Clone::clone).and_then(rule);
    let mut report = Report::new("SelectProgram");
    report.case("repeats", learned(Learned::repeats));
    report.case("ends", learned(Learned::ends));
    report.case("offered", learned(|run| run.kept("offered", "skill")));
    report
}

fn watched(fixture: &LearningFixture, notes: &Notes) -> Option<Policies> {
    let Selector::Own(own) = &fixture.recipe.select.selector else {
        return None;
    };
    let (known, name, notes) = (fixture.policies.clone(), own.name.clone(), notes.clone());
    let make = move |parameters: &serde_json::Value| {
        let own = OwnPolicy::new(&name).with_parameters(parameters.clone());
        Ok(Arc::new(Watched {
            program: known.selector(&own)?,
            name: name.clone(),
            notes: notes.clone(),
        }) as Arc<dyn SelectProgram>)
    };
    Some(
        fixture
            .policies
            .clone()
            .replacing()
            .with_selector(&own.name, make),
    )
}

#[async_trait]
impl SelectProgram for Watched<dyn SelectProgram> {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selection> {
        // Later turns have no step of their own; their seeds tell them apart.
        let place = format!("{} at {} for {:?}", self.name, view.seed(), query.text);
        self.notes.called(&place);
        let chosen = self.program.select(ask, view, query).await;
        if let Ok(selection) = &chosen {
            let broken = checks::offered(selection, view).err();
            let broken = broken.map(|error| format!("{place}: {error}"));
            let count = selection.skills().len();
            self.notes.held("offered", count, broken);
        }
        self.notes.decided(place, &chosen);
        chosen
    }
}
