//! What a model gives of the candidates of each task.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use futures::executor::block_on;
use journeyman::{
    agent::ChatFormat,
    contract::{PromptFormat, ScoreRequest, Scorer},
    domain::{Message, Prompt, Skill, Speaker, sha256_hex},
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};

use super::{data::Set, matrix::Matrix};
use crate::figures::Figures;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Tokens of a skill that are scored (ARISE C.4), and characters that are read of it before a query, as a session does by default.
const SKILL: (usize, usize) = (128, 512);
/// Tokens of a query that are scored.
pub(super) const QUERY: usize = 64;

/// The prompt behind which a query is scored, given a skill or none.
fn query_prompt(skill: &str) -> Prompt {
    let text = format!("An assistant has this skill:\n{skill}\n\nWhat did the user ask for?");
    Prompt::new(vec![Message::data(Speaker::User, text)])
}

/// The log-probabilities of a text's tokens, in nats.
type Logprobs = Vec<f64>;

/// The places of the skills that a task's decision is among.
pub(super) type Candidates = Vec<Vec<usize>>;

/// A model, and what it has scored before: for another seed, which only halves the categories otherwise, nothing is computed again.
pub(super) struct Scoring<'a> {
    pub(super) model: Arc<LlamaCpp>,
    prompt_format: ChatFormat,
    folder: PathBuf,
    set: &'a Set,
    candidates: &'a Candidates,
}

impl<'a> Scoring<'a> {
    pub(super) fn load(
        figures: &mut Figures<'_>,
        path: &Path,
        (set, candidates): (&'a Set, &'a Candidates),
    ) -> Result<Self, Failure> {
        let mut config = LlamaConfig::new(path);
        config.n_ctx = Some(4_096);
        let model = LlamaCpp::load(config)?;
        let id = Scorer::model(&*model).as_str().to_owned();
        figures.subject("model", &id);
        let folder = figures.options().out.join("gate");
        let folder = folder.join(&sha256_hex(format!("{} {id}", figures.code()))[..16]);
        fs::create_dir_all(&folder)?;
        Ok(Self {
            model,
            prompt_format: ChatFormat::default(),
            folder,
            set,
            candidates,
        })
    }

    /// The scores of texts behind a prompt.
    fn scores(
        &self,
        prompt: Prompt,
        texts: &[String],
        most_tokens: usize,
    ) -> Result<Vec<Logprobs>, Failure> {
        let of = format!("{} {most_tokens}\n{}", prompt.text(), texts.join("\n"));
        let file = self.folder.join(format!("{}.json", &sha256_hex(of)[..32]));
        if let Ok(known) = fs::read(&file) {
            return Ok(serde_json::from_slice(&known)?);
        }
        let request = ScoreRequest::new(prompt, texts.to_vec())
            .with_max_continuation_tokens(most_tokens)
            .with_time_limit(Duration::from_secs(3_600));
        let scores = block_on(self.model.score(&request))?;
        let scores: Vec<Logprobs> = scores.into_iter().map(|one| one.logprobs).collect();
        let beside = file.with_extension("new");
        fs::write(&beside, serde_json::to_vec(&scores)?)?;
        fs::rename(beside, &file)?;
        Ok(scores)
    }

    fn text(&self, skill: &Skill) -> String {
        self.prompt_format.skill_text(skill)
    }

    /// Of each task's candidates, by the texts that the prompt format scores: the sum and the mean behind the task, PMI, PMI by token, and PMI
    /// of the first 16, 32 and 64 tokens.
    pub(super) fn skills(&self, figures: &mut Figures<'_>) -> Result<[Matrix; 7], Failure> {
        self.texts(figures, "skills", &|_, skill| {
            self.text(&self.set.skills[skill])
        })
    }

    /// The same of other texts of the candidates, each by the places of its task and its skill.
    pub(super) fn texts(
        &self,
        figures: &mut Figures<'_>,
        what: &str,
        text: &dyn Fn(usize, usize) -> String,
    ) -> Result<[Matrix; 7], Failure> {
        let mut made: [Matrix; 7] = Default::default();
        let tasks = self.set.tasks.iter().zip(self.candidates);
        for (place, (task, candidates)) in tasks.enumerate() {
            figures.progress(format_args!("{what} behind {}", task.id));
            let texts = candidates.iter().map(|&at| text(place, at));
            let texts: Vec<String> = texts.collect();
            let prompt = self.prompt_format.score_prompt(&task.instruction);
            let behind = self.scores(prompt, &texts, SKILL.0)?;
            let mut rows = vec![vec![f64::NEG_INFINITY; self.set.skills.len()]; made.len()];
            for ((&at, text), behind) in candidates.iter().zip(&texts).zip(behind) {
                // By itself, as a session does it, so that the value does not depend on other texts.
                let text = std::slice::from_ref(text);
                let alone = self.scores(self.prompt_format.score_prompt(""), text, SKILL.0)?;
                let alone = alone.into_iter().next().unwrap_or_default();
                let pmi = |most: usize| {
                    let sum = |all: &Logprobs| all.iter().take(most).sum::<f64>();
                    sum(&behind) - sum(&alone)
                };
                let (sum, tokens) = (behind.iter().sum::<f64>(), behind.len().max(1) as f64);
                let whole = pmi(SKILL.0);
                let values = [
                    sum,
                    sum / tokens,
                    whole,
                    whole / tokens,
                    pmi(16),
                    pmi(32),
                    pmi(64),
                ];
                rows.iter_mut()
                    .zip(values)
                    .for_each(|(row, value)| row[at] = value);
            }
            made.iter_mut()
                .zip(rows)
                .for_each(|(matrix, row)| matrix.push(row));
        }
        Ok(made)
    }

    /// The log-probability of each query's first tokens behind each candidate, less that behind none.
    pub(super) fn queries(&self, figures: &mut Figures<'_>) -> Result<Vec<Vec<Logprobs>>, Failure> {
        let tasks = &self.set.tasks;
        let mut made = vec![vec![Vec::new(); self.set.skills.len()]; tasks.len()];
        let texts: Vec<String> = tasks.iter().map(|task| task.instruction.clone()).collect();
        let alone = self.scores(query_prompt(""), &texts, QUERY)?;
        for (at, skill) in self.set.skills.iter().enumerate() {
            figures.progress(format_args!("queries behind {}", skill.id));
            let is_candidate = |&task: &usize| self.candidates[task].contains(&at);
            let of: Vec<usize> = (0..tasks.len()).filter(is_candidate).collect();
            if of.is_empty() {
                continue;
            }
            let texts: Vec<String> = of.iter().map(|&task| texts[task].clone()).collect();
            let text: String = self.text(skill).chars().take(SKILL.1).collect();
            let behind = self.scores(query_prompt(&text), &texts, QUERY)?;
            for (task, behind) in of.into_iter().zip(behind) {
                let pairs = behind.iter().zip(&alone[task]);
                made[task][at] = pairs.map(|(behind, alone)| behind - alone).collect();
            }
        }
        Ok(made)
    }

    /// The model's answer to whether a skill fits: yes less no. Asked in the prompt format's words, or in others.
    pub(super) fn fits(
        &self,
        figures: &mut Figures<'_>,
        reworded: bool,
    ) -> Result<Matrix, Failure> {
        let mut made = Matrix::new();
        for (task, candidates) in self.set.tasks.iter().zip(self.candidates) {
            figures.progress(format_args!("whether a skill fits {}", task.id));
            let mut row = vec![f64::NEG_INFINITY; self.set.skills.len()];
            for &at in candidates {
                let text = self.text(&self.set.skills[at]);
                let text: String = text.chars().take(SKILL.1).collect();
                let (prompt, answers) = match reworded {
                    false => {
                        let asked = self.prompt_format.fit_question(&task.instruction, &text)?;
                        (asked.prompt, [asked.fits, asked.does_not])
                    }
                    true => {
                        let query: String = task.instruction.chars().take(1_200).collect();
                        let asked = format!(
                            "A user asks an assistant:\n{query}\n\nThe assistant has this instruction:\n{text}\n\nIs the instruction useful for \
                             what the user asks? Yes or No?"
                        );
                        let prompt = Prompt::new(vec![Message::data(Speaker::User, asked)]);
                        (prompt, ["Yes".to_owned(), "No".to_owned()])
                    }
                };
                let scores = self.scores(prompt, &answers, 4)?;
                let sum = |at: usize| scores[at].iter().sum::<f64>();
                row[at] = sum(0) - sum(1);
            }
            made.push(row);
        }
        Ok(made)
    }
}
