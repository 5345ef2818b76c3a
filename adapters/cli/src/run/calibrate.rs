//! `library calibrate`: a threshold by what tasks come to with and without the skill that the gate would choose.

use std::path::Path;

use journeyman::{
    Result,
    run::OutcomeCalibration,
    stations::select::{ByOutcomes, GateCalibration, HarmBound},
};
use serde_json::json;

use super::opened::Opening;
use crate::{
    arguments::Calibrate,
    calibrated::{keep, may_be_written, threshold, written},
    output::{Answer, NATS},
    progress::Progress,
};

/// The operation that errors name.
const CALIBRATE: &str = "library calibrate";

/// What to do where there are too few tasks.
const MORE: &str = "Tasks are drawn from the library's kept attempts, each once: a run keeps more with `set = { \"tiers.traces\" = 400 }` in its \
    file, and `--outcomes` says how many are drawn at most. Tasks that the skills were written from, tested by or compared at do not count: let it do \
    others (`\"write.when\" = \"never\"`).";

/// What a fit that is not made leaves.
const AS_BEFORE: &str = "The threshold of before stays in force.";

/// What to do where the judge gave no verdict on tasks.
const UNJUDGED: &str = "The judge does not know the tasks that have no verdict: name the file of the run that did them, or let this one do tasks \
    that its judge knows.";

/// `library` is the folder that the arguments name, which comes before the file's.
pub(crate) async fn calibrate(library: Option<&Path>, command: &Calibrate) -> Result<Answer> {
    let default = HarmBound::default();
    let bound = HarmBound::new(
        command.most_harmed.unwrap_or(default.most),
        command.error.unwrap_or(default.error),
    );
    // Before a model is loaded, and before all attempts.
    bound.validate()?;
    may_be_written(CALIBRATE, command.out.as_deref())?;
    let opening = Opening {
        library,
        needs_library: true,
        seed: command.seed,
        ..Opening::of(&command.file)
    };
    let run = opening.read()?.open().await?;
    let progress = Progress::of("attempting tasks with the best skill and without it");
    let tasks = command.outcomes.get();
    let calibration = run.journeyman.calibrate_by_outcomes(bound, tasks).await;
    drop(progress);
    run.world.close().await;
    let calibration = calibration?;
    let fitted = fitted(&calibration);
    let out = command.out.as_deref();
    if let Some(fitted) = fitted {
        keep(CALIBRATE, fitted, out)?;
    }
    Ok(Answer {
        text: text(&calibration, out),
        json: json!({
            "calibration": fitted,
            "bound": bound,
            "tasks": calibration.tasks,
            "needed": bound.least_tasks(),
            "without": calibration.without,
            "left_out": calibration.left_out,
            "unjudged": calibration.unjudged,
            "own": calibration.own,
            "model": calibration.model,
            "seed": run.seed.0,
            "tokens": calibration.usage.total(),
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
        let tokens = calibration.usage.total();
        text.push_str(&format!("With {model}; {tokens} tokens.\n"));
    }
    if calibration.unjudged > 0 {
        text.push_str(&format!("{UNJUDGED}\n"));
    }
    match fitted(calibration) {
        Some(fitted) => text.push_str(&format!("{}. {NATS}\n{}", threshold(fitted), written(file))),
        None if calibration.tasks < calibration.bound.least_tasks() => {
            text.push_str(&format!("{MORE} {AS_BEFORE}\n"));
        }
        // There are enough, and the judge knows none of those with a candidate.
        None => text.push_str(&format!("{AS_BEFORE}\n")),
    }
    text
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use journeyman::domain::Usage;

    use super::*;

    /// A calibration that says not yet with so many tasks, of which so many have no candidate.
    fn not_yet(tasks: u64, without: u64) -> OutcomeCalibration {
        let said = json!({
            "fit": ByOutcomes::NotYet { more: 1 },
            "bound": HarmBound::default(),
            "tasks": tasks,
            "without": without,
            "left_out": 1,
            "unjudged": 5,
            "own": 3,
            "model": "m",
            "usage": Usage::default(),
        });
        serde_json::from_value(said).unwrap()
    }

    #[test]
    fn too_few_tasks_say_how_many_are_needed_and_how_more_are_kept() {
        let calibration = not_yet(12, 2);
        let text = text(&calibration, None);
        for part in [
            "not yet fitted: 12 tasks, at least 45 needed; left out, since they failed: 1; 5 tasks left out: the judge gave no verdict; left out, since their candidates were made with them: 3\n",
            "With m; 0 tokens.",
            "The judge does not know the tasks that have no verdict: ",
            "tiers.traces",
            "The threshold of before stays in force.\n",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        assert!(fitted(&calibration).is_none());
    }

    #[test]
    fn enough_tasks_without_a_verdict_ask_for_no_more_tasks() {
        let text = text(&not_yet(45, 45), None);
        for part in [
            "not yet fitted: no task with a candidate has a verdict, and 45 have no candidate; left out",
            "The judge does not know the tasks that have no verdict: ",
            "The threshold of before stays in force.\n",
        ] {
            assert!(text.contains(part), "{part:?} in {text}");
        }
        for part in ["at least 45 needed", "tiers.traces"] {
            assert!(!text.contains(part), "{part:?} in {text}");
        }
    }
}
