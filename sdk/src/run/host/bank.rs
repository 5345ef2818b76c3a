//! A bank that is distilled and grown without a run: from a host's own attempts, and after its own validation rounds.

use std::{fmt, task::Poll};

use futures::{FutureExt, StreamExt, stream};
use serde::{Deserialize, Serialize};

use super::journeyman::Journeyman;
use crate::{
    domain::{LibraryChange, Mode, SkillRef, Trace, Usage},
    error::{Error, Result},
    id::{Revision, RunId},
    maintain::{BankPolicy, ValidationRound},
    policy::{Ask, Questions},
    program::{Place, Program, Running},
    recipe::programs::{Decided, distil},
    report::EventKind,
    run::machine::{
        need::Need,
        own,
        scene::Scene,
        work::{Of, need},
    },
};

/// What a call that distils a bank did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BankReport {
    /// The library's revision after the call.
    pub revision: Revision,
    /// The skills that entered the library.
    pub added: Vec<SkillRef>,
    /// The skills that have a new version.
    pub revised: Vec<SkillRef>,
    /// Why skills stayed out, and which roles could not be played, a line each.
    pub refused: Vec<String>,
    /// Tokens used by the roles.
    pub usage: Usage,
}

/// One line of numbers, and one for each refusal.
impl fmt::Display for BankReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (added, revised) = (self.added.len(), self.revised.len());
        let tokens = self.usage.total();
        writeln!(
            f,
            "skills added: {added}, revised: {revised}; tokens: {tokens}"
        )?;
        self.refused
            .iter()
            .try_for_each(|reason| writeln!(f, "  {reason}"))
    }
}

impl Journeyman {
    /// Distils a bank from a host's own collection of attempts, in one call and without an attempt (SkillRL 3.1, 3.2, algorithm 1,
    /// lines 2 to 14): successes become patterns, failures lessons, and these become skills, committed at once. The library need
    /// not be empty: skills that it has already stay out. Attempts without a verdict are passed over. Secrets are redacted before
    /// a model sees the attempts, and a skill from untrusted sources begins in quarantine.
    ///
    /// The numbers are those of [`Maintenance::bank`](crate::maintain::Maintenance::bank), or the default ones where the recipe
    /// has no bank.
    ///
    /// # Errors
    /// `Unsupported` for a read-only library, and where the host gave no model or no roles; `Invalid` for an id that holds a
    /// secret; the store's error.
    pub async fn distil_bank(&self, attempts: Vec<Trace>) -> Result<BankReport> {
        self.grow("Journeyman::distil_bank", attempts, true).await
    }

    /// Grows the bank after a validation round of the host's own (SkillRL 3.3): the failures of weak categories become lessons,
    /// and these become new skills and refinements. What is drawn from the round is [`ValidationRound::drawn`].
    ///
    /// # Errors
    /// As [`distil_bank`](Self::distil_bank).
    pub async fn evolve_bank(&self, round: &ValidationRound) -> Result<BankReport> {
        let policy = self.bank_policy();
        let drawn = round.drawn(&policy).into_iter().cloned().collect();
        self.grow("Journeyman::evolve_bank", drawn, false).await
    }

    fn bank_policy(&self) -> BankPolicy {
        self.session.recipe.maintenance.bank.unwrap_or_default()
    }

    async fn grow(
        &self,
        operation: &'static str,
        attempts: Vec<Trace>,
        patterns: bool,
    ) -> Result<BankReport> {
        self.writable(operation)?;
        let session = &self.session;
        if session.backends.model.is_none() || session.backends.roles.is_none() {
            return Err(
                Error::unsupported(operation, "the host gave no model or no roles")
                    .hint("set `Backends::model` and `Backends::roles`, such as `GeneralRoles::shipped()`"),
            );
        }
        let redacting = session.redacting();
        let attempts = attempts
            .into_iter()
            .map(|trace| redacting.trace(trace.lean()));
        let attempts: Vec<Trace> = attempts.collect::<Result<_>>()?;
        let run = session.next_run("bank");
        let (decided, events, usage) = self.distilled(&run, attempts, patterns).await?;

        let library = self.library().await?;
        let mut report = BankReport {
            revision: library.revision(),
            added: Vec::new(),
            revised: Vec::new(),
            refused: events.iter().filter_map(refusal).collect(),
            usage,
        };
        if decided.changes.is_empty() {
            return Ok(report);
        }
        let mut changes = vec![LibraryChange::Configure(session.recipe.tiers.clone())];
        for change in decided.changes {
            match &change {
                LibraryChange::Add(skill) => report.added.push(skill.reference()),
                LibraryChange::Revise(skill) => report.revised.push(skill.reference()),
                _ => {}
            }
            changes.push(change);
        }
        changes.push(LibraryChange::Maintain);
        let reason = "attempts were distilled into the bank";
        report.revision = self.commit_changes(run, changes, reason).await?;
        Ok(report)
    }

    /// Runs the program of distillation on the present library, and asks the host's model its questions.
    async fn distilled(
        &self,
        run: &RunId,
        attempts: Vec<Trace>,
        patterns: bool,
    ) -> Result<(Decided, Vec<EventKind>, Usage)> {
        let session = &self.session;
        let (policy, library) = (self.bank_policy(), self.library().await?);
        let (recipe, policies) = (&session.recipe, &session.options.policies);
        let scene = Scene::new(
            (run, session.options.seed.derive(run.as_str(), 0)),
            Mode::Train,
            recipe,
            &library,
            (&session.overlaps, policies),
        );
        let start = |mut ask: Ask| -> Running<Decided> {
            let (view, recipe) = (scene.view(0), recipe.clone());
            let (overlaps, attempts) = (session.overlaps.share(), attempts.clone());
            Box::pin(async move {
                let context = recipe.upkeep(view.context(), &overlaps);
                let mut decided = Decided::default();
                let material = (attempts.as_slice(), patterns);
                distil(&mut ask, &context, (&policy, 0), material, &mut decided).await;
                decided
            })
        };
        let mut program: Program<Questions, Decided> = Program::new(0);
        let (mut events, mut usage) = (Vec::new(), Usage::default());
        loop {
            if let Poll::Ready(decided) = program.poll(start) {
                events.extend(program.take_events());
                let mut decided = decided?;
                own::remove_refused(&scene, &mut decided, &mut events);
                return Ok((decided, events, usage));
            }
            let open: Vec<(Place, Need)> = program.questions(start, |place, question| {
                let need = need(&scene, 0, Of::Maintenance, place, question);
                Some((place.clone(), need))
            });
            let answering = open.into_iter().map(|(place, need)| {
                let performed = session.performer.perform(need);
                performed.map(move |answer| (place, answer))
            });
            let mut answers =
                stream::iter(answering).buffer_unordered(session.options.in_flight.get());
            while let Some((place, answer)) = answers.next().await {
                let answer = answer?;
                usage.add(answer.usage().total());
                program.answer(&place, answer);
            }
        }
    }
}

/// Why a skill stayed out, or which role could not be played.
fn refusal(event: &EventKind) -> Option<String> {
    match event {
        EventKind::Refused { reason } => Some(reason.clone()),
        EventKind::RoleFailed { role, reason } => Some(format!("{role}: {reason}")),
        EventKind::FellBack { role, reason } => Some(format!("{role} fell back: {reason}")),
        _ => None,
    }
}
