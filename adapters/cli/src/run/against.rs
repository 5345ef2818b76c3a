//! `run --compare`: two runs' files on the same held-out tasks, until it is clear which is better.

use std::path::Path;

use journeyman::{Error, Result, Seed, stations::proof::Comparison};
use serde_json::Value;

use super::{
    form::RUN,
    opened::{OpenRun, Opening},
    paired::{self, Side},
};
use crate::{arguments::Run, output::Answer, world::World};

/// The second file's session has a name of its own, which no file can give: both may share a library.
const SECOND: &str = "_second";

/// One of the two, opened.
#[derive(Debug)]
struct Opened {
    side: Side,
    seed: Seed,
    world: World,
    /// The run's name in its library.
    _held: std::fs::File,
}

/// Measures both on the tasks that both hold out.
pub(super) async fn compare(library: Option<&Path>, command: &Run, other: &Path) -> Result<Answer> {
    let comparison = Comparison::new(paired::policy((command.error, command.margin), u64::MAX))?;
    let mut first = Opened::open(library, command, (&command.file, "")).await?;
    let mut second = Opened::open(library, command, (other, SECOND)).await?;
    let both = first.side.shared(&second.side, first.seed);
    if both.is_empty() {
        return Err(
            Error::invalid(RUN, "the two files hold out no task in common")
                .with("first", command.file.display())
                .with("second", other.display())
                .hint("name the same file of tasks in `held_out` of both"),
        );
    }
    let sides = (&mut first.side, &mut second.side);
    let compared = paired::compare(comparison, sides, &both, "the second").await;
    first.world.close().await;
    second.world.close().await;
    let compared = compared?;
    let mut text = compared.text("FILE", [&first.side, &second.side]);
    if compared.is_open() {
        text.push_str("Hold out more tasks, or ask for less: a greater `--error`, or a `--margin` below which a difference does not matter.\n");
    }
    let mut json = compared.json();
    json["held_out"] = both.len().into();
    json["first"] = first.json(&command.file);
    json["second"] = second.json(other);
    Ok(Answer {
        json,
        text,
        ..Answer::default()
    })
}

impl Opened {
    async fn open(
        library: Option<&Path>,
        command: &Run,
        (file, behind): (&Path, &str),
    ) -> Result<Self> {
        let opening = Opening {
            file,
            behind,
            library,
            seed: command.seed,
            model: None,
            needs_library: false,
        };
        let OpenRun {
            journeyman,
            held_out,
            calibrated,
            seed,
            world,
            trace,
            held,
        } = opening.open().await?;
        let name = file.display().to_string();
        let tasks = held_out.into_values().collect();
        Ok(Self {
            side: Side::new(name, journeyman, tasks, (calibrated, trace)),
            seed,
            world,
            _held: held,
        })
    }

    fn json(&self, file: &Path) -> Value {
        let mut json = self.side.json();
        json["file"] = file.display().to_string().into();
        json
    }
}
