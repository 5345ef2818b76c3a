//! The reward of a curator over a group of tasks (SkillOS, training regime; row K4).

use serde::{Deserialize, Serialize};

use crate::{
    contract::Tokenizer,
    error::{Error, Result},
    library::{SkillLibrary, format::SkillMd},
    run::report::{CallCounts, RunReport, TaskReport},
};

/// The weights of the terms beside success.
///
/// ```
/// use journeyman::papers::skillos::{CompositeTerms, CompositeWeights};
///
/// // Nobody judged the quality, so the term is absent.
/// let terms = CompositeTerms::default().with_success(0.5).with_validity(1.0).with_compression(0.8);
/// let reward = CompositeWeights::default().reward(&terms)?.expect("later tasks were judged");
/// assert!((reward - (0.5 + 1.0 * 1.0 + 0.05 * 0.8)).abs() < 1e-12);
/// let judged = terms.with_quality(0.9);
/// let judged = CompositeWeights::default().reward(&judged)?.expect("as before");
/// assert!((judged - reward - 0.1 * 0.9).abs() < 1e-12);
/// # Ok::<(), journeyman::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompositeWeights {
    /// λ_f, of valid calls; finite. The paper: 1.0.
    pub validity: f64,
    /// λ_u, of content quality; finite. The paper: 0.1.
    pub quality: f64,
    /// λ_c, of compression; finite. The paper: 0.05.
    pub compression: f64,
}

impl Default for CompositeWeights {
    /// The paper's.
    fn default() -> Self {
        Self {
            validity: 1.0,
            quality: 0.1,
            compression: 0.05,
        }
    }
}

/// The terms of a curator's reward over one rollout of a group.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CompositeTerms {
    /// r_task, the mean success of the second task to the last, in [0, 1]: the first has no curation before it. A task with
    /// several attempts counts with the share of them that succeeded. Tasks that no judge decided are left out; `None` where none
    /// is left, as in a group of one task.
    pub success: Option<f64>,
    /// r_fc, the share of valid calls of all tasks together, in [0, 1]; 1 where there was no call, `None` where no curator was
    /// asked. See [`CallCounts::validity`].
    pub validity: Option<f64>,
    /// r_cnt, a judge's score of the skills' content, in [0, 1]; `None` where nobody judged it, or where the curator left no skill
    /// to judge. With [`Rollouts::reviewed`](crate::papers::skillos::Rollouts::reviewed) it is the mean quality of what the curator wrote, by
    /// the role `review`; otherwise the host may set it. The paper asks Qwen3-32B and publishes no prompt, so what a score means
    /// is ours.
    pub quality: Option<f64>,
    /// r_comp, 1 - |S| / |χ|: the tokens of the skills in use after the last task, divided by the tokens of the curator's
    /// prompts, one for each answer ([`CurationReport::context_tokens`](crate::run::report::CurationReport::context_tokens)); an answer
    /// that cannot be read leaves no count. At most 1; negative where the repository is longer than the prompts. `None` where the
    /// tokens are not known.
    pub compression: Option<f64>,
}

impl CompositeTerms {
    /// The same with this success.
    #[must_use]
    pub fn with_success(mut self, success: impl Into<Option<f64>>) -> Self {
        self.success = success.into();
        self
    }

    /// The same with this validity.
    #[must_use]
    pub fn with_validity(mut self, validity: impl Into<Option<f64>>) -> Self {
        self.validity = validity.into();
        self
    }

    /// The same with this quality.
    #[must_use]
    pub fn with_quality(mut self, quality: impl Into<Option<f64>>) -> Self {
        self.quality = quality.into();
        self
    }

    /// The same with this compression.
    #[must_use]
    pub fn with_compression(mut self, compression: impl Into<Option<f64>>) -> Self {
        self.compression = compression.into();
        self
    }
}

impl CompositeTerms {
    /// The terms of a run over one group, in the order of its tasks; no quality, which a report does not show.
    /// `repository_tokens` is the size of the library after it ([`repository_tokens`]), if the host can count.
    pub fn of(report: &RunReport, repository_tokens: Option<u64>) -> Self {
        let later = report.tasks.iter().skip(1).filter_map(success);
        let curations = || {
            let tasks = report.tasks.iter();
            tasks.filter_map(|task| task.curation.as_ref())
        };
        let mut counts = CallCounts::default();
        curations().for_each(|curation| counts.add(curation.counts()));
        let context: u64 = curations().map(|curation| curation.context_tokens).sum();
        let repository = repository_tokens.filter(|_| context > 0);
        Self {
            success: mean(later),
            validity: curations().next().map(|_| counts.validity()),
            quality: None,
            compression: repository.map(|tokens| 1.0 - tokens as f64 / context as f64),
        }
    }
}

impl CompositeWeights {
    /// The reward: success, and the other terms with their weights. A term that is not known is left out. `None` where the success
    /// of later tasks is not known: the other terms alone would reward form.
    ///
    /// # Errors
    /// `Invalid` for a weight that is not finite, and for success, validity or quality outside [0, 1].
    pub fn reward(&self, terms: &CompositeTerms) -> Result<Option<f64>> {
        let share = |name: &'static str, term: Option<f64>| match term {
            Some(value) if !(0.0..=1.0).contains(&value) => {
                Err(invalid("the term must be in [0, 1]", name, value))
            }
            term => Ok(term),
        };
        let success = share("success", terms.success)?;
        let others = [
            (
                "validity",
                self.validity,
                share("validity", terms.validity)?,
            ),
            ("quality", self.quality, share("quality", terms.quality)?),
            ("compression", self.compression, terms.compression),
        ];
        let mut reward = 0.0;
        for (name, weight, term) in others {
            if !weight.is_finite() {
                return Err(invalid("the weight must be finite", name, weight));
            }
            reward += weight * term.unwrap_or_default();
        }
        Ok(success.map(|success| success + reward))
    }
}

/// Number of tokens of the skills in use, each as the SKILL.md that the repository has of it.
///
/// # Errors
/// `Invalid` for a skill that cannot be written as SKILL.md.
pub fn repository_tokens(library: &SkillLibrary, tokenizer: &dyn Tokenizer) -> Result<u64> {
    let in_use = library.entries().map(|entry| &entry.skill);
    let in_use = in_use.filter(|skill| skill.state.is_offered());
    let tokens = in_use.map(|skill| {
        let text = SkillMd::from(skill).write()?;
        Ok(tokenizer.count(&text).tokens as u64)
    });
    tokens.sum()
}

/// The share of a task's judged attempts that succeeded.
fn success(task: &TaskReport) -> Option<f64> {
    let judged = task.attempts.iter().filter_map(|attempt| attempt.success);
    mean(judged.map(|success| f64::from(u8::from(success))))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / f64::from(count))
}

fn invalid(rule: &str, name: &'static str, value: f64) -> Error {
    Error::invalid("CompositeWeights::reward", rule)
        .with("term", name)
        .with("value", value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        contract::TokenCount,
        domain::{LibraryChange, Skill, State},
        run::report::{CallKind, CallOutcome, CallRefusal, CuratedCall, CurationReport, NoAnswer},
        testing::sample,
    };

    /// A task whose attempts had these outcomes, and whose curator made so many valid and invalid calls, if it was asked.
    fn task(successes: &[Option<bool>], calls: Option<(usize, usize)>) -> TaskReport {
        let attempt = |success: &Option<bool>| crate::run::report::AttemptReport {
            success: *success,
            ..sample::attempt_report("a", &[], true)
        };
        let call = |outcome| CuratedCall {
            kind: CallKind::Insert,
            about: String::new(),
            outcome,
        };
        let valid = call(CallOutcome::Applied(sample::skill("s").reference()));
        let invalid = call(CallOutcome::Refused(CallRefusal::NameTaken));
        let curation = calls.map(|(good, bad)| CurationReport {
            calls: [vec![valid; good], vec![invalid; bad]].concat(),
            no_answer: None,
            context_tokens: 100,
        });
        TaskReport {
            attempts: successes.iter().map(attempt).collect(),
            curation,
            ..sample::task_report("t")
        }
    }

    fn report(tasks: Vec<TaskReport>) -> RunReport {
        RunReport {
            tasks,
            ..sample::run_report()
        }
    }

    const DONE: &[Option<bool>] = &[Some(true)];
    const FAILED: &[Option<bool>] = &[Some(false)];

    #[test]
    fn success_is_that_of_the_later_tasks() {
        let check = |tasks: &[&[Option<bool>]], expect| {
            let tasks = tasks.iter().map(|outcomes| task(outcomes, None)).collect();
            assert_eq!(CompositeTerms::of(&report(tasks), None).success, expect);
        };
        check(&[], None);
        // A group of one task has no later one.
        check(&[DONE], None);
        check(&[FAILED, DONE], Some(1.0));
        check(&[DONE, FAILED], Some(0.0));
        check(&[DONE, FAILED, DONE], Some(0.5));
        // A task that was not judged, or not attempted, says nothing.
        check(&[DONE, &[None], DONE], Some(1.0));
        check(&[DONE, &[], DONE], Some(1.0));
        check(&[DONE, &[None]], None);
        check(&[DONE, &[Some(true), Some(false), None], DONE], Some(0.75));
    }

    #[test]
    fn validity_is_that_of_all_calls_together() {
        let check = |calls: &[Option<(usize, usize)>], expect| {
            let tasks = calls.iter().map(|calls| task(DONE, *calls)).collect();
            assert_eq!(CompositeTerms::of(&report(tasks), None).validity, expect);
        };
        check(&[None, None], None);
        check(&[Some((0, 0)), None], Some(1.0));
        check(&[Some((3, 0)), Some((0, 1))], Some(0.75));
        check(&[Some((0, 2)), Some((0, 0))], Some(0.0));
        let mut prose = task(DONE, Some((1, 0)));
        prose.curation.as_mut().unwrap().no_answer = Some(NoAnswer::Unreadable("prose".into()));
        let terms = CompositeTerms::of(&report(vec![prose]), None);
        assert_eq!(terms.validity, Some(0.5));
    }

    #[test]
    fn compression_compares_the_repository_with_the_curators_prompts() {
        let check = |tasks: usize, tokens: Option<u64>, expect: Option<f64>| {
            let tasks = vec![task(DONE, Some((0, 0))); tasks];
            let found = CompositeTerms::of(&report(tasks), tokens).compression;
            assert_eq!(found, expect);
        };
        check(2, Some(50), Some(0.75));
        check(2, Some(0), Some(1.0));
        check(2, Some(300), Some(-0.5));
        check(2, None, None);
        check(0, Some(50), None);
    }

    #[test]
    fn an_absent_term_is_left_out_and_a_weight_is_the_hosts() {
        let all = CompositeTerms {
            success: Some(0.5),
            validity: Some(0.8),
            quality: Some(0.6),
            compression: Some(-1.0),
        };
        let check = |weights: CompositeWeights, terms: CompositeTerms, expect: Option<f64>| {
            let reward = weights.reward(&terms).unwrap();
            match (reward, expect) {
                (Some(found), Some(expect)) => assert!((found - expect).abs() < 1e-12, "{found}"),
                (found, expect) => assert_eq!(found, expect),
            }
        };
        let paper = CompositeWeights::default();
        check(paper, all, Some(0.5 + 0.8 + 0.06 - 0.05));
        let unjudged = CompositeTerms {
            quality: None,
            ..all
        };
        check(paper, unjudged, Some(0.5 + 0.8 - 0.05));
        let bare = CompositeTerms {
            success: Some(0.5),
            ..CompositeTerms::default()
        };
        check(paper, bare, Some(0.5));
        check(
            paper,
            CompositeTerms {
                success: None,
                ..all
            },
            None,
        );
        let own = CompositeWeights {
            validity: 0.0,
            quality: 2.0,
            compression: 0.0,
        };
        check(own, all, Some(0.5 + 1.2));
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let terms = CompositeTerms {
            success: Some(1.0),
            ..CompositeTerms::default()
        };
        let check = |weights: CompositeWeights, terms: CompositeTerms, term: &str| {
            let error = weights.reward(&terms).unwrap_err();
            assert_eq!(error.kind(), crate::ErrorKind::Invalid);
            assert!(error.to_string().contains(term), "{error}");
        };
        let paper = CompositeWeights::default();
        check(
            paper,
            CompositeTerms {
                quality: Some(1.1),
                ..terms
            },
            "quality",
        );
        check(
            paper,
            CompositeTerms {
                quality: Some(f64::NAN),
                ..terms
            },
            "quality",
        );
        check(
            paper,
            CompositeTerms {
                success: Some(-0.1),
                ..terms
            },
            "success",
        );
        check(
            CompositeWeights {
                compression: f64::INFINITY,
                ..paper
            },
            terms,
            "compression",
        );
    }

    /// A token for each word.
    #[derive(Debug)]
    struct Words;

    impl Tokenizer for Words {
        fn count(&self, text: &str) -> TokenCount {
            TokenCount {
                tokens: text.split_whitespace().count(),
                estimated: false,
            }
        }

        fn truncate(&self, text: &str, _: usize) -> String {
            text.to_owned()
        }
    }

    #[test]
    fn the_repository_is_the_skills_in_use() {
        let skill = |name: &str, state| {
            let skill = sample::skill(name);
            LibraryChange::Add(Box::new(Skill { state, ..skill }))
        };
        let library = |changes| SkillLibrary::replay(&[sample::committed(1, changes)]).unwrap();
        let tokens = |library: &SkillLibrary| repository_tokens(library, &Words).unwrap();
        let one = library(vec![skill("one", State::Active)]);
        let more = library(vec![
            skill("one", State::Active),
            skill("two", State::Trial),
            skill("away", State::Archived),
            skill("held", State::Quarantined),
        ]);
        assert_eq!(tokens(&library(Vec::new())), 0);
        let text = SkillMd::from(&sample::skill("one")).write().unwrap();
        assert_eq!(tokens(&one), text.split_whitespace().count() as u64);
        assert_eq!(tokens(&more), 2 * tokens(&one));
    }
}
