//! Takes secrets out of the answers of roles.

use super::redacting::Redacting;
use crate::{
    contract::RoleAnswer,
    domain::{Lesson, Rubric, Segmentation, Subgoal, Trap},
    policy::{Played, Unreadable},
};

impl Redacting {
    /// A secret that shows only in the parsed answer, as an escape of JSON spelled it, takes the records with it.
    pub(super) fn played(&self, played: &mut Played) {
        let before = (!played.generations.is_empty()).then(|| played.answer.clone());
        self.played_texts(played);
        if before.is_some_and(|before| before != played.answer) {
            played.generations.clear();
        }
    }

    pub(super) fn unreadable(&self, output: &mut Unreadable) {
        self.text(&mut output.text);
        self.text(&mut output.reason);
    }

    fn played_texts(&self, played: &mut Played) {
        played
            .unreadable
            .iter_mut()
            .for_each(|output| self.unreadable(output));
        match &mut played.answer {
            RoleAnswer::Draft(draft) => self.draft(draft),
            RoleAnswer::Revision { draft, tools } => {
                self.draft(draft);
                tools.iter_mut().for_each(|tool| self.text(tool));
            }
            RoleAnswer::Nothing(reason)
            | RoleAnswer::Archive(reason)
            | RoleAnswer::Scored { reason, .. }
            | RoleAnswer::Reviewed { reason, .. } => self.text(reason),
            RoleAnswer::Credit { scope, reason, .. } => {
                self.text(scope);
                self.text(reason);
            }
            RoleAnswer::Cases(cases) => {
                cases.iter_mut().for_each(|case| self.text(&mut case.about))
            }
            RoleAnswer::Rules(rules) => rules.iter_mut().for_each(|rule| self.rule(rule)),
            RoleAnswer::Segments { segmentation, .. } => self.segmentation(segmentation),
            RoleAnswer::Rubric(rubric) => self.rubric(rubric),
            RoleAnswer::Routed { .. } => {}
            RoleAnswer::Calls(calls) => {
                for call in calls {
                    self.text(&mut call.tool);
                    self.redactor.redact_fields(&mut call.arguments);
                }
            }
            RoleAnswer::Tags(tags) => tags.iter_mut().for_each(|tag| self.text(tag)),
            RoleAnswer::Lesson(lesson) => {
                let Lesson {
                    step: _,
                    flawed,
                    should,
                    principle,
                } = lesson;
                [flawed, should, principle]
                    .into_iter()
                    .for_each(|text| self.text(text));
            }
            RoleAnswer::Bank(drafts) => {
                drafts.iter_mut().for_each(|one| self.draft(&mut one.draft))
            }
        }
    }

    /// Spans stay as they are; a mark is never without words, so the segmentation stays valid.
    fn segmentation(&self, segmentation: &mut Segmentation) {
        let mut subgoals = segmentation.subgoals().to_vec();
        for Subgoal {
            subgoal,
            skill,
            first: _,
            last: _,
        } in &mut subgoals
        {
            self.text(subgoal);
            self.text(skill);
        }
        if let Ok(redacted) = Segmentation::try_from(subgoals) {
            *segmentation = redacted;
        }
    }

    fn rubric(&self, rubric: &mut Rubric) {
        let Rubric {
            title,
            use_context,
            objectives,
            pattern,
            checklist,
            traps,
        } = rubric;
        [title, use_context, pattern]
            .into_iter()
            .for_each(|text| self.text(text));
        objectives
            .iter_mut()
            .chain(checklist)
            .for_each(|line| self.text(line));
        for Trap { trap, score: _ } in traps {
            self.text(trap);
        }
    }
}
