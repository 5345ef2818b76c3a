//! `skill import` and `library merge`: reads skills of each format and imports them.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::BufReader,
    path::Path,
};

use journeyman::{
    Error, ErrorKind, Result, SkillId,
    domain::{FilePath, FileRef, LibraryChange, Origin, Skill, Source, Taint},
    library::format::SkillMd,
    stations::admit::imported,
    text::Redactor,
};
use journeyman_disk::{ArchiveLimits, LibraryReader, SkillFolder, is_misnamed_skill, read_offer};
use journeyman_interchange::{arise, skillrl};
use journeyman_lint::Rule;
use serde_json::Value;

use crate::{
    arguments::{Format, Import, Merge},
    files::{parent, unreadable},
    incoming::{IMPORT, Incoming, Refused},
    output::{Answer, warn},
    progress::Progress,
    reading::Reading,
    recognize::{recognized, text, unknown},
    take_in::{Target, source, take_in},
    validate::{SKILL_MD, folder, lint_folder, misnamed, skills_at},
};

pub(crate) async fn import(root: &Path, import: &Import) -> Result<Answer> {
    let progress = Progress::of("reading skills");
    let mut reading = Reading::new(import.from.keep_going);
    for path in &import.paths {
        let format = match import.format.map_or_else(|| recognized(path), Ok) {
            Ok(format) => format,
            Err(error) if reading.keep_going => {
                reading.refuse(path.display().to_string(), error)?;
                continue;
            }
            Err(error) => return Err(error),
        };
        let source = source(&import.from, path);
        let read = match format {
            Format::SkillFolder => folders(path, &source, &mut reading),
            Format::Skillrl => bank(path, &source, skillrl::read, &mut reading),
            Format::Arise => bank(path, &source, arise::read, &mut reading),
            Format::Archive => archive(path, &source, &mut reading),
        };
        if let Err(error) = read {
            let error = match error.fact("path") {
                Some(_) => error,
                None => error.with("path", path.display()),
            };
            reading.refuse(path.display().to_string(), error)?;
        }
    }
    let target = Target {
        root,
        create: import.create,
    };
    take_in(
        &target,
        &import.from,
        reading.incoming,
        reading.refused,
        progress,
    )
    .await
}

pub(crate) async fn merge(root: &Path, merge: &Merge) -> Result<Answer> {
    let progress = Progress::of("reading the other library");
    let other = &merge.other;
    let source = source(&merge.from, other);
    let mut reading = Reading::new(merge.from.keep_going);
    if other.is_dir() {
        let place = |path: &Path| path.canonicalize().ok();
        if place(root).is_some_and(|root| Some(root) == place(other)) {
            let message = "this is the library itself";
            return Err(unknown(other, message).hint("name another library, or an archive of one"));
        }
        library(other, &source, &mut reading)?;
    } else {
        archive(other, &source, &mut reading)?;
    }
    let target = Target {
        root,
        create: false,
    };
    take_in(
        &target,
        &merge.from,
        reading.incoming,
        reading.refused,
        progress,
    )
    .await
}

/// Reads a skill's folder, or each skill's folder below a folder.
fn folders(path: &Path, source: &Source, reading: &mut Reading) -> Result<()> {
    let skills = if path.is_dir() {
        skills_at(IMPORT, path)?
    } else if path.ends_with(SKILL_MD) {
        vec![parent(path)]
    } else {
        fs::metadata(path).map_err(|source| unreadable(IMPORT, path, source))?;
        if is_misnamed_skill(path) {
            return Err(misnamed(IMPORT, path));
        }
        return Err(unknown(path, "a skill's file is named SKILL.md").hint("name a skill's folder"));
    };
    for skill in skills {
        let is_named = skill == path || !path.is_dir();
        let place = skill.display().to_string();
        match folder(IMPORT, &skill, is_named) {
            Ok((folder, name)) => match of_folder(&place, folder, &name, source) {
                Ok(one) => reading.add(one),
                Err(one) => reading.refused.push(*one),
            },
            Err(error) => reading.refused.push(Refused::new(place, error)),
        }
    }
    Ok(())
}

fn of_folder(
    place: &str,
    folder: SkillFolder,
    name: &str,
    source: &Source,
) -> Result<Incoming, Box<Refused>> {
    // Secrets are redacted later; any other error refuses the skill.
    let findings = lint_folder(&folder, Some(name)).findings.into_iter();
    let findings = findings.filter(|found| found.rule != Rule::Secret);
    let warnings = Refused::or_warnings(place, findings)?;
    let read = || {
        let text = std::str::from_utf8(&folder.text).map_err(|_| {
            Error::invalid(IMPORT, "SKILL.md is not UTF-8").hint("save it as UTF-8 text")
        })?;
        let (file, _) = SkillMd::read(text, Some(name))?;
        skill(&file, folder.refs()?)
    };
    let skill = read().map_err(|error| Box::new(Refused::new(place, error)))?;
    Ok(Incoming {
        place: place.to_owned(),
        skill,
        files: folder.files,
        source: source.clone(),
        is_imported: false,
        redacted: false,
        warnings,
    })
}

/// A skill as its file describes it; [`journeyman::stations::admit::imported`] later gives it an id of its source.
fn skill(file: &SkillMd, files: BTreeMap<FilePath, FileRef>) -> Result<Skill> {
    let mut skill = file.skill()?;
    skill.id = SkillId::new(skill.name.as_str());
    skill.provenance.origin = Origin::Imported;
    Ok((skill.with_version(1))
        .with_files(files)
        .with_taint(Taint::Tainted))
}

/// The skills of a SkillRL bank or of ARISE documents.
fn bank(
    path: &Path,
    source: &Source,
    read: fn(&str, &Source) -> Result<Vec<Skill>>,
    reading: &mut Reading,
) -> Result<()> {
    let mut text = text(path)?;
    // Redacted as JSON, since a field's name shows whether its value is a secret. The reader refuses other text.
    let mut before = None;
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        let mut clean = value.clone();
        Redactor::default().redact_json(&mut clean);
        if clean != value {
            before = Some(read(&text, source)?);
            text = clean.to_string();
        }
    }
    for (at, skill) in read(&text, source)?.into_iter().enumerate() {
        // An id is derived from the whole skill.
        let same = |before: &Vec<Skill>| before.get(at).is_some_and(|b| b.id == skill.id);
        let redacted = before.as_ref().is_some_and(|before| !same(before));
        let incoming = Incoming {
            redacted,
            ..Incoming::read(path, skill, BTreeMap::new(), source)
        };
        reading.add(incoming);
    }
    Ok(())
}

fn archive(path: &Path, source: &Source, reading: &mut Reading) -> Result<()> {
    let file = File::open(path).map_err(|source| unreadable(IMPORT, path, source))?;
    let offer = read_offer(BufReader::new(file), source, &ArchiveLimits::default())?;
    let mut files = BTreeMap::new();
    for bytes in offer.files {
        files.insert(FileRef::of(&bytes)?, bytes);
    }
    if offer.changes.is_empty() {
        nothing_offered(path);
    }
    for change in offer.changes {
        if let LibraryChange::Add(skill) = change {
            let of_skill = files_of(&skill, |file| Ok(files.get(file).cloned()))?;
            reading.add(Incoming::read(path, *skill, of_skill, source));
        }
    }
    Ok(())
}

fn library(path: &Path, source: &Source, reading: &mut Reading) -> Result<()> {
    let other = LibraryReader::open(path)?;
    let entries = other.library().entries();
    let mut offered = entries
        .filter(|entry| entry.skill.state.is_offered())
        .peekable();
    if offered.peek().is_none() {
        nothing_offered(path);
    }
    for entry in offered {
        let read = imported(entry.skill.clone(), source).and_then(|skill| {
            let files = files_of(&skill, |file| other.file(&file.sha256))?;
            Ok(Incoming::read(path, skill, files, source))
        });
        match read {
            Ok(one) => reading.add(one),
            Err(error) => {
                let name = &entry.skill.name;
                let place = format!("{}: {name}", path.display());
                reading.refuse(place, error.with("skill", name))?;
            }
        }
    }
    Ok(())
}

fn nothing_offered(path: &Path) {
    let error = unknown(path, "no skill is offered there, so none is imported");
    warn(&error.hint(
        "quarantined, disabled and archived skills are not imported: release them there first",
    ));
}

fn files_of(
    skill: &Skill,
    bytes: impl Fn(&FileRef) -> Result<Option<Vec<u8>>>,
) -> Result<BTreeMap<FilePath, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for (path, file) in &skill.files {
        let bytes = bytes(file)?.ok_or_else(|| {
            Error::new(
                ErrorKind::Corrupt,
                IMPORT,
                "a file of an offered skill is missing",
            )
            .with("sha256", &file.sha256)
            .hint("check the other library with `journeyman library check`")
        })?;
        files.insert(path.clone(), bytes);
    }
    Ok(files)
}
