//! Replays the expected calls of BFCL's tasks, and damaged ones, through the environment.
#![allow(clippy::print_stdout)]

use std::{env, path::PathBuf};

use bfcl::{Damage, Setting, replay, tasks, with_effect};
use clap::Parser;
use futures::executor::block_on;
use journeyman::{Error, Result};

/// Replays the expected calls of BFCL's multi-turn tasks, and damaged ones: how many the official checker judges valid.
#[derive(Parser)]
struct Arguments {
    /// The folder with BFCL's tasks and the tools' documents; else $JOURNEYMAN_DATA/bfcl.
    #[arg(long)]
    data: Option<PathBuf>,
    /// The interpreter that examples/bfcl/setup.sh prints.
    #[arg(long)]
    python: PathBuf,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let given = env::var_os("JOURNEYMAN_DATA").map(|data| PathBuf::from(data).join("bfcl"));
    let data = arguments.data.or(given).ok_or_else(|| {
        Error::invalid("bfcl", "the folder with BFCL's tasks is not named")
            .hint("give --data or JOURNEYMAN_DATA")
    })?;
    let setting = Setting {
        python: arguments.python,
        data,
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
