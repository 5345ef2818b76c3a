//! Ids that a commit refers to.

use super::{Anchor, Assessment, Assignment, Commit, LibraryChange, Prototype, Skill};

impl LibraryChange {
    /// Every id in the change, in order. A store that removes secrets from text refuses a secret in an id: without their
    /// secrets, two ids might be the same.
    pub fn ids<'a>(&'a self) -> Vec<&'a str> {
        match self {
            Self::Configure(_) | Self::Maintain => Vec::new(),
            Self::Credit { skill, attempt, .. } => vec![skill.id.as_str(), attempt.as_str()],
            Self::Add(skill) | Self::Revise(skill) => ids_of(skill),
            Self::Merge { skill, sources, .. } => {
                let sources = sources.iter().map(|id| id.as_str());
                ids_of(skill).into_iter().chain(sources).collect()
            }
            Self::RollBack { skill, .. }
            | Self::Restore { skill, .. }
            | Self::Place { skill, .. }
            | Self::SetState { skill, .. } => vec![skill.as_str()],
            Self::Expose {
                skill,
                attempt,
                outcome,
                ..
            } => {
                let task = outcome.iter().map(|outcome| outcome.task.as_str());
                let ids = [skill.id.as_str(), attempt.as_str()].into_iter();
                ids.chain(task).collect()
            }
            Self::Attribute(attribution) => vec![
                attribution.skill.id.as_str(),
                attribution.attempt.as_str(),
                attribution.task.as_str(),
            ],
            Self::PatchBundle { skill, cases, .. } => {
                let cases = cases.iter();
                let cases = cases.flat_map(|case| [case.task.id.as_str(), case.attempt.as_str()]);
                std::iter::once(skill.as_str()).chain(cases).collect()
            }
            Self::Test { skill, .. }
            | Self::Gain { skill, .. }
            | Self::Prove { skill, .. }
            | Self::Release { skill, .. } => vec![skill.id.as_str()],
            Self::Observe(trace) => {
                vec![trace.task.id.as_str(), trace.trajectory.attempt.as_str()]
            }
            Self::Compare { skill, pairs } => {
                let of_pair = pairs.iter().flat_map(|pair| {
                    let sources = pair.sources.iter().map(|source| source.id.as_str());
                    std::iter::once(pair.task.as_str()).chain(sources)
                });
                std::iter::once(skill.id.as_str()).chain(of_pair).collect()
            }
            Self::Assign(assigned) => assigned.ids(),
            Self::Note(note) => vec![note.attempt.as_str()],
            Self::Handled { .. } | Self::SetRules { .. } => Vec::new(),
            Self::Assess(assessment) => assessment.ids(),
            Self::SetPrototypes(prototypes) => {
                let ids = |one: &'a Prototype| {
                    let members = one.members.iter().map(|member| member.attempt.as_str());
                    std::iter::once(one.id.as_str()).chain(members)
                };
                prototypes.iter().flat_map(ids).collect()
            }
            Self::SetAnchors(anchors) => {
                let ids = |one: &'a Anchor| [one.at.attempt.as_str(), one.attempt.task.id.as_str()];
                anchors.iter().flat_map(ids).collect()
            }
            Self::CheckAnchors(scores) => {
                let anchors = scores.iter().map(|one| &one.anchor);
                anchors.map(|anchor| anchor.attempt.as_str()).collect()
            }
            Self::RetireRun { run, .. } => vec![run.as_str()],
            Self::Erased { skills } => skills.iter().map(|id| id.as_str()).collect(),
        }
    }
}

impl Assignment {
    fn ids(&self) -> Vec<&str> {
        let skills = self.skills.iter().map(|one| one.skill.id.as_str());
        let of = [self.attempt.as_str(), self.task.as_str()];
        of.into_iter().chain(skills).collect()
    }
}

impl Assessment {
    fn ids(&self) -> Vec<&str> {
        let routes = self.subgoals.iter();
        let routes = routes.filter_map(|one| one.route.as_ref());
        let of = [self.attempt.as_str(), self.task.as_str()];
        let prototypes = routes.map(|route| route.prototype.as_str());
        of.into_iter().chain(prototypes).collect()
    }
}

impl Commit {
    /// Its key and every id in it, in order; see [`LibraryChange::ids`].
    pub fn ids(&self) -> Vec<&str> {
        let run = self.cause.run.iter().map(|run| run.as_str());
        let task = self.cause.task.iter().map(|task| task.as_str());
        let changes = self.changes.iter().flat_map(LibraryChange::ids);
        let key = std::iter::once(self.key.as_str());
        key.chain(run).chain(task).chain(changes).collect()
    }
}

fn ids_of(skill: &Skill) -> Vec<&str> {
    let parents = skill.parents.iter().map(|parent| parent.id.as_str());
    let runs = skill.provenance.runs.iter().map(|run| run.as_str());
    let tasks = skill.provenance.tasks.iter().map(|task| task.as_str());
    let id = std::iter::once(skill.id.as_str());
    id.chain(parents).chain(runs).chain(tasks).collect()
}
