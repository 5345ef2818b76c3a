//! Two processes that learn the same thing in one library.

use std::{
    collections::BTreeSet,
    io::Write,
    path::Path,
    process::{Child, Command, Stdio},
};

use journeyman::Seed;
use journeyman_disk::{DiskOptions, DiskStore};

use super::{
    Failure,
    child::{ARGUMENT, OTHER, OTHER_UNQUOTED},
    kinds,
};
use crate::{
    figures::{Bound, Figures, Outcome},
    host::kills::{Lines, ready},
};

/// Pairs of processes.
const ROUNDS: u64 = 20;

pub(super) fn record(figures: &mut Figures<'_>) -> Outcome {
    let seed = figures.options().seed;
    let of = |other: &str| -> Result<(usize, usize), Failure> {
        let (mut doubled, mut skills) = (0, 0);
        for round in 0..ROUNDS {
            let (all, distinct) = learned(seed.derive("doubles", round), other)?;
            skills += distinct;
            doubled += usize::from(all > distinct);
        }
        Ok((doubled, skills))
    };
    let (doubled, skills) = of(OTHER)?;
    figures.record(
        "two processes at once: libraries with a skill twice, of 20",
        doubled as f64,
        Bound::AtMost(0.0),
    );
    // The quoted message, with an order's number, is what was held to tell the two skills apart.
    let (unquoted, _) = of(OTHER_UNQUOTED)?;
    figures.record(
        "the same where no writer quotes the customer",
        unquoted as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "two processes at once: skills that were learned",
        skills as f64,
        Bound::AtLeast(40.0),
    );
    Ok(())
}

/// How many skills two processes brought, and how many different ones: of other steps.
fn learned(seed: Seed, other: &str) -> Result<(usize, usize), Failure> {
    let folder = tempfile::tempdir()?;
    let library = folder.path().join("library");
    let mut children = [start(&library, "one", seed)?, start(&library, other, seed)?];
    for (child, _) in &mut children {
        let input = child.stdin.as_mut().ok_or("the process has no input")?;
        writeln!(input, "go")?;
    }
    for (mut child, _lines) in children {
        let ended = child.wait()?;
        if !ended.success() {
            return Err(format!("a process ended with {ended}").into());
        }
    }
    let store = DiskStore::open(&library, &DiskOptions::default())?;
    let library = futures::executor::block_on(async {
        let committed = journeyman::contract::SkillStore::load(&store)
            .await?
            .committed;
        journeyman::library::SkillLibrary::replay(&committed)
    })?;
    let kinds = kinds();
    let tools: BTreeSet<&String> = kinds.iter().flat_map(|kind| &kind.tools).collect();
    // A skill is what it has the agent call, in this order.
    let steps = |body: &str| -> Vec<(usize, String)> {
        let found = tools.iter();
        let found = found.filter_map(|tool| Some((body.find(tool.as_str())?, (*tool).clone())));
        let mut found: Vec<(usize, String)> = found.collect();
        found.sort();
        found
    };
    let offered = library
        .entries()
        .filter(|entry| entry.skill.state.is_offered());
    let calls = offered.map(|entry| {
        let steps = steps(&entry.skill.body).into_iter();
        steps.map(|(_, tool)| tool).collect::<Vec<String>>()
    });
    let all: Vec<Vec<String>> = calls.collect();
    let distinct: BTreeSet<&Vec<String>> = all.iter().collect();
    Ok((all.len(), distinct.len()))
}

/// A process that has opened its library.
fn start(library: &Path, session: &str, seed: Seed) -> Result<(Child, Lines), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .arg(ARGUMENT)
        .arg(library)
        .args([session, &seed.to_string()])
        .stdin(Stdio::piped());
    ready(&mut command)
}
