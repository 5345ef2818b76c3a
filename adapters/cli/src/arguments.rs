//! What the command understands.

use std::{num::NonZero, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use crate::model::arguments::ModelCommand;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; nothing is wrong
  1  refused, or faults were found
  2  the arguments are not understood
  3  what was asked for is not there
  4  the library, an archive or a model's file is damaged
  5  busy, read-only, a full disk or the like: another try may help

The names of skills and all text of theirs are printed without control characters.";

/// Skill libraries: look, compare, validate, bring in and out, take back, check and repair; local models; experiments.
#[derive(Debug, Parser)]
#[command(name = "journeyman", version, about, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    /// The library's folder, the one with `library.db`
    #[arg(long, global = true, value_name = "PATH", default_value = ".")]
    pub(crate) library: PathBuf,
    /// Answer with one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Single skills
    #[command(subcommand)]
    Skill(SkillCommand),
    /// The library as a whole
    #[command(subcommand)]
    Library(LibraryCommand),
    /// Local models in GGUF, on llama.cpp
    #[command(subcommand)]
    Model(ModelCommand),
    /// Measure recipes, ablations and sweeps over seeds in toolworld, and compare them; what is done already is kept
    Experiment(Experiment),
    /// A completion script for a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Experiment {
    /// The experiment's file, in TOML
    pub(crate) file: PathBuf,
    /// The folder of the cells and the report; `out` and the experiment's name if left out
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How many cells run at once; as many as the cores can compute if left out
    #[arg(long, value_name = "N")]
    pub(crate) jobs: Option<NonZero<usize>>,
    /// Run nothing, and report what is there
    #[arg(long)]
    pub(crate) report: bool,
    /// Keep the cells that another build of the command made
    #[arg(long)]
    pub(crate) any_build: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SkillCommand {
    /// The skills, by name
    List(List),
    /// A skill: its SKILL.md and what the library knows of it
    Show {
        /// Its name or id
        name: String,
        /// Which version; the current one if left out
        #[arg(long, value_name = "N")]
        version: Option<u64>,
    },
    /// What differs between two versions
    Diff {
        /// The skill's name or id
        name: String,
        /// The one version
        #[arg(value_name = "A")]
        from: u64,
        /// The other
        #[arg(value_name = "B")]
        to: u64,
    },
    /// The commits, the latest first
    Log {
        /// Only those that touched this skill
        name: Option<String>,
        /// At most so many
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Check skills against the Agent Skills specification, strictly, and the rules of safety
    Validate {
        /// A skill's folder, a folder of such, or a SKILL.md
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
    },
    /// Bring an earlier version back, as a new one
    Rollback {
        /// The skill's name or id
        name: String,
        /// Which version
        version: u64,
        #[command(flatten)]
        how: How,
    },
    /// Take skills in; all of them start quarantined
    Import(Import),
    /// Write skills out
    Export(Export),
    /// Hold a skill back until it is released
    Quarantine {
        /// Its name or id
        name: String,
        #[command(flatten)]
        how: How,
    },
    /// Make a skill active
    Release {
        /// Its name or id
        name: String,
        /// Why, for the log
        #[arg(long, value_name = "TEXT")]
        reason: String,
        /// Say what would be done and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Take back a run: its credits, and every version that came from it
    RetireRun {
        /// The run's id
        run: String,
        #[command(flatten)]
        how: How,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum LibraryCommand {
    /// Look at every commit, journal entry, file and folder; changes nothing
    Check,
    /// Copy the library's folder aside, save what a damaged database still gives, and write the folders anew
    Repair {
        /// Where the copy goes; beside the library if left out
        #[arg(long, value_name = "PATH")]
        aside: Option<PathBuf>,
    },
    /// Counts and sizes
    Stats,
    /// The same library once more, with its history and journal, as a folder or as one file
    #[command(group = clap::ArgGroup::new("to").required(true).args(["target", "archive"]))]
    Copy {
        /// The new folder
        target: Option<PathBuf>,
        /// A file, to be read by `library restore`
        #[arg(long, value_name = "FILE")]
        archive: Option<PathBuf>,
    },
    /// Make the library out of one's own archive; for a stranger's, see `skill import`
    Restore {
        /// What `library copy --archive` wrote
        archive: PathBuf,
    },
    /// Take in what another library offers, as a stranger's; all of it starts quarantined
    Merge(Merge),
}

/// How a change is made.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// Why, for the log
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Say what would be done and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only skills in this state; may be given several times
    #[arg(long, value_enum)]
    pub(crate) state: Vec<OfState>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OfState {
    Draft,
    Quarantined,
    Trial,
    Active,
    Disabled,
    Archived,
}

/// Where skills from elsewhere come from, and how they are taken in.
#[derive(Debug, Args)]
pub(crate) struct Elsewhere {
    /// The source's name; the path's last part if left out
    #[arg(long, value_name = "NAME")]
    pub(crate) source: Option<String>,
    /// The source is trusted, so its skills are not tainted; they start quarantined all the same
    #[arg(long)]
    pub(crate) trust: bool,
    /// Take in the others where some paths or skills are refused
    #[arg(long)]
    pub(crate) keep_going: bool,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Skills' folders, folders of such, SkillRL banks, ARISE documents, archives
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// What they are; found out by what is in them if left out
    #[arg(long, value_enum)]
    pub(crate) format: Option<Format>,
    /// Make the library where there is none
    #[arg(long)]
    pub(crate) create: bool,
    #[command(flatten)]
    pub(crate) from: Elsewhere,
}

#[derive(Debug, Args)]
pub(crate) struct Merge {
    /// The other library's folder, or an archive of it
    pub(crate) other: PathBuf,
    #[command(flatten)]
    pub(crate) from: Elsewhere,
}

#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).args(["names", "all", "set"]))]
pub(crate) struct Export {
    /// The skills' names or ids
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Every skill
    #[arg(long)]
    pub(crate) all: bool,
    /// The skills that came from this SkillRL bank or ARISE document, by the source's name
    #[arg(long, value_name = "SOURCE")]
    pub(crate) set: Option<String>,
    /// In which form
    #[arg(long, value_enum)]
    pub(crate) format: Format,
    /// A file that is not there yet; with `skill-folder` a folder that holds none of these skills yet
    #[arg(long, value_name = "PATH")]
    pub(crate) output: PathBuf,
}

/// A form that skills come and go in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Folders with a SKILL.md
    SkillFolder,
    /// A SkillRL bank
    Skillrl,
    /// ARISE documents
    Arise,
    /// A library in one file
    Archive,
}
