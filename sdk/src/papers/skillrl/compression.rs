//! How much shorter skills are than the trajectories that they were distilled from (SkillRL 3.2, 4.3; row R7).

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    contract::Tokenizer,
    domain::{Injection, Skill, Trace},
    id::TaskId,
};

/// Tokens of texts, and whether the tokenizer estimated any of them.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// The number.
    pub tokens: usize,
    /// Whether it is an estimate.
    pub estimated: bool,
}

impl Tokens {
    /// The tokens of texts together.
    pub fn of<'a>(tokenizer: &dyn Tokenizer, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut all = Self::default();
        for text in texts {
            let count = tokenizer.count(text);
            all.tokens += count.tokens;
            all.estimated |= count.estimated;
        }
        all
    }
}

/// Tokens of skills beside those of the raw trajectories that they were distilled from. The paper reports 10 to 20 times (3.2),
/// and prompts that are 10.3% shorter than with raw memory (4.3).
///
/// ```
/// use journeyman::{papers::skillrl::Compression, testing::{WordTokenizer, sample}};
///
/// let task = sample::task("greet", &["good", "day"]);
/// let attempts = [sample::trace("a-1", &task, &["good", "day"], true)];
/// let mut skill = sample::skill("greet");
/// skill.description = "Greeting.".to_owned();
/// skill.body = "Say both.".to_owned();
/// skill.provenance.tasks = vec![task.id.clone()];
/// let compression = Compression::of_skills(&WordTokenizer, &[&skill], attempts.iter());
/// assert_eq!((compression.skills.tokens, compression.trajectories), (3, 1));
/// assert!(compression.ratio().expect("there is a trajectory") > 2.0);
/// // Without the attempts nothing can be compared.
/// assert_eq!(Compression::of_skills(&WordTokenizer, &[&skill], []).ratio(), None);
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compression {
    /// Tokens of the skills.
    pub skills: Tokens,
    /// Tokens of the trajectories ([`raw_text`]).
    pub raw: Tokens,
    /// Number of trajectories.
    pub trajectories: usize,
}

impl Compression {
    /// Compares texts with texts, for a host that has both.
    pub fn of_texts<'a>(
        tokenizer: &dyn Tokenizer,
        skills: impl IntoIterator<Item = &'a str>,
        raw: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let raw: Vec<&str> = raw.into_iter().collect();
        Self {
            skills: Tokens::of(tokenizer, skills),
            trajectories: raw.len(),
            raw: Tokens::of(tokenizer, raw),
        }
    }

    /// Compares skills, each with its description and its body, with the attempts that were made at the tasks that the skills were
    /// distilled from. An attempt counts once, however many skills are from it. All attempts at such a task count, since a memory of
    /// raw trajectories keeps them all; a host that compares with those alone that a role was shown hands over these.
    pub fn of_skills<'a>(
        tokenizer: &dyn Tokenizer,
        skills: &[&Skill],
        attempts: impl IntoIterator<Item = &'a Trace>,
    ) -> Self {
        let sources = skills.iter().flat_map(|skill| &skill.provenance.tasks);
        let sources: BTreeSet<&TaskId> = sources.collect();
        let attempts = attempts.into_iter();
        let raw: Vec<String> = attempts
            .filter(|attempt| sources.contains(&attempt.task.id))
            .map(raw_text)
            .collect();
        let texts = skills
            .iter()
            .flat_map(|skill| [skill.description.as_str(), skill.body.as_str()]);
        Self::of_texts(tokenizer, texts, raw.iter().map(String::as_str))
    }

    /// How many times longer the trajectories are than the skills; `None` where one of them has no token.
    pub fn ratio(&self) -> Option<f64> {
        let (raw, skills) = (self.raw.tokens, self.skills.tokens);
        (raw > 0 && skills > 0).then(|| raw as f64 / skills as f64)
    }

    /// Whether any number is an estimate.
    pub fn is_estimated(&self) -> bool {
        self.skills.estimated || self.raw.estimated
    }
}

/// The length of a prompt with skills beside that of the same prompt with raw memory (SkillRL 4.3, figure 4).
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptLength {
    /// Tokens of the prompt with neither.
    pub bare: Tokens,
    /// Tokens that the skills add.
    pub skills: Tokens,
    /// Tokens that the trajectories add.
    pub raw_memory: Tokens,
}

impl PromptLength {
    /// The prompt `bare`, with the skills as they are written into it, and with whole trajectories in their place. Tokens that a
    /// chat template adds are in none of them.
    pub fn of<'a>(
        tokenizer: &dyn Tokenizer,
        bare: &str,
        injection: &Injection,
        memory: impl IntoIterator<Item = &'a Trace>,
    ) -> Self {
        let memory: Vec<String> = memory.into_iter().map(raw_text).collect();
        let skills = injection.skills.iter().map(|skill| skill.text.as_str());
        Self {
            bare: Tokens::of(tokenizer, [bare]),
            skills: Tokens::of(tokenizer, skills),
            raw_memory: Tokens::of(tokenizer, memory.iter().map(String::as_str)),
        }
    }

    /// The share by which the prompt with skills is shorter than the one with raw memory: at most 1, negative where it is longer;
    /// `None` where that one has no token.
    pub fn reduction(&self) -> Option<f64> {
        let with = |more: Tokens| (self.bare.tokens + more.tokens) as f64;
        let raw = with(self.raw_memory);
        (raw > 0.0).then(|| 1.0 - with(self.skills) / raw)
    }
}

/// An attempt as a text, as a memory of raw trajectories keeps it: the task, and of each step what the agent said or did and the
/// result.
pub fn raw_text(attempt: &Trace) -> String {
    let mut text = format!("{}\n", attempt.task.instruction);
    for step in &attempt.trajectory.steps {
        text.push_str(&format!("{}\n{}\n", step.words(), step.result.text));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contract::TokenCount, domain::Action, testing::sample};

    /// Four characters a token, an estimate.
    #[derive(Debug)]
    struct Estimate;

    impl Tokenizer for Estimate {
        fn count(&self, text: &str) -> TokenCount {
            TokenCount {
                tokens: text.chars().count().div_ceil(4),
                estimated: true,
            }
        }

        fn truncate(&self, text: &str, tokens: usize) -> String {
            text.chars().take(tokens * 4).collect()
        }
    }

    #[test]
    fn an_attempt_counts_once_and_others_not_at_all() {
        let task = |id: &str| sample::task(id, &["good", "day"]);
        let trace = |id: &str| sample::trace(id, &task(id), &["good", "day"], true);
        let attempts = [trace("a"), trace("b"), trace("other")];
        let skill = |tasks: &[&str]| {
            let mut skill = sample::skill("greet");
            skill.provenance.tasks = tasks.iter().map(|id| TaskId::from(*id)).collect();
            skill
        };
        let (one, two) = (skill(&["a", "b"]), skill(&["b"]));
        let of = Compression::of_skills(&Estimate, &[&one, &two], &attempts);
        assert_eq!(of.trajectories, 2);
        assert_eq!(
            of.raw,
            Tokens::of(
                &Estimate,
                [raw_text(&attempts[0]), raw_text(&attempts[1])]
                    .iter()
                    .map(String::as_str)
            )
        );
        assert!(of.is_estimated());
        let none = Compression::of_skills(&Estimate, &[], &attempts);
        assert_eq!(
            (none.ratio(), none.trajectories, none.is_estimated()),
            (None, 0, false)
        );
    }

    #[test]
    fn a_prompt_with_skills_is_compared_with_one_with_raw_memory() {
        let task = sample::task("t", &["good", "day"]);
        let attempt = sample::trace("a", &task, &["good", "day"], true);
        let injection = sample::injection(&[sample::skill("x")]);
        let length = PromptLength::of(&Estimate, "say good and then day", &injection, [&attempt]);
        let (with, raw) = (6.0 + 4.0, 6.0 + length.raw_memory.tokens as f64);
        assert_eq!(length.reduction(), Some(1.0 - with / raw));
        let empty = PromptLength::of(&Estimate, "", &Injection::NONE, []);
        assert_eq!(empty.reduction(), None);
    }

    #[test]
    fn a_trajectory_is_told_by_words_or_by_calls() {
        let task = sample::task("t", &["good"]);
        let mut attempt = sample::trace("a", &task, &["good"], true);
        assert_eq!(raw_text(&attempt), "say good\ngood\ngo on\n");
        let step = &mut attempt.trajectory.steps[0];
        step.transcript.clear();
        step.action = Action::call("brew", serde_json::json!({"cups": 2}));
        let call = attempt.trajectory.steps[0].action.to_json();
        assert!(call.contains("brew"), "{call}");
        assert_eq!(raw_text(&attempt), format!("say good\n{call}\ngo on\n"));
    }
}
