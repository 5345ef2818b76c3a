//! `model calibrate --outcomes`: a threshold by what tasks came to with and without the skills that the gate chose.

use std::{path::Path, sync::Arc};

use journeyman::{
    Result, Seed,
    agent::FrozenStore,
    contract::Components,
    recipe,
    run::{Journeyman, Options, OutcomeCalibration},
    stations::select::{ByOutcomes, GateCalibration, HarmBound},
};
use serde_json::json;

use super::{keep, labels::CALIBRATE, threshold, written};
use crate::{
    library::read,
    model::{arguments::Calibrate, load::Model},
    output::Answer,
};

/// How pairs are made, where there are too few.
const MORE: &str = "A pair is a task that was attempted with a skill and without any, at which the gate had chosen the skill. \
    `journeyman library certify` makes pairs of a library's kept attempts (`\"tiers.traces\" = 200` in `set` keeps them), and so does the \
    program `proven`. Attempts that earlier versions kept have no scores. The threshold of before stays in force.";

pub(super) async fn calibrate(root: &Path, command: &Calibrate) -> Result<Answer> {
    let default = HarmBound::default();
    let bound = HarmBound {
        most: command.most_harmed.unwrap_or(default.most),
        error: command.error.unwrap_or(default.error),
    };
    // Before a model is loaded.
    bound.validate()?;
    let opened = read(root).await?;
    let store = FrozenStore::new(opened.store.load().await?);
    let model = Model::load(&command.load)?;
    let components = Components {
        store: Some(Arc::new(store)),
        ..model.own_loop()
    };
    let options = Options::new(CALIBRATE, Seed(command.seed));
    let journeyman = Journeyman::open(components, recipe::standard(), options).await?;
    let calibration = journeyman.calibrate_by_outcomes(bound).await?;
    let fitted = fitted(&calibration);
    let out = command.out.as_deref();
    if let Some(fitted) = fitted {
        keep(fitted, out)?;
    }
    Ok(Answer {
        text: text(&calibration, out),
        json: json!({
            "calibration": fitted,
            "bound": bound,
            "tasks": calibration.tasks,
            "needed": bound.least_tasks(),
            "left_out": calibration.left_out,
            "model": calibration.model,
            "file": out.filter(|_| fitted.is_some()).map(|file| file.display().to_string()),
        }),
        ..Answer::default()
    })
}

fn fitted(calibration: &OutcomeCalibration) -> Option<&GateCalibration> {
    match &calibration.fit {
        ByOutcomes::Fitted(fitted) => Some(fitted),
        _ => None,
    }
}

fn text(calibration: &OutcomeCalibration, file: Option<&Path>) -> String {
    let mut text = format!("{calibration}\n");
    if let Some(model) = &calibration.model {
        text.push_str(&format!("With {model}, which acted in them.\n"));
    }
    match fitted(calibration) {
        Some(fitted) => text.push_str(&format!("{}\n{}", threshold(fitted), written(file))),
        None => text.push_str(&format!("{MORE}\n")),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_pairs_say_how_many_are_needed_and_how_they_are_made() {
        let calibration = OutcomeCalibration {
            fit: ByOutcomes::NotYet { more: 33 },
            bound: HarmBound::default(),
            tasks: 12,
            left_out: 3,
            model: Some("m".into()),
        };
        let text = text(&calibration, None);
        for part in [
            "not yet fitted: 12 tasks with pairs, at least 45 needed; pairs at 3 other tasks do not count here\n",
            "With m, which acted",
            "`journeyman library certify`",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        assert!(fitted(&calibration).is_none());
    }
}
