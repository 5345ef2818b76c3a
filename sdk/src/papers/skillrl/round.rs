//! A validation round: success rates by category, and the failed attempts (SkillRL 3.3).

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet, VecDeque},
};

use crate::{
    domain::Trace,
    id::{AttemptId, Category},
    library::SkillLibrary,
    papers::skillrl::{BankPolicy, Failure},
    run::report::RunReport,
};

/// How many judged attempts were done.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SuccessRate {
    /// Number of attempts that did not fail.
    pub done: u32,
    /// Number of judged attempts.
    pub judged: u32,
}

impl SuccessRate {
    /// The share of judged attempts that did not fail, in [0, 1]; 1 where none was judged.
    pub fn value(self) -> f64 {
        match self.judged {
            0 => 1.0,
            judged => f64::from(self.done) / f64::from(judged),
        }
    }

    fn count(&mut self, failed: bool) {
        self.judged += 1;
        self.done += u32::from(!failed);
    }
}

/// A validation round (SkillRL 3.3): the success rate of each category, and its failed attempts. Tasks without a category are a
/// category of their own, `None`.
///
/// Within a run a round is the attempts at the latest tasks ([`BankPolicy::round`]). A host that evaluates on tasks of its own
/// hands over that round ([`Journeyman::evolve_bank`](crate::run::Journeyman::evolve_bank)).
///
/// ```
/// use journeyman::{papers::skillrl::{BankPolicy, Failure, ValidationRound}, testing::sample};
///
/// let task = |id: &str, category: &str| sample::task(id, &["good", "day"]).with_category(category);
/// let attempts = [
///     sample::trace("a-1", &task("t-1", "greeting"), &["good", "day"], true),
///     sample::trace("a-2", &task("t-2", "leaving"), &["day"], false),
///     sample::trace("a-3", &task("t-3", "leaving"), &["good"], false),
/// ];
/// let round = ValidationRound::of_attempts(&attempts, Failure::Verdict);
/// assert_eq!(round.success_rates()[&Some("leaving".into())].value(), 0.0);
/// // Of "leaving" alone, whose rate is below 0.4.
/// assert_eq!(round.drawn(&BankPolicy::default()).len(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValidationRound {
    rates: BTreeMap<Option<Category>, SuccessRate>,
    failures: Vec<Trace>,
}

impl ValidationRound {
    /// The round of these attempts. Attempts without a verdict do not count.
    pub fn of_attempts<'a>(
        attempts: impl IntoIterator<Item = &'a Trace>,
        failure: Failure,
    ) -> Self {
        let mut round = Self::default();
        for attempt in attempts {
            let Some(failed) = failure.has_failed(attempt) else {
                continue;
            };
            let category = attempt.task.category.clone();
            round.rates.entry(category).or_default().count(failed);
            if failed {
                round.failures.push(attempt.clone());
            }
        }
        round
    }

    /// The round of an evaluation: rates and failures by the report's verdicts ([`Failure::Verdict`]). A report has no steps, so
    /// the failed attempts themselves are looked up in `attempts`, such as those of the evaluation's journal
    /// ([`recorded_attempts`](crate::run::recorded_attempts)); failures that are not there count towards the rates alone.
    pub fn of_report(report: &RunReport, attempts: &[Trace]) -> Self {
        let mut round = Self::default();
        let mut failed: BTreeSet<&AttemptId> = BTreeSet::new();
        for task in &report.tasks {
            for attempt in &task.attempts {
                let Some(success) = attempt.success else {
                    continue;
                };
                let rate = round.rates.entry(task.category.clone()).or_default();
                rate.count(!success);
                if !success {
                    failed.insert(&attempt.attempt);
                }
            }
        }
        let failures = attempts.iter();
        let failures = failures.filter(|trace| failed.contains(&trace.trajectory.attempt));
        round.failures = failures.cloned().collect();
        round
    }

    /// The round of the latest tasks of which a library keeps attempts.
    pub(crate) fn of_latest(library: &SkillLibrary, policy: &BankPolicy) -> Self {
        let kept: Vec<&Trace> = library.traces().collect();
        let mut tasks = BTreeSet::new();
        let most = usize::try_from(policy.round.get()).unwrap_or(usize::MAX);
        let latest = kept.into_iter().rev().take_while(|trace| {
            tasks.insert(&trace.task.id);
            tasks.len() <= most
        });
        let mut latest: Vec<&Trace> = latest.collect();
        latest.reverse();
        Self::of_attempts(latest, policy.failure)
    }

    /// The success rate of each category.
    pub fn success_rates(&self) -> &BTreeMap<Option<Category>, SuccessRate> {
        &self.rates
    }

    /// The failed attempts to be distilled: of the categories whose rate is below [`BankPolicy::success`], the weakest category
    /// first, of equal ones by name; within a category those with the lowest score first, else in the order of the attempts; one
    /// of each category in turn, at most [`BankPolicy::failures`].
    pub fn drawn(&self, policy: &BankPolicy) -> Vec<&Trace> {
        let rates = self
            .rates
            .iter()
            .map(|(category, rate)| (category, rate.value()));
        let mut weak: Vec<_> = rates.filter(|(_, rate)| *rate < policy.success).collect();
        weak.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(b.0)));
        let mut queues: Vec<VecDeque<&Trace>> = weak
            .into_iter()
            .map(|(category, _)| {
                let of_category = |trace: &&Trace| trace.task.category == *category;
                let mut failures: Vec<&Trace> = self.failures.iter().filter(of_category).collect();
                failures.sort_by(|a, b| by_score(a, b));
                failures.into()
            })
            .collect();
        let most = policy.failures.get() as usize;
        let mut drawn = Vec::new();
        while drawn.len() < most && queues.iter().any(|queue| !queue.is_empty()) {
            let next = queues.iter_mut().filter_map(VecDeque::pop_front);
            drawn.extend(next.take(most - drawn.len()));
        }
        drawn
    }
}

fn by_score(one: &Trace, other: &Trace) -> Ordering {
    let score = |trace: &Trace| {
        trace
            .verdict
            .as_ref()
            .map_or(0.0, |verdict| verdict.score())
    };
    score(one).total_cmp(&score(other))
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU32, NonZeroU64};

    use super::*;
    use crate::{
        domain::{LibraryChange, Verdict},
        run::report::{AttemptReport, TaskReport},
        testing::sample,
    };

    fn attempt(id: &str, category: Option<&str>, success: bool, score: f64) -> Trace {
        let mut task = sample::task(id, &["good"]);
        task.category = category.map(Category::from);
        let mut trace = sample::trace(id, &task, &["good"], success);
        trace.verdict = Some(Verdict::scored(success, score).unwrap());
        trace
    }

    fn task_report(category: &str, attempts: Vec<AttemptReport>) -> TaskReport {
        TaskReport {
            step: 0,
            task: "t".into(),
            category: Some(category.into()),
            tags: Vec::new(),
            selections: Vec::new(),
            attempts,
            advantages: None,
            written: Vec::new(),
            curation: None,
            gains: Vec::new(),
            role_usage: Default::default(),
            failed_usage: Default::default(),
            roles: Default::default(),
            revision: Default::default(),
            failed: None,
        }
    }

    fn check(attempts: &[Trace], most: u32, expect: &[&str]) {
        let policy = BankPolicy {
            failures: NonZeroU32::new(most).unwrap(),
            ..BankPolicy::default()
        };
        let round = ValidationRound::of_attempts(attempts, Failure::Verdict);
        let drawn = round.drawn(&policy);
        let ids: Vec<&str> = drawn.iter().map(|one| one.task.id.as_str()).collect();
        assert_eq!(ids, expect);
    }

    #[test]
    fn failures_are_drawn_worst_first_and_one_of_each_weak_category_in_turn() {
        let of = attempt;
        let attempts = [
            of("a1", Some("a"), false, 0.2),
            of("a2", Some("a"), false, 0.1),
            of("a3", Some("a"), true, 1.0),
            of("b1", Some("b"), false, 0.0),
            of("b2", Some("b"), false, 0.0),
            of("c1", Some("c"), false, 0.0),
            of("c2", Some("c"), true, 1.0),
            of("n1", None, false, 0.3),
        ];
        // `c` has a rate of a half; of the others the weakest come first: none and `b` at 0, then `a` at a third.
        check(&attempts, 9, &["n1", "b1", "a2", "b2", "a1"]);
        check(&attempts, 2, &["n1", "b1"]);
        check(&attempts[5..7], 9, &[]);
        check(&[], 9, &[]);
    }

    #[test]
    fn a_refusal_is_a_failure_where_the_policy_says_so() {
        let mut recovered = attempt("r", Some("a"), true, 0.5);
        recovered.trajectory.steps[0].result.is_error = true;
        let mut undecided = attempt("u", Some("a"), false, 0.0);
        undecided.verdict = Some(Verdict::undecided());
        let attempts = [recovered, undecided, attempt("d", Some("a"), true, 1.0)];
        let rate = |failure| {
            let round = ValidationRound::of_attempts(&attempts, failure);
            round.success_rates()[&Some("a".into())]
        };
        let (done, judged) = (2, 2);
        assert_eq!(rate(Failure::Verdict), SuccessRate { done, judged });
        assert_eq!(rate(Failure::Refusal), SuccessRate { done: 1, judged });
    }

    #[test]
    fn the_round_is_the_latest_tasks() {
        let kept = ["t1", "t2", "t2", "t3"]
            .iter()
            .zip(0..)
            .map(|(task, number)| {
                let mut trace = attempt(task, None, false, 0.0);
                trace.trajectory.attempt = format!("{task}/{number}").into();
                LibraryChange::Observe(Box::new(trace))
            });
        let mut changes = vec![LibraryChange::Configure(crate::domain::TierPolicy {
            traces: 9,
            ..Default::default()
        })];
        changes.extend(kept);
        let library = SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
        let judged = |round: u64| {
            let policy = BankPolicy {
                round: NonZeroU64::new(round).unwrap(),
                ..BankPolicy::default()
            };
            let round = ValidationRound::of_latest(&library, &policy);
            round.success_rates()[&None].judged
        };
        assert_eq!((judged(1), judged(2), judged(3), judged(9)), (1, 3, 4, 4));
    }

    #[test]
    fn a_report_gives_the_rates_and_the_attempts_are_looked_up() {
        let traces = [
            attempt("a1", Some("a"), false, 0.0),
            attempt("a2", Some("a"), true, 1.0),
        ];
        let of = |id: &str, success| sample::attempt_report(id, &[], success);
        let mut unjudged = of("a4", false);
        unjudged.success = None;
        let attempts = vec![of("a1", false), of("a2", true), of("a3", false), unjudged];
        let report = RunReport {
            run: "evaluation".into(),
            seed: Default::default(),
            tasks: vec![task_report("a", attempts)],
            revision: Default::default(),
            pool: 0,
            maintenance: Default::default(),
            roles: Default::default(),
            lifts: Vec::new(),
            findings: Vec::new(),
        };
        let round = ValidationRound::of_report(&report, &traces);
        let (done, judged) = (1, 3);
        assert_eq!(
            round.success_rates()[&Some("a".into())],
            SuccessRate { done, judged }
        );
        let drawn = round.drawn(&BankPolicy::default());
        assert_eq!(drawn, [&traces[0]], "the third failure has no trace");
    }
}
