//! `skill why`: what retrieval finds for a task, how the model's gate scores it, and what is decided.

use std::{path::Path, sync::Arc};

use futures::StreamExt;
use journeyman::{
    Error, Result, Seed,
    builtin::{ChatFormat, FrozenStore},
    contract::Components,
    domain::{Candidate, Scored, Selection, Task},
    library::SkillLibrary,
    recipe,
    report::EventKind,
    run::{GateInForce, Journeyman, Options},
    select::GateCalibration,
};
use journeyman_tantivy::Bm25Retriever;
use serde_json::json;

use super::{arguments::Why, load::Model};
use crate::{
    files::unreadable,
    library::read,
    output::{Answer, table},
    progress::Progress,
};

const WHY: &str = "skill why";

pub(crate) async fn why(root: &Path, command: &Why) -> Result<Answer> {
    let opened = read(root).await?;
    let snapshot = opened.store.load().await?;
    // Nothing is committed; scores are kept beside the library, so that the next question is answered faster.
    let store = FrozenStore::new(snapshot).with_scores_of(opened.store);
    let retriever = Bm25Retriever::new(Default::default())?;
    opened.library.refresh(&retriever).await?;
    let mut recipe = recipe::standard();
    if let Some(file) = &command.calibration {
        let text = std::fs::read_to_string(file);
        let text = text.map_err(|source| unreadable(WHY, file, source))?;
        recipe.calibrate(&GateCalibration::from_json(&text)?)?;
    }
    let model = Model::load(&command.load)?;
    recipe.limits.score = model.time_limit;
    let components = Components {
        store: Some(Arc::new(store)),
        retriever: Some(Arc::new(retriever)),
        ..Components::own_loop()
            .with_scorer(model.scorer.clone())
            .with_prompt_format(Arc::new(ChatFormat::default()))
    };
    let journeyman = Journeyman::open(components, recipe, Options::new("why", Seed(1))).await?;
    let progress = Progress::of("scoring; the first time with a model takes longer");
    let gate = journeyman.gate().await;
    let events = journeyman.events();
    let attempt = journeyman.begin(Task::new("why", &*command.task)).await?;
    drop(attempt);
    drop(journeyman);
    drop(progress);
    let (mut found, mut selected) = (Vec::new(), None);
    let mut events = events;
    while let Some(event) = events.next().await {
        match event.kind {
            EventKind::Retrieved { candidates } => found = candidates,
            EventKind::Selected { selection, .. } => selected = Some(selection),
            _ => {}
        }
        if selected.is_some() {
            break;
        }
    }
    let selection = selected.ok_or_else(|| Error::invalid(WHY, "nothing was decided"))?;
    let gate = match &gate {
        Ok(gate) => gate.as_ref().map(GateInForce::to_string),
        Err(error) => Some(format!("not known: {error}")),
    };
    let gate = gate.unwrap_or_default();
    Ok(Answer {
        text: as_text(&opened.library, &found, (&selection, &gate)),
        json: json!({
            "task": command.task,
            "gate": gate,
            "threshold": selection.fitted,
            "retrieved": found,
            "selection": selection,
            "decision": selection.to_string(),
        }),
        ..Answer::default()
    })
}

fn as_text(
    library: &SkillLibrary,
    found: &[Candidate],
    (selection, gate): (&Selection, &str),
) -> String {
    let row = |one: &Candidate| {
        let scored = selection.candidates.iter();
        let scored: Option<&Scored> = scored.into_iter().find(|scored| scored.skill == one.skill);
        let entry = library.get(&one.skill.id);
        let is_chosen = selection.skills().contains(&one.skill);
        vec![
            entry.map_or_else(
                || one.skill.to_string(),
                |entry| entry.skill.name.to_string(),
            ),
            format!("{:.2}", one.score),
            scored.map_or_else(String::new, |scored| format!("{:.2}", scored.value)),
            if is_chosen { "injected" } else { "" }.to_owned(),
        ]
    };
    let mut rows: Vec<(f64, Vec<String>)> = found
        .iter()
        .map(|one| {
            let scored = selection.candidates.iter();
            let scored = scored.into_iter().find(|scored| scored.skill == one.skill);
            (
                scored.map_or(f64::NEG_INFINITY, |scored| scored.value),
                row(one),
            )
        })
        .collect();
    rows.sort_by(|one, other| other.0.total_cmp(&one.0));
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(_, row)| row).collect();
    format!(
        "{}BM25: how well a search for the task's words finds the skill. NATS: 0 is a skill that the model holds for as likely with \
         the task as without it, and what the search's score counts is added where the gate says so; empty where the model was not asked.\ngate: {gate}\ndecision: {selection}\n",
        table(&["SKILL", "BM25", "NATS", ""], &rows)
    )
}
