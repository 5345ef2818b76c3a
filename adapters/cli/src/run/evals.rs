//! `skill evals`: a skill's evals in the world of a run's file, with the skill in the prompt and without any skill.

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use journeyman::{
    Error, ErrorKind, ModelId, Result,
    agent::{FrozenStore, role::ModelJudge},
    contract::{Components, Snapshot},
    domain::{
        Cause, CommitKey, Committed, FilePath, FileRef, LibraryChange, Revision, Role, Skill, State,
    },
    recipe::{self, Limits},
    run::{Journeyman, Options},
    stations::{
        proof::Comparison,
        select::{Candidates, Nothing, Top},
    },
};
use journeyman_disk::DiskStore;
use journeyman_interchange::evals::{self, SkillEval, SkillEvals};
use serde_json::json;

use super::{
    eval_tasks::{EVALS, EvalJudge, EvalTasks, Files},
    opened::{OpenParts, Opening, tell_findings},
    paired::{self, ASK_FOR_LESS, Compared, Side},
};
use crate::{
    arguments::Evals,
    library::{file_bytes, find, open},
    output::{Answer, tell},
    world::{Protocol, TaskJudge},
};

/// The session has a name of its own, which no file can give: a run of the file's own name may go on.
const BEHIND: &str = "_evals";

/// The second side, in words.
const WITH: &str = "the agent with the skill";

/// What judges where no model is asked, in words.
const EXPECTED: &str = "what the evals expect";

/// A skill with its evals.
#[derive(Debug)]
struct Evaluated {
    skill: Skill,
    evals: SkillEvals,
    files: Files,
}

/// `library` is the folder that the arguments name, which comes before the file's.
pub(crate) async fn evals(library: Option<&Path>, command: &Evals) -> Result<Answer> {
    let opening = Opening {
        operation: EVALS,
        behind: BEHIND,
        library,
        seed: command.seed,
        ..Opening::of(&command.run)
    };
    let file = opening.read()?;
    let limits = file.recipe.limits;
    let most = command.most.map_or(usize::MAX, NonZeroUsize::get);
    let policy = paired::policy((command.error, command.margin), most as u64);
    let comparison = Comparison::new(policy)?;
    let library = file.library();
    let evaluated = Evaluated::read(&library, &command.name).await?;
    let (skill, protocol) = (&evaluated.skill, file.form.protocol());
    let jobs = file.form.jobs(&file.source)?;
    let has_judge = jobs.iter().any(|job| job.name == "judge");
    let EvalTasks { tasks, judge } =
        EvalTasks::of(&evaluated.evals, &evaluated.files, protocol, has_judge)
            .map_err(|error| of_evals(error, skill))?;
    if skill.state == State::Quarantined {
        tell(
            "note: the skill is in quarantine: its text and its evals, which the agent is given now, may be an attack",
        );
    }
    let judge = Arc::new(judge);
    let of_world = TaskJudge::new(judge.clone(), judge.expected.clone());
    let OpenParts {
        parts,
        options,
        trace,
    } = file.parts(&library, of_world).await?;
    let (seed, options) = (options.seed, options.read_only());
    let judged_by = judged_by(
        (&*judge, tasks.len()),
        &parts.components,
        (protocol, limits),
    );
    let sides = |named: &str, journeyman| {
        let held = (None, Arc::clone(&trace));
        Side::new(named.to_owned(), journeyman, tasks.clone(), held)
    };
    let (components, setting) = (&parts.components, (limits, &options));
    let mut without = sides("without", session(components, None, setting).await?);
    let with = session(components, Some(skill), setting).await?;
    tell_findings(&with);
    let mut with = sides("with", with);
    let mut order = without.shared(&with, seed);
    order.truncate(most);
    let compared = match parts.world.environment.capabilities().resettable {
        true => paired::compare(comparison, (&mut without, &mut with), &order, WITH).await,
        false => Err(not_resettable()),
    };
    parts.world.close().await;
    let of = (&evaluated, &*judged_by, policy.least);
    told(&compared?, [&without, &with], of)
}

impl Evaluated {
    /// # Errors
    /// `NotFound` for an unknown skill, one without evals, and a file that an eval names and the skill has not; `Invalid` for a file of evals
    /// that cannot be read.
    async fn read(library: &Path, name: &str) -> Result<Self> {
        let opened = open(library, false).await?;
        let skill = find(&opened.library, name)?.skill.clone();
        let path = FilePath::new(evals::PATH)?;
        let file = skill.files.get(&path).ok_or_else(|| {
            let error = Error::new(ErrorKind::NotFound, EVALS, "the skill has no evals");
            of_evals(error, &skill).hint(
                "write the file into the skill's folder; `skill export --evals` makes one of a learned skill's test bundle",
            )
        })?;
        let written = file_text(&opened.store, &path, file).await?;
        let read = evals::read(&written).map_err(|error| of_evals(error, &skill))?;
        let mut files = Files::new();
        // An eval with data of the world's own is set up by these alone.
        let named = read.evals.iter().filter(|eval| eval.payload.is_null());
        for eval in named {
            for path in &eval.files {
                let file = found(&skill, path).ok_or_else(|| missing(&skill, eval, path))?;
                let text = file_text(&opened.store, path, file).await?;
                files.insert(path.clone(), text);
            }
        }
        Ok(Self {
            skill,
            evals: read,
            files,
        })
    }
}

/// A file by its path within the skill's folder, or by that from its evals on.
fn found<'a>(skill: &'a Skill, path: &FilePath) -> Option<&'a FileRef> {
    let behind = || FilePath::new(format!("evals/{path}")).ok();
    let file = skill.files.get(path);
    file.or_else(|| skill.files.get(&behind()?))
}

async fn file_text(store: &DiskStore, path: &FilePath, file: &FileRef) -> Result<String> {
    let bytes = file_bytes(EVALS, store, &file.sha256).await?;
    String::from_utf8(bytes).map_err(|_| {
        Error::invalid(EVALS, "a file of the evals is no text")
            .with("file", path)
            .hint("save it as UTF-8")
    })
}

fn of_evals(error: Error, skill: &Skill) -> Error {
    error.with("skill", &skill.name).with("file", evals::PATH)
}

fn missing(skill: &Skill, eval: &SkillEval, path: &FilePath) -> Error {
    let message = "an eval names a file that the skill does not have";
    of_evals(Error::new(ErrorKind::NotFound, EVALS, message), skill)
        .with("eval", &eval.id)
        .with("missing", path)
        .hint("put the file into the skill's folder, or name it by its path there")
}

fn not_resettable() -> Error {
    let message = "the world cannot be set up again, and each eval has to be attempted twice";
    Error::unsupported(EVALS, message).hint(
        "where a second attempt finds the world as the first one did, say so: `resettable = True` in the world's program, or \
         `resettable = true` in [world] for an MCP server",
    )
}

/// Gives the judge of so many evals its model, if it needs one, and says what judges.
fn judged_by(
    (judge, evals): (&EvalJudge, usize),
    components: &Components,
    (protocol, limits): (Protocol, Limits),
) -> String {
    if protocol == Protocol::Process {
        return "the world's outcomes".to_owned();
    }
    let (asked_of, model) = (judge.asked_of_a_model(), components.model_for(Role::Score));
    let Some(model) = model.filter(|_| asked_of > 0) else {
        return EXPECTED.to_owned();
    };
    // An answer and its repair have to come within the limit of a verdict.
    let mut asked = ModelJudge::new(model.clone()).with_time_limit(limits.judge / 2);
    if let Some(clock) = &components.clock {
        asked = asked.with_clock(clock.clone());
    }
    judge.set_model(asked);
    by_model((asked_of, evals), &model.capabilities().model)
}

/// What judges where a model is asked about some of so many evals, or about all.
fn by_model((asked_of, evals): (usize, usize), model: &ModelId) -> String {
    match evals - asked_of {
        0 => format!("the model {model}"),
        by_expect => format!("{EXPECTED} ({by_expect}), and the model {model} ({asked_of})"),
    }
}

/// A session that only measures, in which each prompt has this skill, or none has any.
async fn session(
    components: &Components,
    skill: Option<&Skill>,
    (limits, options): (Limits, &Options),
) -> Result<Journeyman> {
    let mut recipe = recipe::standard();
    recipe.limits = limits;
    recipe.select.candidates = Candidates::Cache;
    recipe.select.selector = match skill {
        Some(_) => Top::new(NonZeroUsize::MIN).into(),
        None => Nothing.into(),
    };
    let mut components = components.clone();
    components.retriever = None;
    components.store = Some(Arc::new(FrozenStore::new(
        skill.map_or_else(Snapshot::default, alone),
    )));
    Journeyman::open(components, recipe, options.clone()).await
}

/// A library of this skill alone, in use.
fn alone(skill: &Skill) -> Snapshot {
    let reason = "its evals are attempted".to_owned();
    let in_use = LibraryChange::SetState {
        skill: skill.id.clone(),
        state: State::Active,
        reason: reason.clone(),
    };
    let committed = Committed::new(
        Revision(1),
        CommitKey::new(EVALS),
        Cause::new(reason),
        // Adding an imported skill quarantines it.
        vec![LibraryChange::Add(Box::new(skill.clone())), in_use],
    );
    Snapshot::new(committed.revision, vec![committed])
}

fn told(
    compared: &Compared,
    [without, with]: [&Side; 2],
    (evaluated, judged_by, least): (&Evaluated, &str, u64),
) -> Result<Answer> {
    let (skill, count) = (&evaluated.skill, evaluated.evals.evals.len());
    if compared.pairs() == 0 {
        let message = "no eval could be judged both with the skill and without it";
        return Err(of_evals(Error::unsupported(EVALS, message), skill)
            .with("evals", count)
            .hint(
                "let the world give an outcome: it finds the eval in the task's payload, as `eval`",
            ));
    }
    let mut text = compared.text("SKILL", [without, with]);
    text.push_str(&format!("Judged by {judged_by}.\n"));
    let left_out = with.without_skill();
    if left_out > 0 {
        text.push_str(&format!(
            "In {left_out} attempts the skill did not fit into the prompt: give the model a longer context, or shorten the skill.\n",
        ));
    }
    if compared.is_open() {
        text.push_str(&how_to_tell(count, least));
    }
    let mut json = compared.json();
    json["skill"] = json!(skill.name);
    json["version"] = json!(skill.version);
    json["evals"] = count.into();
    json["judged_by"] = judged_by.into();
    json["without"] = without.json();
    json["with"] = with.json();
    Ok(Answer {
        json,
        text,
        ..Answer::default()
    })
}

/// What would decide it where the pairs of these evals do not.
fn how_to_tell(evals: usize, least: u64) -> String {
    if (evals as u64) < least {
        return format!(
            "The skill has {evals} evals, and at least {least} are needed before anything is concluded: write more.\n"
        );
    }
    format!("The skill has {evals} evals: write more, or {ASK_FOR_LESS}.\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_judges_is_named() {
        let model = ModelId::new("m");
        assert_eq!(by_model((3, 3), &model), "the model m");
        let both = "what the evals expect (2), and the model m (1)";
        assert_eq!(by_model((1, 3), &model), both);
    }

    #[test]
    fn too_few_evals_to_conclude_anything_are_told_from_others_that_do_not_decide() {
        assert!(how_to_tell(3, 8).contains("at least 8 are needed"));
        // Who allows fewer attempts wants them to count.
        let least = paired::policy((0.05, 0.0), 2).least;
        for text in [how_to_tell(3, least), how_to_tell(9, 8)] {
            assert!(text.contains("`--error`"), "{text}");
        }
    }
}
