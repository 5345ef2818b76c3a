//! The command `journeyman`: skill libraries, local models and experiments, for people and scripts. `journeyman --help`
//! and `docs/reference/command.md` describe its commands, exit codes and JSON.

mod arguments;
mod aside;
mod calibrated;
mod change;
mod changes;
mod check;
mod copy;
mod experiment;
mod export;
mod files;
mod import;
mod incoming;
mod jobs;
mod library;
mod lift;
mod log;
mod model;
mod outcome;
mod output;
mod progress;
mod reading;
mod recipes;
mod recognize;
mod repair;
mod retire;
mod run;
mod search;
mod serve;
mod show;
mod stats;
mod stemming;
mod take_in;
#[cfg(test)]
mod tests;
mod time;
mod toml_file;
mod validate;
mod words;
mod world;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, error::ErrorKind};
use futures::executor::block_on;
use journeyman::{Error, Result};

use crate::{
    arguments::{Arguments, Command, LibraryCommand, ServeCommand, SkillCommand},
    model::arguments::ModelCommand,
    output::Answer,
};

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return not_understood(&error),
    };
    if let Command::Completions { shell } = arguments.command {
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut Arguments::command(), "journeyman", &mut script);
        return output::print(&script);
    }
    if let Command::Model(ModelCommand::Worker) = arguments.command {
        return journeyman_llama_cpp::run_worker();
    }
    let json = arguments.json;
    journeyman_llama_cpp::print_warnings(|line| output::tell(&format!("warning: {line}")));
    if let Command::Experiment(command) = &arguments.command {
        return output::answer(json, experiment::experiment(command));
    }
    output::answer(json, block_on(perform(arguments)))
}

/// Prints clap's help, version or error. With `--json`, wrong arguments are printed as JSON.
fn not_understood(error: &clap::Error) -> ExitCode {
    let given = std::env::args_os().skip(1);
    let mut given = given.take_while(|argument| argument != "--");
    if !error.use_stderr() || !given.any(|argument| argument == "--json") {
        error.exit();
    }
    let said = error.render().to_string();
    let first: Vec<&str> = said
        .lines()
        .take_while(|line| !line.is_empty())
        .map(str::trim)
        .collect();
    let first = first.join(" ");
    let message = match error.kind() {
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => "a command is missing",
        _ => first.strip_prefix("error: ").unwrap_or(&first),
    };
    let error = Error::invalid("arguments", message)
        .hint("`journeyman --help` lists the commands, and each command's --help its arguments");
    output::usage(&error)
}

async fn perform(arguments: Arguments) -> Result<Answer> {
    let named = arguments.library;
    let root = named.clone().unwrap_or_else(|| ".".into());
    match arguments.command {
        Command::Skill(command) => match command {
            SkillCommand::List(list) => show::list(&root, &list).await,
            SkillCommand::Why(command) => model::why::why(&root, &command).await,
            SkillCommand::Search(search) => search::search(&root, &search).await,
            SkillCommand::Show { name, version } => show::show(&root, &name, version).await,
            SkillCommand::Diff { name, from, to } => show::diff(&root, &name, from, to).await,
            SkillCommand::Log { name, limit } => log::log(&root, name.as_deref(), limit).await,
            SkillCommand::Validate { paths } => validate::validate(&paths),
            SkillCommand::Rollback { name, version, how } => {
                change::roll_back(&root, &name, version, &how).await
            }
            SkillCommand::Import(import) => import::import(&root, &import).await,
            SkillCommand::Export(export) => export::export(&root, &export).await,
            SkillCommand::Evals(command) => run::evals::evals(named.as_deref(), &command).await,
            SkillCommand::Quarantine { name, how } => change::quarantine(&root, &name, &how).await,
            SkillCommand::Release {
                name,
                reason,
                dry_run,
            } => change::release(&root, &name, &reason, dry_run).await,
            SkillCommand::Retire(which) => retire::retire(&root, &which).await,
        },
        Command::Library(command) => match command {
            LibraryCommand::Create => library::create(&root).await,
            LibraryCommand::Check => check::check(&root),
            LibraryCommand::Repair { aside } => repair::repair(&root, aside.as_deref()).await,
            LibraryCommand::Stats => stats::stats(&root).await,
            LibraryCommand::Lift(arguments) => lift::lift(&root, &arguments).await,
            LibraryCommand::Certify(command) => {
                run::certify::certify(named.as_deref(), &command).await
            }
            LibraryCommand::Calibrate(command) => {
                run::calibrate::calibrate(named.as_deref(), &command).await
            }
            LibraryCommand::Copy { target, archive } => copy::copy(&root, target, archive).await,
            LibraryCommand::Restore { archive } => copy::restore(&root, &archive).await,
            LibraryCommand::Merge(merge) => import::merge(&root, &merge).await,
        },
        Command::Model(command) => model::perform(&root, command, arguments.json).await,
        Command::Run(command) => run::run(named.as_deref(), &command).await,
        Command::Serve(ServeCommand::Mcp(command)) => serve::mcp(&root, &command).await,
        // `main` has handled them.
        Command::Experiment(_) | Command::Completions { .. } => Ok(Answer::default()),
    }
}
