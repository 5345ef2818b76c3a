//! What stood in the prompts of held-out tasks: a skill of the task's own tool, right or not, or skills of other tools alone; and
//! how many of these tasks go worse than without skills. Nothing here has a bound: it tests explanations.

use std::collections::BTreeMap;

use journeyman::{
    SkillId,
    domain::{Origin, SkillRef, SkillUse, State},
    library::{Entry, SkillLibrary},
    run::report::{RunReport, TaskReport},
};
use journeyman_toolworld::{
    general::{recipe::Recipe, skills::read},
    stream::{StreamTask, Universe},
};
use serde::{Deserialize, Serialize};

use crate::figures::{Bound, Figures};

/// A held-out task's prompt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Given {
    /// The tool that the task is about, and whether that has a hidden contract.
    tool: String,
    hidden: bool,
    /// The skills, in their order.
    shown: Vec<Shown>,
    /// Whether one of them was followed.
    used: SkillUse,
    /// Whether a skill that says what the tool asks for was in use, in the prompt or not.
    known: bool,
}

/// A skill in a prompt.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Shown {
    skill: SkillRef,
    /// The tool of its last call; `None` where its body has no calls that can be read.
    tool: Option<String>,
    /// Whether it says what that tool asks for.
    right: bool,
    body: String,
    origin: Origin,
    /// The tasks that it was written from, and whether one of them had a demand that passes.
    tasks: Vec<String>,
    passing: bool,
    /// After how many tasks of the stream it was first seen in use.
    since: usize,
    /// Judgements of this version: helpful, harmful, neutral, uncertain.
    judged: [u32; 4],
    /// Its test cases, each with the refusals that it allows and how it went last.
    cases: Vec<String>,
}

/// An attempt of the stream, as the library kept it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Made {
    task: String,
    tool: String,
    passing: bool,
    done: bool,
    refusals: usize,
    skills: Vec<(SkillRef, SkillUse)>,
}

/// After how many tasks each skill was first seen in use.
pub(super) type Since = BTreeMap<SkillId, usize>;

/// Notes the skills that are in use after so many tasks.
pub(super) fn note(since: &mut Since, library: &SkillLibrary, after: usize) {
    let used = library.entries();
    let used = used.filter(|entry| entry.skill.state == State::Active);
    for entry in used {
        since.entry(entry.skill.id.clone()).or_insert(after);
    }
}

/// A stream in its world, and the library that came of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Learnt<'a> {
    pub(super) universe: &'a Universe,
    pub(super) stream: &'a [StreamTask],
    pub(super) library: &'a SkillLibrary,
    pub(super) since: &'a Since,
}

impl Learnt<'_> {
    /// The prompts of held-out tasks, in the order of the report.
    pub(super) fn given(&self, report: &RunReport, held_out: &[StreamTask]) -> Vec<Given> {
        let tasks = report.tasks.iter();
        let given = tasks.filter_map(|report| {
            let mut tasks = held_out.iter();
            let task = tasks.find(|task| task.id == report.task.as_str())?;
            Some(self.of_task(report, task))
        });
        given.collect()
    }

    fn of_task(&self, report: &TaskReport, task: &StreamTask) -> Given {
        let attempt = report.attempts.first();
        let shown = attempt.map_or(&[][..], |attempt| &attempt.injected);
        let truth = Recipe::of_target(&task.world);
        let mut used = self.library.entries();
        let known = used.any(|entry| {
            let said = || read(&entry.skill.body).zip(truth.as_ref());
            entry.skill.state == State::Active
                && said().is_some_and(|(said, truth)| said.does_the_same(truth))
        });
        Given {
            tool: task.world.goal.target.to_string(),
            hidden: task.world.is_hidden(),
            shown: shown.iter().filter_map(|one| self.shown(one)).collect(),
            used: attempt.map_or(SkillUse::NotFollowed, |attempt| attempt.used),
            known,
        }
    }

    fn shown(&self, skill: &SkillRef) -> Option<Shown> {
        let entry = self.library.get(&skill.id)?;
        let version = self.library.version(skill)?;
        let said = read(&version.body);
        let mut members = self.universe.members().iter();
        let member = said
            .as_ref()
            .and_then(|said| members.find(|member| member.service.tool.name == said.tool));
        let truth = member.map(|member| Recipe::of(&member.service, &member.given));
        let right = said.as_ref().zip(truth.as_ref());
        let counts = entry.life.counts_of_all_trials(skill.version);
        let tasks = version.provenance.tasks.iter();
        let tasks: Vec<String> = tasks.map(ToString::to_string).collect();
        Some(Shown {
            skill: skill.clone(),
            right: right.is_some_and(|(said, truth)| said.does_the_same(truth)),
            tool: said.map(|said| said.tool.to_string()),
            body: version.body.clone(),
            origin: version.provenance.origin,
            passing: tasks.iter().any(|task| self.passes(task)),
            tasks,
            since: self.since.get(&skill.id).copied().unwrap_or_default(),
            judged: [
                counts.helpful,
                counts.harmful,
                counts.neutral,
                counts.uncertain,
            ],
            cases: self.cases(entry),
        })
    }

    /// Whether a task of the stream has a demand that passes.
    fn passes(&self, task: &str) -> bool {
        let mut stream = self.stream.iter();
        stream.any(|one| one.id == task && one.passing)
    }

    fn cases(&self, entry: &Entry) -> Vec<String> {
        let outcomes = entry.life.tested.as_ref();
        let outcomes = outcomes.map_or(&[][..], |tested| &tested.outcomes);
        let cases = entry.life.bundle.iter().map(|bundled| {
            let case = &bundled.case;
            let mut outcomes = outcomes.iter();
            let outcome = outcomes.find(|outcome| outcome.name == case.name);
            let went = match outcome {
                None => "not played",
                Some(outcome) if outcome.has_passed() => "passed",
                Some(outcome) => outcome.reason().unwrap_or("failed"),
            };
            let passing = match self.passes(case.task.id.as_str()) {
                true => ", passing demand",
                false => "",
            };
            let (task, most) = (&case.task.id, case.refusals);
            format!(
                "{:?} of {task}{passing}, {most} refusals: {went}",
                case.kind
            )
        });
        cases.collect()
    }

    /// The kept attempts of the stream.
    pub(super) fn made(&self) -> Vec<Made> {
        let made = self.library.traces().filter_map(|trace| {
            let mut stream = self.stream.iter();
            let task = stream.find(|task| task.id == trace.task.id.as_str())?;
            let steps = trace.trajectory.steps.iter();
            let exposures = trace.trajectory.exposures.iter();
            Some(Made {
                task: task.id.clone(),
                tool: task.world.goal.target.to_string(),
                passing: task.passing,
                done: trace.is_success(),
                refusals: steps.filter(|step| step.result.is_error).count(),
                skills: exposures.map(|one| (one.skill.clone(), one.used)).collect(),
            })
        });
        made.collect()
    }
}

/// What a prompt has for its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Has {
    Nothing,
    /// Skills of other tools.
    Others,
    /// A skill of the task's tool that says what the tool asks for.
    Right,
    /// A skill of the task's tool that says something else, and none that is right.
    Wrong,
}

const HAS: [(Has, &str); 4] = [
    (Has::Nothing, "no skill"),
    (Has::Others, "skills of other tools alone"),
    (Has::Right, "the right skill of its tool"),
    (Has::Wrong, "a wrong skill of its tool"),
];

impl Given {
    fn has(&self) -> Has {
        let shown = self.shown.iter();
        let own: Vec<&Shown> = shown.filter(|one| self.is_own(one)).collect();
        match (self.shown.is_empty(), own.is_empty()) {
            (true, _) => Has::Nothing,
            (false, true) => Has::Others,
            (false, false) if own.iter().any(|one| one.right) => Has::Right,
            (false, false) => Has::Wrong,
        }
    }

    /// Whether a wrong skill of the task's tool was written from a task with a demand that passes.
    fn has_passing(&self) -> bool {
        let mut shown = self.shown.iter();
        shown.any(|one| one.passing && !one.right && self.is_own(one))
    }

    /// Whether a skill is about the task's tool.
    fn is_own(&self, one: &Shown) -> bool {
        one.tool.as_ref() == Some(&self.tool)
    }
}

/// Records for each kind of prompt how many tasks had it, how many of these followed a skill, and how many went worse than without
/// skills. `tasks` are prompts with the scores with and without the library.
pub(super) fn record(figures: &mut Figures<'_>, name: &str, tasks: &[(&Given, f64, f64)]) {
    let mut told = |what: &str, holds: &dyn Fn(&Given, bool) -> bool| {
        let of = tasks.iter();
        let count = of.filter(|(given, with, without)| holds(given, with < without));
        figures.record(
            &format!("{name}, {what}"),
            count.count() as f64,
            Bound::None,
        );
    };
    for hidden in [true, false] {
        let kind = match hidden {
            true => "hidden contract",
            false => "no hidden contract",
        };
        for (has, what) in HAS {
            let is = |given: &Given| given.hidden == hidden && given.has() == has;
            told(&format!("{kind}, {what}.tasks"), &|given, _| is(given));
            told(&format!("{kind}, {what}.followed"), &|given, _| {
                is(given) && given.used.is_followed()
            });
            told(&format!("{kind}, {what}.harmed"), &|given, harmed| {
                is(given) && harmed
            });
        }
    }
    told("all.tasks", &|_, _| true);
    told("all.harmed", &|_, harmed| harmed);
    told(
        "wrong skill of a passing demand.harmed",
        &|given, harmed| harmed && given.has() == Has::Wrong && given.has_passing(),
    );
    told(
        "right skill in use, not in the prompt.harmed",
        &|given, harmed| harmed && given.known && given.has() != Has::Right,
    );
}

#[cfg(test)]
mod tests {
    use journeyman::Version;

    use super::*;

    #[test]
    fn a_prompt_is_told_by_the_skills_of_its_own_tool() {
        let shown = |tool: &str, right| Shown {
            skill: SkillRef {
                id: "one".into(),
                version: Version(1),
            },
            tool: Some(tool.to_owned()),
            right,
            body: String::new(),
            origin: Origin::Extracted,
            tasks: Vec::new(),
            passing: true,
            since: 20,
            judged: [0; 4],
            cases: Vec::new(),
        };
        let given = |shown| Given {
            tool: "open jar".to_owned(),
            hidden: false,
            shown,
            used: SkillUse::Followed,
            known: false,
        };
        assert_eq!(given(Vec::new()).has(), Has::Nothing);
        assert_eq!(given(vec![shown("cut rope", true)]).has(), Has::Others);
        let wrong = given(vec![shown("cut rope", true), shown("open jar", false)]);
        assert_eq!(wrong.has(), Has::Wrong);
        assert!(wrong.has_passing());
        let right = given(vec![shown("open jar", false), shown("open jar", true)]);
        assert_eq!(right.has(), Has::Right);
    }
}
