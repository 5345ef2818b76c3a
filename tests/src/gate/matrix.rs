//! The scores of every skill for every task.

use std::{collections::BTreeSet, fs, num::NonZero, path::Path, sync::Arc, time::Duration};

use futures::executor::block_on;
use journeyman::{
    Revision,
    builtin::ChatDialect,
    contract::{Backends, Dialect, Retriever, Scorer, SkillScores},
    domain::{IndexUpdate, Query, ScoreKind, Skill},
    policy::Answer,
    recipe::Limits,
    run::{Need, Performer},
    sha256_hex,
};
use journeyman_llama_cpp::{LlamaConfig, LlamaCpp};
use journeyman_tantivy::Bm25Retriever;

use super::data::Set;
use crate::figures::Figures;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Values by task, then by skill.
pub(super) type Matrix = Vec<Vec<f64>>;

/// What a search by words gives, over whole skills; 0 for what it does not find.
pub(super) fn by_words(set: &Set) -> Result<Matrix, Failure> {
    let retriever = Bm25Retriever::new(Default::default())?;
    block_on(retriever.refresh(&IndexUpdate {
        library: None,
        since: Revision(0),
        revision: Revision(1),
        keys: Default::default(),
        changed: set.skills.clone(),
        gone: Vec::new(),
    }))?;
    let mut rows = Vec::new();
    for task in &set.tasks {
        let query = Query {
            text: task.instruction.clone(),
            limit: set.skills.len(),
            among: None,
        };
        let found = block_on(retriever.search(&query))?;
        let score = |skill: &Skill| {
            let mut found = found.iter();
            let found = found.find(|one| one.skill.id == skill.id);
            found.map_or(0.0, |one| one.score)
        };
        rows.push(set.skills.iter().map(score).collect());
    }
    Ok(rows)
}

/// How far each score of a search stands above the median of all skills, by the root of the number of different words: what a search
/// finds of words that do not belong together grows with this root.
pub(super) fn standing_out(found: &Matrix, set: &Set) -> Matrix {
    let rows = found.iter().zip(&set.tasks);
    rows.map(|(row, task)| {
        let mut sorted = row.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let root = words(&task.instruction).sqrt();
        row.iter().map(|score| (score - median) / root).collect()
    })
    .collect()
}

/// The number of different words of a text.
pub(super) fn words(text: &str) -> f64 {
    let words = text.split(|c: char| !c.is_alphanumeric());
    let words: BTreeSet<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.len().max(1) as f64
}

/// The log-probabilities of the skills behind the tasks, and by themselves, as a run scores them. What the same program scored before, for
/// another seed, is taken from the folder of results: a seed only halves the categories otherwise.
pub(super) fn by_model(
    figures: &mut Figures<'_>,
    set: &Set,
    path: &Path,
) -> Result<Vec<Vec<SkillScores>>, Failure> {
    let mut config = LlamaConfig::new(path);
    config.n_ctx = NonZero::new(4_096).map(NonZero::get);
    let model = LlamaCpp::load(config)?;
    figures.subject("model", Scorer::model(&*model).as_str());
    let dialect = ChatDialect::default();
    let mut texts = format!("{} {}\n", figures.code(), Scorer::model(&*model).as_str());
    set.skills
        .iter()
        .for_each(|skill| texts.push_str(&dialect.skill_text(skill)));
    texts.push_str(&dialect.score_prompt("").text());
    let backends = Backends::own_loop()
        .with_scorer(model.clone())
        .with_dialect(Arc::new(dialect));
    let limits = Limits {
        score: Duration::from_secs(3_600),
        ..Limits::default()
    };
    let performer = Performer::new(Arc::new(backends), limits);
    let folder = figures
        .options()
        .out
        .join("gate")
        .join(&sha256_hex(texts)[..16]);
    fs::create_dir_all(&folder)?;
    let skills: Arc<[Skill]> = set.skills.clone().into();
    let mut rows = Vec::new();
    for (number, task) in (1..).zip(&set.tasks) {
        let file = folder.join(format!("{}.json", sha256_hex(&task.instruction)));
        if let Ok(known) = fs::read(&file) {
            rows.push(serde_json::from_slice(&known)?);
            continue;
        }
        figures.progress(format_args!(
            "scoring {} ({number} of {})",
            task.id,
            set.tasks.len()
        ));
        let need = Need::Score {
            query: task.instruction.clone(),
            skills: skills.clone(),
            score: ScoreKind::Pmi,
            repeatable: false,
        };
        let Answer::Scored(scores) = block_on(performer.perform(need))? else {
            return Err("the model gave no scores".into());
        };
        let scores = scores?;
        let beside = file.with_extension("new");
        fs::write(&beside, serde_json::to_vec(&scores)?)?;
        fs::rename(beside, &file)?;
        rows.push(scores);
    }
    Ok(rows)
}
