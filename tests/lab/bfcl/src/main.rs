//! Replays the expected calls of BFCL's tasks, and damaged ones, through the environment.
#![allow(clippy::print_stdout)]

use std::path::PathBuf;

use bfcl::{Damage, Setting, replay, tasks, with_effect};
use clap::Parser;
use futures::executor::block_on;
use journeyman::Result;

/// Replays the expected calls of BFCL's multi-turn tasks, and damaged ones: how many the official checker judges valid.
#[derive(Parser)]
struct Arguments {
    /// A folder with BFCL's tasks and the tools' documents; the package's own if left out.
    #[arg(long)]
    data: Option<PathBuf>,
    /// The interpreter that tests/lab/bfcl/setup.sh prints.
    #[arg(long)]
    python: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let setting = Setting {
        python: arguments.python,
        data: arguments.data,
    };
    block_on(report(&setting))
}

async fn report(setting: &Setting) -> Result<()> {
    let tasks = tasks(setting)?;
    let world = setting.world(true).await?;
    let mut valid = 0;
    for task in &tasks {
        valid += usize::from(
            replay(&world, &task.task, &task.turns)
                .await?
                .outcome
                .success,
        );
    }
    println!("expected calls judged valid: {valid} of {}", tasks.len());
    for damage in Damage::ALL {
        let found = with_effect(&world, &tasks, damage).await?;
        println!(
            "{damage}: judged invalid: {} of {} tasks where it has an effect",
            found.invalid, found.tasks
        );
    }
    world.close().await;
    Ok(())
}
