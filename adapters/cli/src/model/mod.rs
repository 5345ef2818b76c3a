//! `journeyman model`: devices, descriptions, scores, texts, measurements and calibrations of local models.

pub(crate) mod arguments;
mod bench;
mod calibrate;
mod describe;
mod fetch;
mod generate;
pub(crate) mod layers;
pub(crate) mod load;
mod score;
pub(crate) mod why;

use std::path::Path;

use journeyman::Result;

use self::arguments::ModelCommand;
use crate::output::Answer;

pub(crate) async fn perform(root: &Path, command: ModelCommand, json: bool) -> Result<Answer> {
    match command {
        ModelCommand::Devices { backends } => describe::devices(backends.as_deref()),
        ModelCommand::Info { file } => describe::info(&load::found(&file)?),
        ModelCommand::Fetch { names } => fetch::fetch(&names),
        ModelCommand::Score(command) => score::score(&command).await,
        ModelCommand::Generate(command) => generate::generate(&command, json).await,
        ModelCommand::Bench(command) => bench::bench(&command).await,
        ModelCommand::Calibrate(command) => calibrate::calibrate(root, &command).await,
        // `main` has handled it.
        ModelCommand::Worker => Ok(Answer::default()),
    }
}
