//! A bank that is distilled and grown without a run: from a host's own attempts, and after its own validation rounds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{LibraryChange, Mode, SkillRef, Trace, Usage},
    error::{Error, Result},
    id::{Revision, RunId},
    library::SkillLibrary,
    papers::skillrl::{BankPolicy, ValidationRound, bank::distil},
    policy::{
        Ask,
        program::{QuestionPath, Running},
    },
    run::{
        host::{asking::Ended, journeyman::Journeyman},
        machine::effect::{Of, RunContext, effect},
    },
    stations::{admit::admission, maintain::MaintenanceContext},
};

/// What a call that distils a bank did.
#[non_exhaustive]
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

impl BankReport {
    /// Names the skills that the library has after the commit. Another writer may have changed it while the roles were asked, and
    /// the library then passes over what comes too late.
    fn confirm(&mut self, changes: &[LibraryChange], library: &SkillLibrary) {
        for change in changes {
            let (skill, list) = match change {
                LibraryChange::Add(skill) => (skill, &mut self.added),
                LibraryChange::Revise(skill) => (skill, &mut self.revised),
                _ => continue,
            };
            let reference = skill.reference();
            let held = library.version(&reference);
            if held.is_some_and(|held| held.content_sha256() == skill.content_sha256()) {
                list.push(reference);
                continue;
            }
            let name = &skill.name;
            self.refused.push(format!(
                "{name}: the library was changed meanwhile; distil again"
            ));
        }
    }
}

impl Journeyman {
    /// Distils a bank from a host's own collection of attempts, in one call and without an attempt (SkillRL 3.1, 3.2, algorithm 1,
    /// lines 2 to 14): successes become patterns, failures lessons, and these become skills, committed at once. The library need
    /// not be empty: skills that it has already stay out. Attempts without a verdict are passed over. Secrets are redacted before
    /// a model sees the attempts, and a skill from untrusted sources begins in quarantine.
    ///
    /// The numbers are those of the recipe's program `bank` ([`BankPolicy`]), or the default ones where the recipe has no bank.
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
        self.session.recipe.maintenance.get().unwrap_or_default()
    }

    async fn grow(
        &self,
        operation: &'static str,
        attempts: Vec<Trace>,
        patterns: bool,
    ) -> Result<BankReport> {
        self.writable(operation)?;
        let session = &self.session;
        let components = &session.components;
        if components.models().next().is_none() || components.roles.is_none() {
            return Err(
                Error::unsupported(operation, "the host gave no model or no roles")
                    .hint("set `Components::model` and `Components::roles`, such as `GeneralRoles::shipped()`"),
            );
        }
        let redacting = session.redacting();
        let attempts = attempts
            .into_iter()
            .map(|trace| redacting.trace(trace.lean()));
        let attempts: Vec<Trace> = attempts.collect::<Result<_>>()?;
        let run = session.next_run("bank");
        let ended = self.distilled(&run, attempts, patterns).await?;

        let library = self.library().await?;
        let mut report = BankReport {
            revision: library.revision(),
            added: Vec::new(),
            revised: Vec::new(),
            refused: ended.refusals(),
            usage: ended.usage,
        };
        let decided = ended.value;
        if decided.is_empty() {
            return Ok(report);
        }
        let mut changes = vec![LibraryChange::Configure(session.recipe.tiers.clone())];
        changes.extend(decided.iter().cloned());
        changes.push(LibraryChange::Maintain);
        let reason = "attempts were distilled into the bank";
        report.revision = self.commit_changes(run, changes, reason).await?;
        report.confirm(&decided, &self.library().await?);
        Ok(report)
    }

    /// Runs the program of distillation on the present library, and asks the host's model its questions.
    async fn distilled(
        &self,
        run: &RunId,
        attempts: Vec<Trace>,
        patterns: bool,
    ) -> Result<Ended<Vec<LibraryChange>>> {
        let session = &self.session;
        let (policy, library) = (self.bank_policy(), self.library().await?);
        let (recipe, policies) = (&session.recipe, &session.policies);
        let run_context = RunContext::new(
            (run, session.options.seed.derive(run.as_str(), 0)),
            (Mode::Train, session.performer.replays(), None),
            recipe,
            &library,
            policies,
        );
        let start = |mut ask: Ask| -> Running<Vec<LibraryChange>> {
            let (view, attempts) = (run_context.view(0), attempts.clone());
            Box::pin(async move {
                let context = MaintenanceContext {
                    context: view.context(),
                    policy: &policy,
                };
                let mut decided = Vec::new();
                let material = (attempts.as_slice(), patterns);
                distil(&mut ask, &context, 0, material, &mut decided).await;
                decided
            })
        };
        let effect = |place: &QuestionPath, question| {
            Ok(effect(&run_context, 0, Of::Maintenance, place, &question))
        };
        let mut ended = self.to_the_end(start, effect).await?;
        let rules = &policies.admission;
        admission::remove_refused(rules, &library, &mut ended.value, &mut ended.events);
        Ok(ended)
    }
}
