//! The rules of [`SelectProgram`].

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    learning::{Learned, LearningFixture, Notes, Watched, learned},
    report::{Report, Tried},
};
use crate::{
    contract::Components,
    domain::{Selection, SkillRef, TurnQuery},
    error::{Error, Result},
    policy::{Ask, Policies, Policy, SelectProgram, View, checks},
    stations::select::{Selected, SelectorGate},
};

/// Checks the selector that the fixture's recipe names, one of ours or of the host's own; `fresh` makes the host's parts anew at each call, with an empty store.
/// The suite keeps the run in a journal of its own.
///
/// ```
/// use std::sync::Arc;
///
/// use journeyman::{
///     Result, Seed, async_trait,
///     agent::EnvironmentJudge,
///     testing::conformance::{LearningFixture, select_program::check},
///     contract::Components,
///     domain::{Action, Decision, NothingReason, Selection, TurnQuery},
///     policy::{Ask, Policies, Policy, SelectProgram, View},
///     recipe,
///     stations::select::Selected,
///     testing::{Play, ScriptedEnvironment, ScriptedExecutor, sample},
/// };
///
/// /// Chooses the first skill.
/// #[derive(Debug)]
/// struct First;
///
/// #[async_trait]
/// impl SelectProgram for First {
///     async fn select(&self, _: &mut Ask, view: &View, _: &TurnQuery) -> Result<Selected> {
///         let first = view.offered().next().map(|entry| entry.skill.reference());
///         let selection = first.map_or(Selection::nothing(NothingReason::NoCandidates), |first| {
///             Selection::unscored(Decision::Inject { skills: vec![first], explored: false })
///         });
///         Ok(selection.into())
///     }
/// }
///
/// let fresh = async || {
///     let agent = ScriptedExecutor::acting(|_, _| Play::Give(Some(Action::Message("hello".to_owned()))));
///     let world = ScriptedEnvironment::words();
///     Ok(Components::new(Arc::new(agent), Arc::new(world), Arc::new(EnvironmentJudge)))
/// };
/// let mut recipe = recipe::standard();
/// recipe.select.selector = Policy::new("the-first");
/// let tasks = vec![sample::task("greet", &["hello"])];
/// let fixture = LearningFixture::new(recipe, tasks, Seed(7))
///     .with_policies(Policies::new().with_selector("the-first", |_| Ok(Arc::new(First))))
///     .with_skills(vec![sample::skill("greeting")]);
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
    report.case("counted", learned(|run| run.kept("counted", "selection")));
    report
}

fn watched(fixture: &LearningFixture, notes: &Notes) -> Option<Policies> {
    let named = &fixture.recipe.select.selector;
    let known = fixture.known();
    let (of, name, notes) = (known.clone(), named.name.clone(), notes.clone());
    let make = move |options: &serde_json::Value| {
        let named = Policy::new(&name).with_options(options);
        Ok(Arc::new(Watched {
            program: of.selector(&named)?,
            name: name.clone(),
            notes: notes.clone(),
        }) as Arc<dyn SelectProgram>)
    };
    Some(known.replacing().with_selector(&named.name, make))
}

#[async_trait]
impl SelectProgram for Watched<dyn SelectProgram> {
    async fn select(&self, ask: &mut Ask, view: &View, query: &TurnQuery) -> Result<Selected> {
        // Later turns have no step of their own; their seeds tell them apart.
        let place = format!("{} at {} for {:?}", self.name, view.seed(), query.text);
        self.notes.called(&place);
        let chosen = self.program.select(ask, view, query).await;
        if let Ok(selected) = &chosen {
            let at = |error: Error| format!("{place}: {error}");
            let skills = selected.selections.iter().flat_map(Selection::skills);
            let skills: Vec<&SkillRef> = skills.collect();
            let looked_at = selected.candidates.iter().map(|one| &one.skill);
            let broken = checks::offered(skills.iter().copied().chain(looked_at), view)
                .and_then(|()| checks::sound_candidates(&selected.candidates));
            self.notes
                .held("offered", skills.len(), broken.err().map(at));
            let broken = checks::counted_selections(selected, view);
            self.notes
                .held("counted", selected.selections.len(), broken.err().map(at));
        }
        self.notes.decided(place, &chosen);
        chosen
    }

    fn gate(&self) -> Option<SelectorGate<'_>> {
        self.program.gate()
    }

    fn needs_embeddings(&self) -> bool {
        self.program.needs_embeddings()
    }

    fn uses_ranking(&self) -> bool {
        self.program.uses_ranking()
    }

    fn never_selects(&self) -> bool {
        self.program.never_selects()
    }
}
