//! Skills with which tasks take longer: by the tasks that chance left without them, and by the like tasks that a session saw.

use std::collections::{BTreeMap, btree_map::Entry};

use crate::{
    contract::Components,
    domain::{Decision, Selection, SkillName, SkillRef},
    id::{Category, Seed, SkillId, Version},
    library::SkillLibrary,
    run::report::{AttemptReport, Finding, FindingKind, TaskReport},
    stations::{
        proof::{
            ComparePolicy, Comparison, Length, Lengths, Lift, LiftOf, LiftPolicy, Lifts,
            discoveries,
        },
        propose::{alike, instruction_words},
    },
};

/// The least number of tasks with a skill, and of like tasks without any, before a session says something of it.
const LEAST: u64 = 8;

/// The share of what a session says that may be false in the mean, where the order of like tasks has nothing to do with how long they are.
const FALSE: f64 = 0.05;

/// Number of kinds of tasks that a session looks at, the first that it meets.
const MOST_KINDS: usize = 256;

/// The findings of the skills in use with which, as the ledger of lifts knows, tasks take longer.
pub(super) fn known(components: &Components, library: &SkillLibrary) -> Vec<Finding> {
    if library.assignments().next().is_none() {
        return Vec::new();
    }
    let Ok(lifts) = Lifts::of(library, LiftPolicy::default()) else {
        return Vec::new();
    };
    let acting = components.acting_model();
    let acts = |lift: &Lift| {
        let model = lift.model.as_ref();
        model.is_none() || acting.is_none() || model == acting
    };
    let mut longer: BTreeMap<&SkillId, (&SkillName, Vec<String>)> = BTreeMap::new();
    for lift in lifts.lifts.iter().filter(|lift| lift.longer && acts(lift)) {
        let LiftOf::Skill(skill) = &lift.of else {
            continue;
        };
        let Some(entry) = library.get(&skill.id) else {
            continue;
        };
        let now = &entry.skill;
        if now.state.is_offered() && now.version == skill.version {
            let (_, told) = longer.entry(&now.id).or_insert((&now.name, Vec::new()));
            told.push(by_chance(lift));
        }
    }
    let findings = longer.into_iter().map(|(id, (name, told))| {
        let finding = Finding::new(
            FindingKind::TakesLonger,
            format!("tasks take longer with the skill {name}"),
            told.join("; "),
            "take it out of use (`Journeyman::set_state`), or have a new version written; a task that is done counts as done however many steps \
             it took, unless you let the length count (docs/how-to/measure-skills.md)",
        );
        finding.about(id.as_str())
    });
    findings.collect()
}

fn by_chance(lift: &Lift) -> String {
    let (given, withheld) = lift.tasks();
    let more = lift.steps.estimate().unwrap_or_default();
    let of = lift.category.as_ref();
    let of = of.map_or_else(String::new, |category| {
        format!(" of the category {category}")
    });
    format!(
        "{more:+.1} steps in the mean, by {given} tasks{of} with it and {withheld} that chance left without"
    )
}

/// What the tasks of a session's learning took, by their kind: those of a category, or, without one, those with similar instructions.
///
/// The tasks of a kind without any skill and those with one skill are ranked among each other in their order, ties by chance. Where the order
/// has nothing to do with how long they are, and the skill neither, each rank is uniform and independent of those before (Vovk,
/// Nouretdinov and Gammerman 2003), so that a bet on high ranks of the tasks with the skill is fair. The bets are those of
/// [`Comparison`], and over all skills and kinds together those of [`discoveries`].
#[derive(Debug, Default)]
pub(crate) struct Longer {
    seed: Seed,
    kinds: Vec<Kind>,
    /// Number of tasks that were ranked.
    ranked: u64,
}

/// Tasks of one kind.
#[derive(Debug)]
struct Kind {
    category: Option<Category>,
    /// Digests of the words of its first task's instruction; empty with a category.
    words: Vec<u16>,
    /// Those without any skill.
    lengths: Lengths,
    without: Taken,
    with: BTreeMap<SkillId, With>,
}

/// The tasks of a kind with one skill alone.
#[derive(Debug)]
struct With {
    version: Version,
    lengths: Lengths,
    taken: Taken,
    bets: Comparison,
}

/// Sums over tasks.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    tasks: u64,
    steps: f64,
    done: f64,
}

impl Taken {
    /// A task, by its judged attempts; `None` without one.
    fn of(report: &TaskReport) -> Option<Self> {
        let judged = report.attempts.iter();
        let judged = judged.filter_map(|one| Some((one, one.success?)));
        let judged: Vec<(&AttemptReport, bool)> = judged.collect();
        let count = judged.len() as f64;
        let steps = judged.iter().map(|(one, _)| f64::from(one.steps));
        let done = judged.iter().filter(|(_, success)| *success);
        (!judged.is_empty()).then(|| Self {
            tasks: 1,
            steps: steps.sum::<f64>() / count,
            done: done.count() as f64 / count,
        })
    }

    fn add(&mut self, more: Self) {
        self.tasks += more.tasks;
        self.steps += more.steps;
        self.done += more.done;
    }

    /// The mean number of steps.
    fn mean(&self) -> f64 {
        self.steps / self.tasks.max(1) as f64
    }

    /// The share of attempts that did their task, in percent.
    fn percent(&self) -> f64 {
        100.0 * self.done / self.tasks.max(1) as f64
    }
}

impl Longer {
    /// Nothing yet; the seed breaks ties.
    pub(super) fn new(seed: Seed) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// Counts a task that was learned from.
    pub(super) fn add(&mut self, report: &TaskReport, instruction: &str) {
        let (Some(skills), Some(taken)) = (given(report), Taken::of(report)) else {
            return;
        };
        let Some(place) = self.kind(report.category.as_ref(), instruction) else {
            return;
        };
        let Some(kind) = self.kinds.get_mut(place) else {
            return;
        };
        let length = Length::of(taken.done, taken.steps);
        let Some(skill) = skills.first() else {
            kind.lengths.add(length);
            kind.without.add(taken);
            return;
        };
        let (shorter, same) = kind.lengths.up_to(length);
        let without = kind.lengths.tasks();
        let Some(with) = kind.with(skill) else {
            return;
        };
        with.taken.add(taken);
        // It is one of those of its own length.
        with.lengths.add(length);
        let (shorter_with, same_with) = with.lengths.up_to(length);
        let (shorter, same) = (shorter + shorter_with, same + same_with);
        self.ranked += 1;
        let part = self.seed.derive("length", self.ranked).unit();
        let all = without + with.lengths.tasks();
        let rank = (shorter as f64 + part * same as f64) / all as f64;
        with.bets.add(1.0 - rank, rank);
    }

    /// The place of a task's kind, a new one where it is the first; `None` where there are too many.
    fn kind(&mut self, category: Option<&Category>, instruction: &str) -> Option<usize> {
        let words = match category {
            Some(_) => Vec::new(),
            None => instruction_words(instruction),
        };
        let is_it = |kind: &Kind| match category {
            Some(_) => kind.category.as_ref() == category,
            None => kind.category.is_none() && alike(&kind.words, &words),
        };
        let known = self.kinds.iter().position(is_it);
        if known.is_some() || self.kinds.len() >= MOST_KINDS {
            return known;
        }
        self.kinds.push(Kind {
            category: category.cloned(),
            words,
            lengths: Lengths::default(),
            without: Taken::default(),
            with: BTreeMap::new(),
        });
        Some(self.kinds.len() - 1)
    }

    /// Forgets what tasks took with a skill.
    pub(super) fn forget(&mut self, skill: &SkillId) {
        for kind in &mut self.kinds {
            kind.with.remove(skill);
        }
    }

    /// The findings of the skills with which tasks seem to take longer, by their names.
    pub(super) fn findings(&self, name: impl Fn(&SkillId) -> Option<SkillName>) -> Vec<Finding> {
        let all = self.kinds.iter();
        let all = all.flat_map(|kind| kind.with.iter().map(move |(id, with)| (kind, id, with)));
        let enough =
            all.filter(|(kind, _, with)| kind.without.tasks.min(with.taken.tasks) >= LEAST);
        let asked: Vec<(&Kind, &SkillId, &With)> = enough.collect();
        let evidence = asked.iter().map(|(kind, _, with)| {
            // Less evidence than there is keeps the rate.
            let more = with.taken.mean() > kind.without.mean();
            if more {
                with.bets.evidence_of_gain()
            } else {
                0.0
            }
        });
        let found = discoveries(&evidence.collect::<Vec<_>>(), FALSE);
        let mut longer: BTreeMap<&SkillId, Vec<String>> = BTreeMap::new();
        for ((kind, id, with), _) in asked.iter().zip(found).filter(|(_, found)| *found) {
            longer.entry(*id).or_default().push(kind.seen(with));
        }
        let findings = longer.into_iter().map(|(id, seen)| {
            let name = name(id);
            let name = name.as_ref().map_or(id.as_str(), SkillName::as_str);
            let finding = Finding::new(
                FindingKind::SeemsToTakeLonger,
                format!("in this session, tasks took longer with the skill {name} than like tasks without any"),
                seen.join("; "),
                "read an attempt with it: if the skill is not for such tasks, say so in its description, or take it out of use (`Journeyman::set_state`); \
                 if it is given at the longer ones of these tasks, that is why: give tasks a narrower `Task::category`, or let chance tell \
                 (`SelectPolicy::withhold`)",
            );
            finding.about(id.as_str())
        });
        findings.collect()
    }
}

impl Kind {
    /// The tasks with a skill, those of its present version alone.
    fn with(&mut self, skill: &SkillRef) -> Option<&mut With> {
        let new = || {
            Some(With {
                version: skill.version,
                lengths: Lengths::default(),
                taken: Taken::default(),
                bets: Comparison::new(ComparePolicy::default()).ok()?,
            })
        };
        let with = match self.with.entry(skill.id.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(new()?),
        };
        if with.version != skill.version {
            *with = new()?;
        }
        Some(with)
    }

    /// What was seen of its tasks with a skill and without any.
    fn seen(&self, with: &With) -> String {
        let of = match &self.category {
            Some(category) => format!("of the category {category}"),
            None => "with similar instructions".to_owned(),
        };
        let (taken, without) = (&with.taken, &self.without);
        format!(
            "{} tasks {of} with it took {:.1} steps in the mean ({:.0}% done), {} without any skill {:.1} ({:.0}% done)",
            taken.tasks,
            taken.mean(),
            taken.percent(),
            without.tasks,
            without.mean(),
            without.percent()
        )
    }
}

/// The skill that all attempts at a task had, or none; `None` where they differ or had several, and where chance chose.
fn given(report: &TaskReport) -> Option<&[SkillRef]> {
    let by_chance = |one: &Selection| {
        let explored = matches!(one.decision, Decision::Inject { explored: true, .. });
        explored || one.withheld.is_some()
    };
    if report.selections.iter().any(by_chance) {
        return None;
    }
    let mut attempts = report.attempts.iter();
    let first = attempts.next()?.injected.as_slice();
    let is_same = attempts.all(|one| one.injected == first);
    (is_same && first.len() <= 1).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{AssignedSkill, Assignment, LibraryChange, State},
        id::{AttemptId, ModelId, TaskId},
        testing::{Edited as _, sample},
    };

    const REFUND: &str = "Refund the ticket of a customer.";
    const BOOK: &str = "Book a table for the evening.";

    /// A task that took so many steps, with a skill or without any.
    fn task(skill: Option<&str>, steps: u32, success: bool) -> TaskReport {
        let skills: Vec<_> = skill.map(sample::skill).into_iter().collect();
        let mut attempt = sample::attempt_report("a", &skills, success);
        attempt.steps = steps;
        let mut report = sample::task_report("t");
        report.attempts = vec![attempt];
        report
    }

    fn told(longer: &Longer) -> Vec<String> {
        let findings = longer.findings(|id| SkillName::slug(id.as_str()));
        findings.iter().map(ToString::to_string).collect()
    }

    /// What is told after so many tasks without any skill of three steps, and then with one.
    fn after(without: u32, with: u32, steps: u32) -> Vec<String> {
        let mut longer = Longer::new(Seed(3));
        for _ in 0..without {
            longer.add(&task(None, 3, true), REFUND);
        }
        for _ in 0..with {
            longer.add(&task(Some("book"), steps, true), REFUND);
        }
        told(&longer)
    }

    #[test]
    fn a_skill_of_another_kind_with_which_tasks_take_longer_is_told_at_the_kind_where_they_do() {
        let mut longer = Longer::new(Seed(3));
        for _ in 0..16 {
            longer.add(&task(None, 3, true), REFUND);
            longer.add(&task(None, 5, true), BOOK);
        }
        for number in 0..24 {
            longer.add(&task(Some("book"), 4 + number % 3, true), REFUND);
            longer.add(&task(Some("book"), 3, true), BOOK);
        }
        let told = told(&longer);
        let [told] = told.as_slice() else {
            panic!("{told:?}");
        };
        for part in [
            "with the skill book",
            "24 tasks with similar instructions with it took 5.0 steps",
            "16 without any skill 3.0 (100% done)",
            "withhold",
        ] {
            assert!(told.contains(part), "{part:?} in {told}");
        }
        longer.forget(&SkillId::new("book"));
        assert_eq!(super::tests::told(&longer), [""; 0]);
    }

    #[test]
    fn a_handful_tells_nothing_and_neither_do_as_many_steps_or_fewer() {
        assert_eq!(after(7, 60, 6), [""; 0]);
        assert_eq!(after(60, 7, 6), [""; 0]);
        assert_eq!(after(40, 40, 3), [""; 0]);
        assert_eq!(after(40, 40, 2), [""; 0]);
        assert_eq!(after(40, 40, 4).len(), 1);
    }

    #[test]
    fn a_skill_that_does_what_failed_before_in_more_steps_is_not_told_of() {
        let mut longer = Longer::new(Seed(3));
        for _ in 0..30 {
            longer.add(&task(None, 2, false), REFUND);
        }
        for _ in 0..30 {
            longer.add(&task(Some("refund"), 5, true), REFUND);
        }
        assert_eq!(told(&longer), [""; 0]);
    }

    #[test]
    fn tasks_of_which_chance_chose_and_of_several_skills_are_left_out() {
        let chosen = |explored| {
            let mut report = task(Some("book"), 6, true);
            report.selections = vec![Selection::unscored(Decision::Inject {
                skills: vec![sample::skill("book").reference()],
                explored,
            })];
            report
        };
        assert_eq!(given(&chosen(false)).map(<[_]>::len), Some(1));
        assert_eq!(given(&chosen(true)), None);
        let mut two = task(Some("book"), 6, true);
        two.attempts.push(task(None, 3, true).attempts.remove(0));
        assert_eq!(given(&two), None);
        assert_eq!(given(&task(None, 3, true)).map(<[_]>::len), Some(0));
        // An attempt without a verdict took nothing.
        let mut open = task(None, 3, true);
        open.attempts[0].success = None;
        assert!(Taken::of(&open).is_none());
    }

    #[test]
    fn a_new_version_begins_anew_and_a_category_is_a_kind_whatever_the_words_are() {
        let mut longer = Longer::new(Seed(3));
        let kitchen = |mut report: TaskReport| {
            report.category = Some(Category::new("kitchen"));
            report
        };
        for _ in 0..20 {
            longer.add(&kitchen(task(None, 3, true)), REFUND);
        }
        for _ in 0..20 {
            longer.add(&kitchen(task(Some("book"), 6, true)), BOOK);
        }
        let before = told(&longer);
        assert!(before[0].contains("of the category kitchen"), "{before:?}");
        let mut next = kitchen(task(Some("book"), 3, true));
        next.attempts[0].injected[0].version = Version(2);
        longer.add(&next, BOOK);
        assert_eq!(told(&longer), [""; 0]);
    }

    #[test]
    fn a_session_seldom_tells_of_a_skill_that_changes_nothing() {
        let wrong = (0..200).filter(|number| {
            let seed = Seed(17).derive("session", *number);
            let mut longer = Longer::new(seed);
            (0..60).any(|number| {
                let draw = |label: &str| seed.derive(label, number).unit();
                let steps = [3, 3, 3, 4, 5];
                let steps = steps[seed.derive("steps", number).index(5).expect("of five")];
                let skill = (number >= 10 && draw("given") < 0.6).then_some("book");
                longer.add(&task(skill, steps, true), REFUND);
                !told(&longer).is_empty()
            })
        });
        // At most one in twenty in the mean.
        let wrong = wrong.count();
        assert!(wrong <= 10, "{wrong} of 200");
    }

    /// A library whose ledger has a skill of kind one, half of whose tasks chance left without it. All are done.
    fn library(steps: [f64; 2]) -> SkillLibrary {
        let skill = sample::skill("book");
        let assigned = |number: u32| {
            let given = Seed(5).derive("given", u64::from(number)).unit() < 0.5;
            let steps = if given { steps[0] } else { steps[1] };
            let task = TaskId::new(format!("t-{number}"));
            let attempt = AttemptId::new(format!("r/{number}/0"));
            let assignment = Assignment::new(attempt, task, 0.5).edited(|it| {
                it.category = Some("orders".into());
                it.model = Some("m".into());
                it.without = !given;
                it.by_skill = true;
                it.skills = vec![AssignedSkill::new(skill.reference(), given)];
                it.success = 1.0;
                it.score = 1.0;
                it.steps = steps + f64::from(number % 2);
            });
            LibraryChange::Assign(Box::new(assignment))
        };
        let mut changes = vec![LibraryChange::Add(Box::new(skill.clone()))];
        changes.extend((0..100).map(assigned));
        SkillLibrary::replay(&[sample::committed(1, changes)]).expect("a library")
    }

    #[test]
    fn the_ledger_knows_that_tasks_take_longer_with_a_skill_though_all_are_done() {
        let library = library([5.0, 3.0]);
        let lifts = Lifts::of(&library, LiftPolicy::default()).expect("a ledger");
        let model = ModelId::new("m");
        let lift = lifts.skill(&sample::skill("book").reference(), Some(&model));
        let lift = lift.expect("it was withheld");
        assert!(lift.longer, "{lifts}");
        assert!(
            lifts.to_string().contains("; tasks take longer with it: +"),
            "{lifts}"
        );
        // By what is done it is not known.
        assert_eq!(lift.success.estimate(), Some(0.0));
        let findings = known(&Components::own_loop(), &library);
        let [finding] = findings.as_slice() else {
            panic!("{findings:?}");
        };
        assert_eq!(
            (finding.kind, finding.about.as_deref()),
            (FindingKind::TakesLonger, Some("book"))
        );
        let told = finding.to_string();
        assert!(told.contains("of the category orders with it"), "{told}");
    }

    #[test]
    fn the_ledger_tells_nothing_of_a_skill_that_saves_steps_or_is_out_of_use() {
        let finds = |library: &SkillLibrary| !known(&Components::own_loop(), library).is_empty();
        assert!(!finds(&library([3.0, 5.0])) && !finds(&SkillLibrary::new()));
        let mut library = library([5.0, 3.0]);
        let change = LibraryChange::SetState {
            skill: SkillId::new("book"),
            state: State::Disabled,
            reason: "it leads astray".to_owned(),
        };
        library
            .apply(&sample::committed(2, vec![change]))
            .expect("it applies");
        assert!(!finds(&library));
    }
}
