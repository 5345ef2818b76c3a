//! The scores of a task's right and wrong skills, as a run's decisions have them.

use std::collections::BTreeSet;

use journeyman::{
    Error, ErrorKind, Result, SkillId, TaskId,
    contract::Retriever,
    domain::{FoundWeight, Query, ScoreKind},
    library::SkillLibrary,
    policy::Answer as Answered,
    run::{Effect, Performer},
    stations::select::{LabeledScores, stand_ins},
};
use journeyman_tantivy::Bm25Retriever;

use super::labels::{CALIBRATE, Labeled, Labels};
use crate::progress::Progress;

/// Scores the candidates of a task as a run does.
pub(super) struct Scoring<'a> {
    pub(super) library: &'a SkillLibrary,
    pub(super) retriever: &'a Bm25Retriever,
    pub(super) performer: Performer,
    pub(super) score: ScoreKind,
    pub(super) candidates: usize,
    /// What the search's score counts beside the model's: then a decision is about the skill that the search finds first.
    pub(super) found: Option<FoundWeight>,
    /// Whether skills stand in for those that a small library does not have yet, as where a session fits a threshold.
    pub(super) fills: bool,
}

impl Scoring<'_> {
    pub(super) async fn all(&self, labels: &Labels) -> Result<Vec<LabeledScores>> {
        let progress = Progress::of("scoring");
        let mut scored = Vec::with_capacity(labels.tasks.len());
        for (task, labeled) in &labels.tasks {
            let of_task = self.of(task, labeled).await;
            scored.push(of_task.map_err(|error| error.with("task", task))?);
            progress.step("scoring");
        }
        Ok(scored)
    }

    /// The scores of the right skills, and of the wrong ones that a search finds.
    async fn of(&self, task: &TaskId, labeled: &Labeled) -> Result<LabeledScores> {
        let (right, wrong) = match self.found {
            Some(_) => self.firsts(labeled).await?,
            None => self.several(labeled).await?,
        };
        let missing = match self.fills {
            true => self.candidates.saturating_sub(wrong.len()),
            false => 0,
        };
        let chosen = right.iter().chain(&wrong);
        let skills = chosen.filter_map(|one| self.library.get(&one.id));
        let skills = skills.map(|entry| &entry.skill);
        let skills = skills.chain(stand_ins().iter().take(missing)).cloned();
        let effect = Effect::Score {
            query: labeled.instruction.clone(),
            skills: skills.collect(),
            score: self.score,
            repeatable: false,
            fitted_for: None,
        };
        let Answered::Scored(scores) = self.performer.perform(effect).await? else {
            let message = "the model gave no scores";
            return Err(Error::new(ErrorKind::Internal, CALIBRATE, message)
                .hint("this is a fault of the command: please report it"));
        };
        let (mut of_right, mut of_wrong) = (Vec::new(), Vec::new());
        for one in scores? {
            let value = one.value(self.score).ok_or_else(|| {
                Error::invalid(CALIBRATE, "no token of a skill was scored")
                    .with("skill", &one.skill.id)
                    .hint("give the skill a text, or release another version of it")
            })?;
            let mut known = right.iter().chain(&wrong);
            let found = known.find(|known| known.id == one.skill.id);
            let counts = self.found.zip(found).map_or(0.0, |(weight, found)| {
                weight.counts(found.score, &labeled.instruction)
            });
            match labeled.right.contains(&one.skill.id) {
                true => of_right.push(value + counts),
                false => of_wrong.push(value + counts),
            }
        }
        let mut scores = LabeledScores::new(task.clone(), of_right, of_wrong);
        let is_counted = self.found.is_some() && !labeled.right.is_empty();
        scores.right_is_first = is_counted.then_some(!right.is_empty());
        Ok(scores)
    }

    /// The right skills, and the wrong ones that a search finds: with too few of them, others too.
    async fn several(&self, labeled: &Labeled) -> Result<(Vec<Found>, Vec<Found>)> {
        let others = self.offered(|id| !labeled.right.contains(id));
        let unfound = |id: &SkillId| Found {
            id: id.clone(),
            score: 0.0,
        };
        let mut wrong = self
            .search(labeled, others.clone(), self.candidates)
            .await?;
        let known: BTreeSet<SkillId> = wrong.iter().map(|one| one.id.clone()).collect();
        let unknown = others.iter().filter(|id| !known.contains(*id));
        wrong.extend(unknown.map(unfound));
        wrong.truncate(self.candidates);
        Ok((labeled.right.iter().map(unfound).collect(), wrong))
    }

    /// The skill that a search finds first, if it is a right one; and the wrong one that it finds first where there are no right ones.
    async fn firsts(&self, labeled: &Labeled) -> Result<(Vec<Found>, Vec<Found>)> {
        let mut first = self.search(labeled, self.offered(|_| true), 1).await?;
        first.retain(|found| labeled.right.contains(&found.id));
        let others = self.offered(|id| !labeled.right.contains(id));
        let mut wrong = self.search(labeled, others.clone(), 1).await?;
        if wrong.is_empty() {
            let any = others.into_iter().take(1);
            wrong = any.map(|id| Found { id, score: 0.0 }).collect();
        }
        Ok((first, wrong))
    }

    async fn search(
        &self,
        labeled: &Labeled,
        among: Vec<SkillId>,
        limit: usize,
    ) -> Result<Vec<Found>> {
        let query = Query::new(labeled.instruction.clone(), limit).with_among(among);
        let found = self.retriever.search(&query).await?.into_iter();
        let found = found.map(|one| Found {
            id: one.skill.id,
            score: one.score,
        });
        Ok(found.collect())
    }

    fn offered(&self, wanted: impl Fn(&SkillId) -> bool) -> Vec<SkillId> {
        let entries = self.library.entries();
        let offered = entries.filter(|entry| entry.skill.state.is_offered());
        let ids = offered.map(|entry| entry.skill.id.clone());
        ids.filter(|id| wanted(id)).collect()
    }
}

/// A skill that is a candidate, and how well the search finds it.
struct Found {
    id: SkillId,
    score: f64,
}
