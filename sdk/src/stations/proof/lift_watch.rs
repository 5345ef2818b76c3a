//! The verdicts of the ledger of lifts, brought up to date task by task.

use std::collections::BTreeMap;

use super::{
    EvidenceAbove, LiftOf, LiftPolicy, Lifts,
    lifts::{drawn, verdicts},
};
use crate::{
    domain::{Committed, LibraryChange},
    id::ModelId,
    library::SkillLibrary,
    run::report::LiftReport,
};

/// What was given or withheld, and the model that acted.
type Of = (LiftOf, Option<ModelId>);

/// The verdicts on a library's lifts, which are those of [`Lifts`]. A task that comes in is counted once: reading the whole ledger after each
/// task would take as long as it has tasks.
#[derive(Clone, Debug, Default)]
pub(crate) struct LiftWatch {
    followed: BTreeMap<Of, Followed>,
    /// The number from which on the ledger's tasks are not counted yet; `None` before the first look.
    next: Option<u64>,
}

#[derive(Clone, Debug)]
struct Followed {
    gain: EvidenceAbove,
    harm: EvidenceAbove,
    /// The verdict that the last event reported: whether it helps; `None` where that is not known.
    helps: Option<bool>,
}

impl Default for Followed {
    fn default() -> Self {
        Self {
            gain: EvidenceAbove::new(0.0),
            harm: EvidenceAbove::new(0.0),
            helps: None,
        }
    }
}

impl LiftWatch {
    /// Whether a ledger was read.
    pub(crate) fn has_begun(&self) -> bool {
        self.next.is_some()
    }

    /// Counts what came since the last look, by these commits of others, and tells nothing of it: not of tasks that they took back either, which
    /// no run does. The first look reads the whole ledger, and so does the one after tasks were taken back.
    pub(crate) fn follow(
        &mut self,
        library: &SkillLibrary,
        committed: &[Committed],
        policy: &LiftPolicy,
    ) {
        if takes_back(committed) {
            *self = Self::default();
        }
        if !self.has_begun() || self.is_behind(library) {
            self.count(library);
            self.judge(policy);
        }
    }

    /// Counts what came since the last look, by a run's own commits, and gives the lifts on which the verdict is another one now.
    pub(crate) fn changed(
        &mut self,
        library: &SkillLibrary,
        policy: &LiftPolicy,
    ) -> Vec<LiftReport> {
        if !self.is_behind(library) {
            return Vec::new();
        }
        self.count(library);
        let changed = self.judge(policy);
        Lifts::reports(library, &changed, *policy)
    }

    fn is_behind(&self, library: &SkillLibrary) -> bool {
        let next = self.next.unwrap_or_default();
        library.assignments_since(next).next().is_some()
    }

    fn count(&mut self, library: &SkillLibrary) {
        let mut next = self.next.unwrap_or_default();
        for (number, assignment) in library.assignments_since(next) {
            next = number + 1;
            let (share, outcome) = (assignment.share, assignment.success);
            for (of, given) in drawn(assignment) {
                let of = (of, assignment.model.clone());
                let Followed { gain, harm, .. } = self.followed.entry(of).or_default();
                gain.add(given, share, outcome);
                harm.add(given, share, 1.0 - outcome);
            }
        }
        self.next = Some(next);
    }

    /// Judges the library and the skills anew; those of which it says something else than before.
    fn judge(&mut self, policy: &LiftPolicy) -> Vec<Of> {
        let rate = policy.false_discoveries;
        let mut changed = Vec::new();
        for skills in [false, true] {
            let asked = self.followed.iter_mut();
            let asked = asked.filter(|((of, _), _)| (*of != LiftOf::Library) == skills);
            let asked: Vec<(&Of, &mut Followed)> = asked.collect();
            let evidence = asked.iter();
            let evidence = evidence.map(|(_, one)| [one.gain.value(), one.harm.value()]);
            let found = verdicts(&evidence.collect::<Vec<_>>(), rate);
            for ((of, followed), helps) in asked.into_iter().zip(found) {
                if std::mem::replace(&mut followed.helps, helps) != helps {
                    changed.push(of.clone());
                }
            }
        }
        changed
    }
}

/// Whether one of these commits takes tasks out of the ledger.
fn takes_back(committed: &[Committed]) -> bool {
    let mut changes = committed.iter().flat_map(|one| &one.changes);
    changes.any(|change| matches!(change, LibraryChange::RetireRun { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AssignedSkill, Assignment, Cause, SkillRef},
        id::{AttemptId, RunId, Seed},
        stations::proof::LiftVerdict,
        testing::sample,
    };

    /// A task that was given the skill, or was not: it is done with such a probability.
    fn task(number: u64, skill: &SkillRef, [with, without]: [f64; 2]) -> Assignment {
        let draw = |label: &str| Seed(5).derive(label, number).unit();
        let given = draw("given") < 0.5;
        let done = draw("done") < if given { with } else { without };
        Assignment {
            attempt: AttemptId::new(format!("{}/{number}", skill.id)),
            task: format!("{number}").into(),
            category: Some("kitchen".into()),
            model: Some("m".into()),
            share: 0.5,
            without: !given,
            by_skill: true,
            skills: vec![AssignedSkill {
                skill: skill.clone(),
                given,
            }],
            success: f64::from(u8::from(done)),
            score: f64::from(u8::from(done)),
            steps: 4.0,
            tokens: 500.0,
        }
    }

    /// A library that a test commits to, and the watch that reports its lifts.
    #[derive(Default)]
    struct Told {
        library: SkillLibrary,
        watch: LiftWatch,
        known: BTreeMap<Option<SkillRef>, bool>,
    }

    impl Told {
        /// Applies a commit of a run, and returns the verdicts that it changes.
        fn commit(&mut self, run: &str, changes: Vec<LibraryChange>) -> Vec<LiftReport> {
            let policy = LiftPolicy::default();
            self.watch.follow(&self.library, &[], &policy);
            let next = self.library.revision().next().0;
            let sample = sample::committed(next, changes);
            let cause = Cause {
                run: Some(RunId::new(run)),
                ..sample.cause
            };
            let committed = Committed { cause, ..sample };
            self.library.apply(&committed).expect("it applies");
            let told = self.watch.changed(&self.library, &policy);
            for lift in &told {
                match lift.helps {
                    Some(helps) => self.known.insert(lift.skill.clone(), helps),
                    None => self.known.remove(&lift.skill),
                };
            }
            told
        }

        /// Applies a host's commit that takes the tasks of a run back.
        fn retire(&mut self, run: &str) {
            let next = self.library.revision().next().0;
            let change = LibraryChange::RetireRun {
                run: RunId::new(run),
                reason: "a bad day".to_owned(),
            };
            let committed = sample::committed(next, vec![change]);
            self.library.apply(&committed).expect("it applies");
            let policy = LiftPolicy::default();
            self.watch.follow(&self.library, &[committed], &policy);
        }

        /// The verdicts by which a change is one.
        fn watched(&self) -> BTreeMap<Option<SkillRef>, bool> {
            let followed = self.watch.followed.iter();
            let known = followed.filter_map(|((of, _), one)| {
                let skill = match of {
                    LiftOf::Library => None,
                    LiftOf::Skill(skill) => Some(skill.clone()),
                };
                Some((skill, one.helps?))
            });
            known.collect()
        }

        /// What the whole ledger says.
        fn ledger(&self) -> (Lifts, BTreeMap<Option<SkillRef>, bool>) {
            let lifts = Lifts::of(&self.library, LiftPolicy::default()).expect("a ledger");
            let all = lifts.lifts.iter().filter(|lift| lift.category.is_none());
            let known = all.filter_map(|lift| {
                let skill = match &lift.of {
                    LiftOf::Library => None,
                    LiftOf::Skill(skill) => Some(skill.clone()),
                };
                match lift.verdict? {
                    LiftVerdict::Helps => Some((skill, true)),
                    LiftVerdict::Harms => Some((skill, false)),
                    LiftVerdict::NotYet { .. } => None,
                }
            });
            let known = known.collect();
            (lifts, known)
        }
    }

    #[test]
    fn after_each_task_what_was_told_is_what_the_whole_ledger_says() {
        let [good, bad, idle] = ["good", "bad", "idle"].map(|name| sample::skill(name).reference());
        let mut told = Told::default();
        let skills = ["good", "bad"].map(|name| LibraryChange::Add(Box::new(sample::skill(name))));
        told.commit("start", skills.into());
        let mut count = 0;
        for number in 0..150 {
            let tasks = [(&good, [0.9, 0.2]), (&bad, [0.1, 0.9]), (&idle, [0.5, 0.5])];
            let tasks = tasks.map(|(skill, shares)| task(number, skill, shares));
            let changes = tasks.map(|task| LibraryChange::Assign(Box::new(task)));
            let changed = told.commit("run", changes.into());
            let (lifts, known) = told.ledger();
            assert_eq!(told.known, known, "after {number}");
            for lift in &changed {
                if let Some(skill) = &lift.skill {
                    let all = lifts.skill(skill, lift.model.as_ref()).expect("there");
                    assert_eq!((lift.given, lift.withheld), all.tasks());
                    assert_eq!(lift.difference, all.success.estimate());
                    let range = all.success.interval(0.05);
                    assert_eq!((lift.low, lift.high), (range.low, range.high));
                    assert_eq!(lift.name, all.name);
                }
            }
            count += changed.len();
        }
        assert_eq!(told.known.get(&Some(good)), Some(&true));
        assert_eq!(told.known.get(&Some(bad)), Some(&false));
        // Verdicts that stay are told once.
        assert!((2..20).contains(&count), "{count}");
        // One who looks for the first time knows the same, and has nothing to tell.
        let mut late = LiftWatch::default();
        let policy = LiftPolicy::default();
        late.follow(&told.library, &[], &policy);
        assert!(late.changed(&told.library, &policy).is_empty());
    }

    #[test]
    fn tasks_that_others_take_back_take_the_verdict_with_them_and_no_run_tells_it() {
        let good = sample::skill("good").reference();
        let both = BTreeMap::from([(None, true), (Some(good.clone()), true)]);
        let task = |number: u64| {
            let assignment = task(number, &good, [1.0, 0.0]);
            vec![LibraryChange::Assign(Box::new(assignment))]
        };
        // Fifty tasks of one run, and ten of a later one.
        let proven = || {
            let mut told = Told::default();
            for number in 0..60 {
                told.commit(if number < 50 { "run" } else { "later" }, task(number));
            }
            assert_eq!((&told.known, &told.watched()), (&both, &both));
            told
        };
        // Ten tasks alone are no proof.
        let mut told = proven();
        told.retire("run");
        assert!(told.watched().is_empty() && told.ledger().1.is_empty());
        // The verdict is told when later tasks bring it again.
        let again = (60..110).flat_map(|number| told.commit("next", task(number)));
        let again: Vec<LiftReport> = again.collect();
        assert!(!again.is_empty() && again.iter().all(|lift| lift.helps == Some(true)));
        assert_eq!(told.watched(), both);
        // Fifty are, and none are not.
        let mut told = proven();
        told.retire("later");
        assert_eq!(told.watched(), both);
        told.retire("run");
        assert!(told.watched().is_empty());
    }
}
