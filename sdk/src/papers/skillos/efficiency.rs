//! Steps and tokens a task, and the mix of a curator's calls over the stream (SkillOS, evaluation and findings; row K6).

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::{
    domain::Usage,
    run::report::{CallCounts, TaskReport},
};

/// The cost of the attempts of a stream of tasks, and what a curator did in it.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use journeyman::{papers::skillos::Efficiency, testing::sample};
///
/// let mut task = sample::task_report("t-1");
/// task.attempts = vec![sample::attempt_report("a-1", &[], true)];
/// let window = NonZeroUsize::new(10).expect("not 0");
/// let efficiency = Efficiency::of(&[task], window);
/// assert_eq!((efficiency.attempts, efficiency.steps), (1, Some(1.0)));
/// assert_eq!(efficiency.windows.len(), 1);
/// ```
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Efficiency {
    /// Number of tasks.
    pub tasks: u64,
    /// Number of attempts that were made and not ended by a part's fault.
    pub attempts: u64,
    /// The mean number of steps of these attempts; `None` for no attempt. The paper's interaction steps a task, where each
    /// task has one attempt.
    pub steps: Option<f64>,
    /// The mean number of tokens of the agent in these attempts, prompts and outputs together; `None` for no attempt.
    pub tokens: Option<f64>,
    /// The mean number of tokens that roles used for a task, the curator's with them, failed calls included; `None` for no
    /// task.
    pub role_tokens: Option<f64>,
    /// The curator's calls, window by window, in the order of the stream; the last window may be shorter.
    pub windows: Vec<CallWindow>,
}

/// A curator's calls after some tasks that follow one another.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWindow {
    /// The place of the first task in the stream, from 0.
    pub first: u64,
    /// Number of tasks, at least 1.
    pub tasks: u64,
    /// Number of these tasks after which a curator was asked.
    pub asked: u64,
    /// The calls.
    pub calls: CallCounts,
}

impl CallWindow {
    /// The shares of inserts, updates and deletes of all calls, each in [0, 1]; `None` where there was none.
    pub fn mix(&self) -> Option<CallMix> {
        let all = self.calls.all();
        let share = |count: u32| f64::from(count) / f64::from(all);
        (all > 0).then(|| CallMix {
            insert: share(self.calls.insert),
            update: share(self.calls.update),
            delete: share(self.calls.delete),
        })
    }
}

/// The shares of the kinds of calls; they add up to 1, except for calls of unknown tools.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallMix {
    /// The share of inserts.
    pub insert: f64,
    /// The share of updates.
    pub update: f64,
    /// The share of deletes.
    pub delete: f64,
}

impl Efficiency {
    /// Measures tasks, such as those of a [`RunReport`](crate::run::report::RunReport), or of several runs one after the other. A
    /// window has so many tasks.
    pub fn of(tasks: &[TaskReport], window: NonZeroUsize) -> Self {
        let attempts = tasks.iter().flat_map(|task| &task.attempts);
        let (mut made, mut steps, mut tokens) = (0_u64, 0_u64, Usage::default());
        for attempt in attempts.filter(|one| one.end.is_some() && one.error.is_none()) {
            made += 1;
            steps += u64::from(attempt.steps);
            tokens.add(attempt.usage);
        }
        let mut roles = Usage::default();
        for task in tasks {
            roles.add(task.role_usage);
            roles.add(task.failed_usage);
        }
        let mean = |sum: u64, count: u64| (count > 0).then(|| sum as f64 / count as f64);
        let count = tasks.len() as u64;
        let firsts = (0_u64..).step_by(window.get());
        let windows = firsts.zip(tasks.chunks(window.get()));
        Self {
            tasks: count,
            attempts: made,
            steps: mean(steps, made),
            tokens: mean(tokens.total(), made),
            role_tokens: mean(roles.total(), count),
            windows: windows.map(|(first, tasks)| calls(first, tasks)).collect(),
        }
    }
}

fn calls(first: u64, tasks: &[TaskReport]) -> CallWindow {
    let mut window = CallWindow {
        first,
        tasks: tasks.len() as u64,
        asked: 0,
        calls: CallCounts::default(),
    };
    for curation in tasks.iter().filter_map(|task| task.curation.as_ref()) {
        window.asked += 1;
        window.calls.add(curation.counts());
    }
    window
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::EndReason,
        error::Error,
        run::report::{
            AttemptReport, CallKind, CallOutcome, CallRefusal, CuratedCall, CurationReport,
        },
        testing::sample,
    };

    fn attempt(steps: u32, tokens: u64) -> AttemptReport {
        AttemptReport {
            steps,
            usage: usage(tokens),
            ..sample::attempt_report("a", &[], true)
        }
    }

    fn usage(tokens: u64) -> Usage {
        Usage {
            prompt_tokens: tokens - 1,
            output_tokens: 1,
        }
    }

    fn task(attempts: Vec<AttemptReport>, kinds: Option<&[CallKind]>) -> TaskReport {
        let call = |kind: &CallKind| CuratedCall {
            kind: *kind,
            about: String::new(),
            outcome: CallOutcome::Refused(CallRefusal::NotFound),
        };
        TaskReport {
            attempts,
            curation: kinds.map(|kinds| CurationReport {
                calls: kinds.iter().map(call).collect(),
                ..CurationReport::default()
            }),
            ..sample::task_report("t")
        }
    }

    fn of(tasks: &[TaskReport], window: usize) -> Efficiency {
        Efficiency::of(tasks, NonZeroUsize::new(window).unwrap())
    }

    #[test]
    fn steps_and_tokens_are_those_of_attempts_that_were_made() {
        assert_eq!(of(&[], 3), Efficiency::default());
        let unmade = AttemptReport {
            end: None,
            ..attempt(0, 1)
        };
        let faulty = AttemptReport {
            error: Some(Error::invalid("Judge::judge", "it failed")),
            end: Some(EndReason::Finished),
            ..attempt(90, 90)
        };
        let mut first = task(vec![attempt(2, 10), unmade], None);
        first.role_usage = usage(30);
        first.failed_usage = usage(6);
        let tasks = [first, task(vec![attempt(4, 30), faulty], None)];
        let efficiency = of(&tasks, 3);
        assert_eq!((efficiency.tasks, efficiency.attempts), (2, 2));
        assert_eq!(
            (efficiency.steps, efficiency.tokens),
            (Some(3.0), Some(20.0))
        );
        assert_eq!(efficiency.role_tokens, Some(18.0));
        assert_eq!(of(&[task(Vec::new(), None)], 1).steps, None);
        let mut vast = task(vec![attempt(1, u64::MAX), attempt(1, u64::MAX)], None);
        (vast.role_usage, vast.failed_usage) = (usage(u64::MAX), usage(u64::MAX));
        let vast = of(&[vast], 1);
        let most = u64::MAX as f64;
        assert_eq!(
            (vast.tokens, vast.role_tokens),
            (Some(most / 2.0), Some(most))
        );
    }

    #[test]
    fn the_mix_of_calls_is_counted_window_by_window() {
        use CallKind::{Delete, Insert, Unknown, Update};
        let asked: [Option<&[CallKind]>; 5] = [
            Some(&[Insert, Insert]),
            Some(&[Insert, Update]),
            None,
            Some(&[]),
            Some(&[Update, Delete, Unknown, Update]),
        ];
        let tasks: Vec<TaskReport> = asked.map(|kinds| task(Vec::new(), kinds)).to_vec();
        let windows = of(&tasks, 2).windows;
        let counted: Vec<(u64, u64, u64, u32)> = windows
            .iter()
            .map(|one| (one.first, one.tasks, one.asked, one.calls.all()))
            .collect();
        assert_eq!(counted, [(0, 2, 2, 4), (2, 2, 1, 0), (4, 1, 1, 4)]);
        let mix = |insert, update, delete| {
            Some(CallMix {
                insert,
                update,
                delete,
            })
        };
        let mixes: Vec<Option<CallMix>> = windows.iter().map(CallWindow::mix).collect();
        assert_eq!(mixes, [mix(0.75, 0.25, 0.0), None, mix(0.0, 0.5, 0.25)]);
        assert_eq!(of(&tasks, 9).windows.len(), 1);
    }
}
