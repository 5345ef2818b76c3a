//! Skills from elsewhere: found out what they are, read, and handed on to be taken in.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufReader, Read},
    path::Path,
};

use journeyman::{
    Error, ErrorKind, Result, SkillId, Version,
    contract::SkillFiles,
    domain::{FileRef, LibraryChange, Origin, Provenance, Skill, SkillMd, Source, State, Taint},
    interchange::{arise, offered, skillrl},
    lint::{Rule, Severity},
    text::Redactor,
};
use journeyman_disk::{ArchiveLimits, DiskStore, SkillFolder, read_offer};
use serde_json::Value;

use crate::{
    arguments::{Format, Import, Merge},
    library::{load, open, options},
    output::{Answer, Progress},
    take_in::{Incoming, Refused, source, take_in},
    validate::{folder, lint_folder, skills_at, unreadable},
};

const IMPORT: &str = "import";
/// A bank or document larger than this is refused by its reader.
const MOST_TEXT: u64 = 10 * 1024 * 1024 + 1;
/// How the first line of an archive begins.
const ARCHIVE: &[u8] = b"{\"format\":\"journeyman-library\"";

pub(crate) async fn import(root: &Path, import: &Import) -> Result<Answer> {
    let progress = Progress::of("reading skills");
    let mut incoming = Vec::new();
    let mut refused = Vec::new();
    for path in &import.paths {
        let format = match import.format {
            Some(format) => format,
            None => recognised(path)?,
        };
        let source = source(&import.from, path);
        let read = match format {
            Format::SkillFolder => folders(path, &source, &mut refused),
            Format::Skillrl => bank(path, &source, skillrl::read),
            Format::Arise => bank(path, &source, arise::read),
            Format::Archive => archive(path, &source),
        };
        match read {
            Ok(read) => incoming.extend(read),
            Err(error) if error.kind() == ErrorKind::Invalid => {
                refused.push(Refused::new(path.display().to_string(), error));
            }
            Err(error) => return Err(error.with("path", path.display())),
        }
    }
    let opened = open(root, import.create).await?;
    take_in(&opened, &import.from, incoming, refused, progress).await
}

pub(crate) async fn merge(root: &Path, merge: &Merge) -> Result<Answer> {
    let progress = Progress::of("reading the other library");
    let source = source(&merge.from, &merge.other);
    let incoming = if merge.other.is_dir() {
        library(&merge.other, &source).await?
    } else {
        archive(&merge.other, &source)?
    };
    let opened = open(root, false).await?;
    take_in(&opened, &merge.from, incoming, Vec::new(), progress).await
}

/// What a path holds.
fn recognised(path: &Path) -> Result<Format> {
    if path.is_dir() {
        if path.join("library.db").is_file() {
            return Err(unknown(path, "this is a library, and no skill")
                .hint("take in what it offers with `journeyman library merge`"));
        }
        return Ok(Format::SkillFolder);
    }
    if path.ends_with("SKILL.md") {
        return Ok(Format::SkillFolder);
    }
    let mut begin = [0; ARCHIVE.len()];
    let mut file = File::open(path).map_err(|source| unreadable(path, source))?;
    if file.read_exact(&mut begin).is_ok() && begin == ARCHIVE {
        return Ok(Format::Archive);
    }
    let value: Option<Value> = serde_json::from_str(&text(path)?).ok();
    let has = |keys: &[&str]| {
        let has = |value: &Value| keys.iter().any(|key| value.get(key).is_some());
        value.as_ref().is_some_and(has)
    };
    if has(&["general_skills", "task_specific_skills", "common_mistakes"]) {
        return Ok(Format::Skillrl);
    }
    if has(&["skill_name", "cache", "reservoir"]) || value.as_ref().is_some_and(Value::is_array) {
        return Ok(Format::Arise);
    }
    Err(unknown(path, "what this file holds is not recognised").hint(
        "name a skill's folder, a SkillRL bank, ARISE documents or an archive; or say which with --format",
    ))
}

fn unknown(path: &Path, message: &str) -> Error {
    Error::invalid(IMPORT, message.to_owned()).with("path", path.display())
}

fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MOST_TEXT).read_to_end(&mut bytes))
        .map_err(|source| unreadable(path, source))?;
    String::from_utf8(bytes)
        .map_err(|_| unknown(path, "the file is not UTF-8").hint("save it as UTF-8 text"))
}

/// The skills of a folder, or of the folders in it.
fn folders(path: &Path, source: &Source, refused: &mut Vec<Refused>) -> Result<Vec<Incoming>> {
    let whole = match path.is_dir() {
        true => path.to_owned(),
        false => path
            .canonicalize()
            .map_err(|source| unreadable(path, source))?,
    };
    let whole = if whole.is_dir() {
        Some(whole.as_path())
    } else {
        whole.parent()
    };
    let mut incoming = Vec::new();
    for skill in skills_at(whole.unwrap_or(path))? {
        let place = skill.display().to_string();
        let read = folder(&skill).map_err(|error| Box::new(Refused::new(place.clone(), error)));
        match read.and_then(|(folder, name)| of_folder(&place, folder, &name, source)) {
            Ok(one) => incoming.push(one),
            Err(one) => refused.push(*one),
        }
    }
    Ok(incoming)
}

fn of_folder(
    place: &str,
    folder: SkillFolder,
    name: &str,
    source: &Source,
) -> Result<Incoming, Box<Refused>> {
    // Secrets are taken out; everything else that the linter refuses stays out.
    let findings = lint_folder(&folder, Some(name)).findings;
    let errors = findings
        .into_iter()
        .filter(|found| found.severity == Severity::Error && found.rule != Rule::Secret);
    let errors: Vec<_> = errors.collect();
    if !errors.is_empty() {
        return Err(Box::new(Refused::by_linter(place, errors)));
    }
    let read = || {
        let text = std::str::from_utf8(&folder.text)
            .map_err(|_| Error::invalid(IMPORT, "SKILL.md is not UTF-8"))?;
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
    })
}

/// What a stranger's file says of its skill; [`journeyman::interchange::imported`] makes it ours.
fn skill(file: &SkillMd, files: BTreeMap<journeyman::domain::FilePath, FileRef>) -> Result<Skill> {
    let parts = file.parts()?;
    let draft = parts.draft;
    Ok(Skill {
        id: SkillId::new(parts.name.as_str()),
        version: Version(1),
        original_name: (draft.title != parts.name.as_str()).then_some(draft.title),
        name: parts.name,
        description: draft.description,
        kind: draft.kind,
        scope: draft.scope,
        state: State::Active,
        trigger: draft.trigger,
        body: draft.body,
        allowed_tools: parts.allowed_tools,
        license: parts.license,
        compatibility: parts.compatibility,
        metadata: draft.metadata,
        files,
        parents: Vec::new(),
        provenance: Provenance {
            origin: Origin::Imported,
            runs: Vec::new(),
            tasks: Vec::new(),
        },
        taint: Taint::Tainted,
        proven_on: None,
    })
}

/// The skills of a SkillRL bank or of ARISE documents.
fn bank(
    path: &Path,
    source: &Source,
    read: fn(&str, &Source) -> Result<Vec<Skill>>,
) -> Result<Vec<Incoming>> {
    let mut text = text(path)?;
    // As JSON, so that a field's name tells what its value is. What is no JSON is the reader's to refuse.
    let mut redacted = false;
    if let Ok(before) = serde_json::from_str::<Value>(&text) {
        let mut value = before.clone();
        Redactor::default().redact_json(&mut value);
        if value != before {
            (text, redacted) = (value.to_string(), true);
        }
    }
    let skills = read(&text, source)?.into_iter();
    let incoming = skills.map(|skill| Incoming {
        place: format!("{}: {}", path.display(), skill.name),
        skill,
        files: BTreeMap::new(),
        source: source.clone(),
        is_imported: true,
        redacted,
    });
    Ok(incoming.collect())
}

fn archive(path: &Path, source: &Source) -> Result<Vec<Incoming>> {
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    let offer = read_offer(BufReader::new(file), source, &ArchiveLimits::default())?;
    let mut files = BTreeMap::new();
    for bytes in offer.files {
        files.insert(FileRef::of(&bytes)?, bytes);
    }
    let files = |file: &FileRef| files.get(file).cloned();
    each_offered(path, offer.changes, source, files)
}

async fn library(path: &Path, source: &Source) -> Result<Vec<Incoming>> {
    let mut reading = options(false);
    // Another's folders are not ours to take in.
    reading.folders = false;
    let store = DiskStore::open(path, &reading)?;
    let changes = offered(&load(&store).await?, source)?;
    let mut files = BTreeMap::new();
    let skills = changes.iter().filter_map(LibraryChange::skill);
    for file in skills.flat_map(|skill| skill.files.values()) {
        if let Some(bytes) = store.get(&file.sha256).await? {
            files.insert(file.clone(), bytes);
        }
    }
    each_offered(path, changes, source, |file| files.get(file).cloned())
}

fn each_offered(
    path: &Path,
    changes: Vec<LibraryChange>,
    source: &Source,
    bytes: impl Fn(&FileRef) -> Option<Vec<u8>>,
) -> Result<Vec<Incoming>> {
    let mut incoming = Vec::new();
    for change in changes {
        let LibraryChange::Add(skill) = change else {
            continue;
        };
        let mut files = BTreeMap::new();
        for (path, file) in &skill.files {
            let bytes = bytes(file).ok_or_else(|| {
                Error::new(
                    ErrorKind::Corrupt,
                    IMPORT,
                    "a file of an offered skill is missing",
                )
                .with("skill", &skill.name)
                .with("sha256", &file.sha256)
                .hint("check the other library with `journeyman library check`")
            })?;
            files.insert(path.clone(), bytes);
        }
        incoming.push(Incoming {
            place: format!("{}: {}", path.display(), skill.name),
            skill: *skill,
            files,
            source: source.clone(),
            is_imported: true,
            redacted: false,
        });
    }
    Ok(incoming)
}
