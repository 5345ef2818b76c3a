//! `journeyman run`: learns from the tasks of a user's own environment, and measures held-out tasks before and after.
//! `docs/command-line.md` describes the file.

mod compare;
mod form;
mod learned;
mod parts;
mod tasks;
mod world;
mod world_config;

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use futures::{
    StreamExt,
    future::{Either, select},
};
use journeyman::{
    Result, Seed, SkillId,
    library::SkillLibrary,
    report::{Event, EventKind, RunReport, TaskReport},
    run::{Journeyman, Options},
};
use journeyman_disk::DiskStore;
use journeyman_mcp::ExpectationJudge;
use serde_json::json;

use self::{
    compare::Comparison,
    form::{Form, RUN},
    parts::Parts,
    tasks::Tasks,
};
use crate::{
    arguments::Run,
    library::load,
    output::{Answer, Exit, tell},
    toml_file::Source,
};

pub(crate) async fn run(command: &Run) -> Result<Answer> {
    let source = Source::read(RUN, &command.file)?;
    let form: Form = source.form()?;
    let folder = std::path::absolute(&command.file)
        .ok()
        .and_then(|file| Some(file.parent()?.to_owned()))
        .unwrap_or_default();
    let name = form.name(&source)?.to_owned();
    let recipe = form.recipe(&source, &folder)?;
    if command.approve_tools {
        return approve(&source, &form, &folder).await;
    }
    let tasks = Tasks::read(
        &folder,
        &form.tasks,
        form.held_out.get_ref(),
        form.protocol(),
    )?;
    let judge = ExpectationJudge::new(tasks.expected);
    let library = folder.join(form.library.as_deref().unwrap_or(Path::new("library")));
    let seed = command.seed.or(form.seed).unwrap_or(1);
    let parts = Parts::open(&source, &form, &folder, &library, judge).await?;
    tell(&format!("model {}", parts.model));
    let options = Options::new(name.as_str(), Seed(seed));
    let journeyman = Journeyman::open(parts.backends, recipe, options).await?;
    for finding in journeyman.findings() {
        tell(&format!("note: {finding}"));
    }
    let measure = |what| {
        tell(what);
        journeyman.evaluate(tasks.held_out.clone())
    };
    let resettable = parts.world.environment.capabilities().resettable;
    let mut before = None;
    if resettable || command.only_measure {
        let measuring = measure("measuring held-out tasks");
        before = Some(follow(&journeyman, measuring, tasks.held_out.len()).await?);
    } else {
        tell(
            "the world cannot be set up again: the held-out tasks are attempted once, after learning",
        );
    }
    let (mut after, mut learning_report) = (None, None);
    if !command.only_measure {
        tell("learning");
        let learning = journeyman.learn(tasks.stream.clone());
        let learned = follow(&journeyman, learning, tasks.stream.len()).await?;
        let again = measure("measuring held-out tasks again");
        let measured = follow(&journeyman, again, tasks.held_out.len()).await;
        if measured.is_err() {
            tell_kept(&learned, &parts.store, &library).await;
        }
        (after, learning_report) = (Some(measured?), Some(learned));
    }
    parts.world.close().await;
    let compared = Comparison::of(before.as_ref(), after.as_ref());
    let skills = load(&parts.store).await?;
    let mut answer = told(&compared, &skills, &library, seed);
    if let Some(report) = &learning_report {
        answer.text.push_str(&learned::text(report));
        answer.json["learning"] = learned::json(report);
    }
    Ok(answer)
}

/// Where the measurement after the learning fails, its error comes last: what the learning left is said before it.
async fn tell_kept(learned: &RunReport, store: &DiskStore, library: &Path) {
    if let Ok(skills) = load(store).await {
        let kept = in_library(&skills, library);
        let text = format!("{}What was learned is kept. {kept}", learned::text(learned));
        tell(text.trim_end());
    }
}

/// The skills of the library, and what to do about those that are not offered.
fn in_library(skills: &SkillLibrary, library: &Path) -> String {
    let (offered, all) = counts(skills);
    let held_back = "Skills that are not offered wait in quarantine, since the world is not trusted: read them with `skill show`, \
         then `skill release` them, or set `trusted = true` for a world of your own.\n";
    format!(
        "The library has {all} skills, of which {offered} are offered: {}\n{}",
        library.display(),
        if offered < all { held_back } else { "" },
    )
}

/// The skills that are offered, and all.
fn counts(skills: &SkillLibrary) -> (usize, usize) {
    let offered = skills.entries().filter(|one| one.skill.state.is_offered());
    (offered.count(), skills.entries().count())
}

/// The figures, and what is in the library.
fn told(compared: &Comparison, skills: &SkillLibrary, library: &Path, seed: u64) -> Answer {
    let text = format!(
        "{}{}Seed {seed}.\n",
        compared.text(),
        in_library(skills, library)
    );
    let (offered, all) = counts(skills);
    let mut json = compared.json();
    json["learning"] = json!(null);
    json["seed"] = seed.into();
    json["library"] = json!(library.display().to_string());
    json["skills"] = json!({ "all": all, "offered": offered });
    Answer {
        json,
        text,
        exit: Exit::Done,
    }
}

async fn approve(source: &Source<'_>, form: &Form, folder: &Path) -> Result<Answer> {
    let (count, file) = world::approve(form.world(source, folder)?).await?;
    let file = file.display().to_string();
    Ok(Answer {
        text: format!(
            "{count} tools are approved as they are now: {file}\nTake a line out of the file to withdraw a tool.\n"
        ),
        json: json!({"approved": count, "file": file}),
        exit: Exit::Done,
    })
}

/// Prints a run's progress on standard error while it goes on.
async fn follow(
    journeyman: &Journeyman,
    run: impl Future<Output = Result<RunReport>>,
    total: usize,
) -> Result<RunReport> {
    let mut events = journeyman.events();
    let mut run = std::pin::pin!(run);
    let library = journeyman.library().await?;
    let named = library
        .entries()
        .map(|one| (one.skill.id.clone(), one.skill.name.to_string()));
    let mut progress = Progress {
        total,
        ended: 0,
        names: named.collect(),
    };
    loop {
        match select(events.next(), run.as_mut()).await {
            Either::Left((Some(event), _)) => progress.show(&event),
            Either::Left((None, _)) => {}
            Either::Right((report, _)) => {
                while let Ok(event) = events.try_recv() {
                    progress.show(&event);
                }
                return report;
            }
        }
    }
}

/// What was seen of a run.
#[derive(Debug)]
struct Progress {
    total: usize,
    ended: usize,
    /// The names of the skills that are known.
    names: BTreeMap<SkillId, String>,
}

impl Progress {
    fn show(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Admitted { skill, revised, .. } => {
                let how = if *revised { "revised" } else { "learned" };
                tell(&format!("    {how} {}: {}", skill.name, skill.description));
                self.names.insert(skill.id.clone(), skill.name.to_string());
            }
            EventKind::TaskFinished { report, .. } => {
                self.ended += 1;
                let line = self.line(report);
                tell(&format!("  [{}/{}] {line}", self.ended, self.total));
            }
            _ => {}
        }
    }

    fn line(&self, report: &TaskReport) -> String {
        let all = report.attempts.len();
        let done = report
            .attempts
            .iter()
            .filter(|one| one.success == Some(true));
        let mut line = format!("{}: done {} of {all}", report.task, done.count());
        let injected = report.attempts.iter().flat_map(|one| &one.injected);
        let skills: BTreeSet<&SkillId> = injected.map(|skill| &skill.id).collect();
        if !skills.is_empty() {
            let name = |id: &SkillId| self.names.get(id).cloned().unwrap_or(id.to_string());
            let names: Vec<String> = skills.into_iter().map(name).collect();
            line.push_str(&format!(", with {}", names.join(", ")));
        }
        let fault = report.attempts.iter().find_map(|one| one.error.as_ref());
        if let Some(fault) = fault.or(report.failed.as_ref()) {
            line.push_str(&format!("; fault: {}", fault.message()));
        }
        line
    }
}
