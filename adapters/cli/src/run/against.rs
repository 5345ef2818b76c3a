//! `run --compare`: two runs' files, or two arms of one, on the same held-out tasks, until it is clear which is better.

use std::path::Path;

use journeyman::{Error, Result, Seed, stations::proof::Comparison};
use serde_json::Value;

use super::{
    form::{Form, RUN},
    opened::{OpenRun, Opening},
    paired::{self, ASK_FOR_LESS, Side},
};
use crate::{arguments::Run, output::Answer, toml_file::Source, world::World};

/// The second session has a name of its own, which no file can give: both may share a library.
const SECOND: &str = "_second";

/// One of the two: a run's file, or an arm of one.
#[derive(Debug)]
struct Chosen<'a> {
    file: &'a Path,
    arm: Option<String>,
}

impl Chosen<'_> {
    /// Its name in the answer.
    fn name(&self) -> String {
        let file = || self.file.display().to_string();
        self.arm.clone().unwrap_or_else(file)
    }

    fn json(&self, opened: &Opened) -> Value {
        let mut json = opened.side.json();
        json["file"] = self.file.display().to_string().into();
        json["arm"] = self.arm.clone().into();
        json
    }
}

/// One of the two, opened.
#[derive(Debug)]
struct Opened {
    side: Side,
    seed: Seed,
    world: World,
    /// The run's name in its library.
    _held: std::fs::File,
}

/// Measures both on the tasks that both hold out: the command's file and the other one; without another one the two arms of the first.
pub(super) async fn compare(
    library: Option<&Path>,
    command: &Run,
    other: Option<&Path>,
) -> Result<Answer> {
    let comparison = Comparison::new(paired::policy((command.error, command.margin), u64::MAX))?;
    let file = command.file.as_path();
    let arm = |arm: String| Chosen {
        file,
        arm: Some(arm),
    };
    let [one, two] = match other {
        Some(other) => [file, other].map(|file| Chosen { file, arm: None }),
        None => {
            let source = Source::read(RUN, file)?;
            Form::read(&source)?.two_arms(&source)?.map(arm)
        }
    };
    let mut first = Opened::open(library, command, (&one, "")).await?;
    let mut second = Opened::open(library, command, (&two, SECOND)).await?;
    let both = first.side.shared(&second.side, first.seed);
    if both.is_empty() {
        return Err(Error::invalid(RUN, "the two hold out no task in common")
            .with("first", one.name())
            .with("second", two.name())
            .hint("name the same file of tasks in `held_out` of both"));
    }
    let sides = (&mut first.side, &mut second.side);
    let compared = paired::compare(comparison, sides, &both, "the second").await;
    first.world.close().await;
    second.world.close().await;
    let compared = compared?;
    let head = if other.is_some() { "FILE" } else { "ARM" };
    let mut text = compared.text(head, [&first.side, &second.side]);
    if compared.is_open() {
        text.push_str(&format!("Hold out more tasks, or {ASK_FOR_LESS}.\n"));
    }
    let mut json = compared.json();
    json["held_out"] = both.len().into();
    json["first"] = one.json(&first);
    json["second"] = two.json(&second);
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
        (chosen, behind): (&Chosen<'_>, &str),
    ) -> Result<Self> {
        let name = chosen.name();
        let opening = Opening {
            arm: chosen.arm.as_deref(),
            behind,
            label: Some(&name),
            library,
            seed: command.seed,
            ..Opening::of(chosen.file)
        };
        let OpenRun {
            journeyman,
            held_out,
            calibrated,
            seed,
            world,
            trace,
            held,
            ..
        } = opening.read()?.open().await?;
        Ok(Self {
            side: Side::new(name, journeyman, held_out, (calibrated, trace)),
            seed,
            world,
            _held: held,
        })
    }
}
