//! What a host brings: skills, and rules for roles.

use super::Journeyman;
use crate::{
    domain::{Cause, Commit, LibraryChange, Role, RoleRule, Skill},
    error::Result,
    id::{CommitKey, Revision},
};

impl Journeyman {
    /// Puts skills that the host brings into the library, without the secrets in them.
    ///
    /// # Errors
    /// `Invalid` for a skill that breaks the rules of a change; what the store gives.
    pub async fn add(&self, skills: Vec<Skill>, reason: &str) -> Result<Revision> {
        let redacting = self.inner.redacting();
        let skills = skills.into_iter().map(|skill| redacting.skill(skill));
        let skills = skills.collect::<Result<Vec<_>>>()?;
        let tiers = self.inner.recipe.tiers.clone();
        let mut changes = vec![LibraryChange::Configure(tiers)];
        changes.extend(skills.into_iter().map(|s| LibraryChange::Add(Box::new(s))));
        changes.push(LibraryChange::Maintain);
        self.bring("add", changes, reason).await
    }

    /// Gives a role rules to keep to from here on, such as those that another run learnt (HiSME 4.5): with
    /// [`Maintenance::evolve`](crate::recipe::Maintenance::evolve) switched off they stay as they are.
    ///
    /// # Errors
    /// `Invalid` for more than [`RoleRule::MOST`] rules or one that is too long; what the store gives.
    pub async fn set_rules(
        &self,
        role: Role,
        mut rules: Vec<RoleRule>,
        reason: &str,
    ) -> Result<Revision> {
        let redacting = self.inner.redacting();
        rules
            .iter_mut()
            .for_each(|rule| redacting.text(&mut rule.0));
        let changes = vec![LibraryChange::SetRules { role, rules }];
        self.bring("rules", changes, reason).await
    }

    async fn bring(
        &self,
        kind: &str,
        changes: Vec<LibraryChange>,
        reason: &str,
    ) -> Result<Revision> {
        // What the fold would refuse must not be committed: it would refuse it from then on.
        changes.iter().try_for_each(LibraryChange::validate)?;
        let inner = &self.inner;
        let run = inner.next_run(kind);
        let mut reason = reason.to_owned();
        inner.redacting().text(&mut reason);
        let commit = Commit {
            base: self.library().await?.revision(),
            key: CommitKey::new(run.as_str()),
            cause: Cause {
                run: Some(run),
                task: None,
                reason,
            },
            changes,
        };
        let done = inner.performer.commit(&commit).await?;
        Ok(done
            .committed
            .last()
            .map_or(commit.base, |last| last.revision))
    }
}
