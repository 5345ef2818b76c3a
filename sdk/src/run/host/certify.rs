//! Whether the skills of a library help with the model at hand.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::journeyman::Journeyman;
use crate::{
    domain::{LibraryChange, MaintenanceBudget, Mode, SkillName, SkillRef, State, Usage},
    error::{Error, Result},
    id::{ModelId, Revision, RunId},
    library::{Entry, SkillLibrary},
    policy::{
        Ask,
        program::{QuestionPath, Running},
    },
    run::{
        machine::effect::{Of, RunContext, effect},
        report::EventKind,
    },
    stations::proof::{ComparePolicy, Conclusion, ProvenRelease, Trial, compared},
};

/// What [`Journeyman::certify`] found out.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Certificate {
    /// The model that acted, with its adapter; `None` where the agent does not say: then no proof is recorded.
    pub model: Option<ModelId>,
    /// The skills in use and on trial, by id.
    pub skills: Vec<CertifiedSkill>,
    /// The library's revision after the call.
    pub revision: Revision,
    /// Tokens of the attempts.
    pub usage: Usage,
}

/// A skill of a [`Certificate`].
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CertifiedSkill {
    /// Which skill, in which version.
    pub skill: SkillRef,
    /// Its name.
    pub name: SkillName,
    /// Its state before the call.
    pub state: State,
    /// What the pairs say.
    pub conclusion: Conclusion,
    /// Number of tasks that were attempted with this model, with the skill and without it: now and before.
    pub pairs: u64,
    /// The mean of the score with it, less that without it; `None` without a pair.
    pub difference: Option<f64>,
    /// Why one that does better is not released, or in use not proven: the task of another skill that it would break, or what is not
    /// known of those yet. A merge that would break a task is disabled, and this says so.
    pub waits: Option<String>,
}

impl CertifiedSkill {
    fn of(trial: &Trial<'_>) -> Self {
        let (skill, comparison) = (&trial.entry.skill, &trial.comparison);
        Self {
            skill: skill.reference(),
            name: skill.name.clone(),
            state: skill.state,
            conclusion: comparison.conclusion(),
            pairs: comparison.pairs(),
            difference: comparison.estimate(),
            waits: None,
        }
    }

    /// Takes from the events of the comparison, and from the changes that it concluded, why the skill is not released.
    fn waiting(self, events: &[EventKind], changes: &[LibraryChange]) -> Self {
        let waits = events.iter().find_map(|event| match event {
            EventKind::Waits { skill, reason, .. } if *skill == self.skill => Some(reason.clone()),
            _ => None,
        });
        let does_better = self.conclusion == Conclusion::Better;
        let is_disabled = changes.iter().find_map(|change| match change {
            LibraryChange::SetState {
                skill,
                state: State::Disabled,
                reason,
            } if does_better && *skill == self.skill.id => Some(format!(
                "{reason}; it is a merge, so it is disabled, and what was merged stays in use"
            )),
            _ => None,
        });
        Self {
            waits: waits.or(is_disabled),
            ..self
        }
    }
}

impl Journeyman {
    /// Attempts tasks again with each skill that is in use or on trial, and with what was before it (nothing for one in use; for a merge on
    /// trial what it was merged from), until it is clear whether the skill helps with the session's model. The tasks are those of kept attempts that had the skill in their prompt,
    /// of any model, each once; pairs that this model made before count without being made again.
    ///
    /// The pairs are recorded, with the proofs; a skill on trial is released, taken back, or held back for a neighbour, as by
    /// [`ProvenRelease`](crate::stations::proof::ProvenRelease), whose options are the recipe's where it has that program. What was decided
    /// meanwhile about a skill stays. A skill in use keeps its state: only a recipe with that program reads proofs, and offers it to the
    /// models that it is proven on, and in learning to those that nothing is known of. So the first proof with one model takes a skill from
    /// the evaluations of the others.
    ///
    /// ```
    /// use journeyman::{
    ///     Seed,
    ///     agent::MemoryStore,
    ///     contract::Components,
    ///     recipe,
    ///     run::{Journeyman, Options},
    ///     stations::proof::ComparePolicy,
    ///     testing::{ScriptedEnvironment, ScriptedExecutor, Play, sample},
    /// };
    /// use std::sync::Arc;
    ///
    /// # futures::executor::block_on(async {
    /// let mut components = Components::new(
    ///     Arc::new(ScriptedExecutor::acting(|_, _| Play::Give(None))),
    ///     Arc::new(ScriptedEnvironment::words()),
    ///     Arc::new(journeyman::agent::EnvironmentJudge),
    /// );
    /// components.store = Some(Arc::new(MemoryStore::new()));
    /// let options = Options::new("desk", Seed(7));
    /// let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
    /// journeyman.add(vec![sample::skill("close-ticket")], "ours").await?;
    /// let certificate = journeyman.certify(ComparePolicy::default()).await?;
    /// // No attempt had it yet: nothing is known of it.
    /// assert_eq!(certificate.skills[0].pairs, 0);
    /// # Ok::<_, journeyman::Error>(())
    /// # })?;
    /// # Ok::<(), journeyman::Error>(())
    /// ```
    ///
    /// # Errors
    /// `Unsupported` for a read-only library, and where attempts cannot be repeated: without an agent, a judge, or a world that can be
    /// set up again; `Invalid` for a policy out of its ranges; the store's error.
    pub async fn certify(&self, compare: ComparePolicy) -> Result<Certificate> {
        const OPERATION: &str = "Journeyman::certify";
        self.writable(OPERATION)?;
        compare.validate()?;
        let session = &self.session;
        if !session.performer.replays() {
            return Err(not_again(OPERATION));
        }
        session.performer.refresh_index().await;
        let library = self.library().await?;
        let model = session.performer.acting_model();
        let run = session.next_run("certify");
        let run_context = RunContext::new(
            (&run, session.options.seed.derive(run.as_str(), 0)),
            (Mode::Train, true, model.as_ref()),
            &session.recipe,
            &library,
            &session.policies,
        );
        let release = ProvenRelease {
            compare,
            ..session.recipe.maintenance.get().unwrap_or_default()
        };
        let start = |mut ask: Ask| -> Running<Result<Decided>> {
            let view = run_context.view(0);
            let selector = Arc::clone(&session.policies.selector);
            Box::pin(async move {
                let tested = |entry: &&Entry| entry.skill.state.is_offered();
                let entries = view.library().entries().filter(tested).collect();
                let mut left = MaintenanceBudget::default();
                let trials = compared(&mut ask, &view, (entries, compare), &mut left).await?;
                let mut changes = Vec::new();
                for trial in &trials {
                    let of = (&view, Some(selector.as_ref()));
                    let concluded = release.concluded(&mut ask, of, trial, &mut left);
                    changes.extend(concluded.await);
                }
                Ok(Decided {
                    skills: trials.iter().map(CertifiedSkill::of).collect(),
                    changes,
                })
            })
        };
        let effect = |place: &QuestionPath, question| {
            Ok(effect(&run_context, 0, Of::Maintenance, place, &question))
        };
        let ended = self.to_the_end(start, effect).await?;
        let Decided { skills, changes } = ended.value?;
        let skills = skills.into_iter();
        let skills = skills.map(|skill| skill.waiting(&ended.events, &changes));
        let skills: Vec<CertifiedSkill> = skills.collect();
        let revision = self.keep(run, &library, changes).await?;
        Ok(Certificate {
            model,
            skills,
            revision,
            usage: ended.usage,
        })
    }

    /// Commits what was decided on a library. Attempts take a while: what a person or another program has decided meanwhile stays.
    async fn keep(
        &self,
        run: RunId,
        library: &SkillLibrary,
        mut changes: Vec<LibraryChange>,
    ) -> Result<Revision> {
        let now = self.library().await?;
        changes.retain(|change| match change.decides_about() {
            Some(skill) => library.get(skill).map(decided) == now.get(skill).map(decided),
            None => true,
        });
        match changes.is_empty() {
            true => Ok(now.revision()),
            false => {
                let reason = "skills were compared with doing without them";
                self.commit_changes(run, changes, reason).await
            }
        }
    }
}

fn not_again(operation: &'static str) -> Error {
    Error::unsupported(operation, "tasks cannot be attempted again here").hint(
        "give the session an agent, a judge, and an environment whose capabilities say `resettable`; a host's own loop learns it from \
         the ledger (`SelectPolicy::withhold`, `Journeyman::lift`)",
    )
}

/// What is decided of a skill: its version and its state.
fn decided(entry: &Entry) -> (SkillRef, State) {
    (entry.skill.reference(), entry.skill.state)
}

struct Decided {
    skills: Vec<CertifiedSkill>,
    changes: Vec<LibraryChange>,
}
