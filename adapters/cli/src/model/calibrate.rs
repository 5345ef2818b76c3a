//! `model calibrate`: fits the gate's threshold to a model, and says what it does on held-out tasks.

mod labels;
mod scoring;

use std::{path::Path, sync::Arc, time::Duration};

use journeyman::{
    Error, Result, Seed,
    agent::FrozenStore,
    contract::{Components, PromptFormat},
    domain::{FittedThreshold, ScoreKind},
    recipe::{self, Limits},
    run::{Journeyman, Options, Performer, ThresholdBy},
    stations::select::{GateCalibration, GateRates},
};
use journeyman_tantivy::Bm25Retriever;
use serde_json::json;

use self::{
    labels::{CALIBRATE, Labels},
    scoring::Scoring,
};
use super::{arguments::Calibrate, load::Model};
use crate::{
    calibrated::{keep, threshold, written},
    library::{Read, read},
    output::{Answer, NATS, table},
    progress::Progress,
    stemming::retriever,
};

/// Share of wrong injections that a fit allows which is not the session's own.
const MOST_WRONG: f64 = 0.05;
/// The user asked for it, so it may take as long as it does.
const LONGEST: Duration = Duration::from_secs(24 * 3_600);

pub(super) async fn calibrate(root: &Path, command: &Calibrate) -> Result<Answer> {
    let opened = read(root).await?;
    let labels = Labels::read(&opened.library, command.tasks.as_deref())?;
    let retriever = Arc::new(retriever(None)?);
    opened.library.refresh(&*retriever).await?;
    let model = Model::load(&command.load)?;
    let parts = model.own_loop().with_retriever(retriever.clone());
    let fitting = Fitting {
        command,
        opened: &opened,
        labels: &labels,
        model: &model,
        parts,
        retriever: &retriever,
    };
    let (fitted, tasks) = fitting.fitted(&*model.prompt_format).await?;
    keep(CALIBRATE, &fitted, command.out.as_deref())?;
    Ok(Answer {
        text: as_text(&fitted, labels.are_given, command.out.as_deref()),
        json: json!({
            "calibration": fitted,
            "labels": labels.are_given,
            "tasks": tasks,
            "file": command.out.as_ref().map(|file| file.display().to_string()),
        }),
        ..Answer::default()
    })
}

/// What a threshold is fitted with.
struct Fitting<'a> {
    command: &'a Calibrate,
    opened: &'a Read,
    labels: &'a Labels,
    model: &'a Model,
    /// The parts of a session but for the library.
    parts: Components,
    retriever: &'a Bm25Retriever,
}

impl Fitting<'_> {
    /// The threshold, and the number of tasks that it was fitted by.
    async fn fitted(&self, prompt_format: &dyn PromptFormat) -> Result<(GateCalibration, usize)> {
        let (command, labels) = (self.command, self.labels);
        let most_wrong = command.most_wrong.unwrap_or(MOST_WRONG);
        let by_session = match command.score {
            None => self.by_session().await?,
            Some(_) => None,
        };
        match &by_session {
            Some(fitted) if labels.are_shipped => {
                let calibration = GateCalibration::of_session(fitted, prompt_format);
                return Ok((calibration, fitted.tasks as usize));
            }
            None if labels.are_shipped && command.score.is_none() => {
                let message = "the model was trained for the recipe's threshold with skills like the library's, and a session keeps that";
                return Err(Error::unsupported(CALIBRATE, message).hint(
                    "fit a threshold to tasks of your own with `--tasks`, or to another score with `--score`",
                ));
            }
            _ => {}
        }
        let mut limits = Limits::default();
        limits.score = self.model.time_limit;
        let scoring = Scoring {
            library: &self.opened.library,
            retriever: self.retriever,
            performer: Performer::new(Arc::new(self.parts.clone()), limits),
            // What a session keeps with a model that was trained to score: PMI.
            score: match (command.score, &by_session) {
                (Some(score), _) => score.into(),
                (None, Some(fitted)) => fitted.score,
                (None, None) => ScoreKind::Pmi,
            },
            candidates: command.candidates.get() as usize,
            found: by_session.as_ref().and_then(|fitted| fitted.found),
            fills: labels.are_shipped,
        };
        let mut scored = scoring.all(labels).await?;
        let of = (self.model.scorer.model(), scoring.score, prompt_format);
        let mut fitted = match labels.are_given {
            true => GateCalibration::fit(&scored, of, most_wrong, Seed(command.seed))?,
            false => {
                // A task from which all skills were written has no wrong one.
                scored.retain(|task| !task.wrong.is_empty());
                GateCalibration::without_labels(&scored, of, most_wrong)?
            }
        };
        fitted.found = by_session.and_then(|session| session.found);
        // Tasks that come with the command, and attempts that were picked, are none that the agent gets; and `--score` also scores right
        // skills that no search finds. Later decisions have other scores than these.
        if command.tasks.is_none() || scoring.found.is_none() {
            fitted = fitted.without_scores();
        }
        Ok((fitted, scored.len()))
    }

    /// The threshold that a session with this library fits to the model by itself, however long that takes; `None` where the recipe's holds.
    async fn by_session(&self) -> Result<Option<FittedThreshold>> {
        let snapshot = self.opened.store.load().await?;
        // Nothing is committed; scores are kept beside the library, so that sessions have them.
        let store = FrozenStore::new(snapshot).with_scores_of(self.opened.store.clone());
        let components = self.parts.clone().with_store(Arc::new(store));
        let mut recipe = recipe::standard();
        recipe.limits.score = self.model.time_limit;
        recipe.limits.fit = LONGEST;
        if let (Some(mut gate), false) = (recipe.gate(), self.labels.are_given) {
            gate.most_wrong = self.command.most_wrong.or(gate.most_wrong);
            recipe.set_gate(gate)?;
        }
        let progress = Progress::of("scoring skills at tasks that they are not for");
        let options = Options::new(CALIBRATE, Seed(1));
        let journeyman = Journeyman::open(components, recipe, options).await?;
        let gate = journeyman.gate().await?;
        drop(progress);
        Ok(gate.and_then(|gate| match gate.by {
            ThresholdBy::Fitted(fitted) => Some(fitted),
            _ => None,
        }))
    }
}

fn as_text(fitted: &GateCalibration, has_labels: bool, file: Option<&Path>) -> String {
    let row = |name: &str, rates: &GateRates| {
        vec![
            name.to_owned(),
            match has_labels {
                true => rates.right_injected.of,
                false => rates.wrong_injected.of,
            }
            .to_string(),
            rates.right_injected.to_string(),
            rates.wrong_injected.to_string(),
        ]
    };
    let rows = match has_labels {
        true => [
            row("fitted on", &fitted.fitted),
            row("held out", &fitted.held_out),
        ],
        false => [
            row("all", &fitted.fitted),
            row("each by the others", &fitted.held_out),
        ],
    };
    let rows = rows
        .into_iter()
        .filter(|row| row[1] != "0")
        .collect::<Vec<_>>();
    let how = match has_labels {
        true => "Wrong: a skill is injected although the right ones were taken away.",
        false => {
            "No task names a right skill, so the threshold is what a wrong skill rarely exceeds. Wrong: a skill is injected that was not written from \
             the task."
        }
    };
    format!(
        "{}{}\nBehind a share: its interval of 95%. {how} {NATS}\n{}",
        table(
            &["TASKS OF", "TASKS", "RIGHT INJECTED", "WRONG INJECTED"],
            &rows
        ),
        threshold(fitted),
        written(file),
    )
}
