//! BFCL's expected calls through the environment of `tests/lab/bfcl`, and damaged ones: what its official checker says.

use bfcl::{Damage, Setting, replay, tasks, with_effect};
use futures::executor::block_on;
use journeyman::Result;
use serde::{Deserialize, Serialize};

use super::external::set_up;
use crate::figures::{Bound, Figures, Outcome};

const PYTHON: &str = "JOURNEYMAN_BFCL_PYTHON";
const ALL: Bound = Bound::AtLeast(100.0);

#[derive(Serialize, Deserialize)]
struct Judged {
    tasks: usize,
    valid: usize,
    /// For each kind of damage, the tasks where it has an effect and those of them that are judged invalid.
    damaged: Vec<(usize, usize)>,
}

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    let judged = match set_up(PYTHON) {
        None => {
            figures.progress(format_args!(
                "missing: {PYTHON} is not set; run: export {PYTHON}=$(bash tests/lab/bfcl/setup.sh)"
            ));
            None
        }
        Some(python) => {
            let data = figures.data("bfcl");
            let setting = Setting { python, data };
            Some(figures.once("bfcl", || Ok(block_on(judge(&setting))?))?)
        }
    };
    let valid = judged
        .as_ref()
        .map_or(f64::NAN, |one| share(one.valid, one.tasks));
    if let Some(judged) = &judged {
        figures.record("BFCL: tasks", judged.tasks as f64, Bound::AtLeast(100.0));
    }
    figures.record("BFCL: expected calls judged valid, % of tasks", valid, ALL);
    for (at, damage) in Damage::ALL.into_iter().enumerate() {
        let found = judged.as_ref().and_then(|one| one.damaged.get(at).copied());
        let (tasks, invalid) = found.unwrap_or((0, 0));
        let title = format!("BFCL: {damage}");
        if judged.is_some() {
            let title = format!("{title}: tasks where it has an effect");
            figures.record(&title, tasks as f64, Bound::None);
        }
        let title = format!("{title}: of these judged invalid, %");
        figures.record(&title, share(invalid, tasks), ALL);
    }
    Ok(())
}

/// In percent; of nothing there is none.
fn share(some: usize, all: usize) -> f64 {
    match all {
        0 => f64::NAN,
        all => 100.0 * some as f64 / all as f64,
    }
}

async fn judge(setting: &Setting) -> Result<Judged> {
    let tasks = tasks(setting)?;
    let world = setting.world(true).await?;
    let mut valid = 0;
    for one in &tasks {
        let played = replay(&world, &one.task, &one.turns).await?;
        valid += usize::from(played.outcome.success);
    }
    let mut damaged = Vec::new();
    for damage in Damage::ALL {
        let found = with_effect(&world, &tasks, damage).await?;
        damaged.push((found.tasks, found.invalid));
    }
    world.close().await;
    Ok(Judged {
        tasks: tasks.len(),
        valid,
        damaged,
    })
}
