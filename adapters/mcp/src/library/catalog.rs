//! The skills of a library in the form of the Skills extension (SEP-2640).

use journeyman::{
    Result,
    domain::{self, FileRef, State},
    library::{SkillLibrary, format::SkillMd},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rmcp::model::{Resource, SKILL_MD, Skill, SkillFrontmatter, SkillResource, SkillResources};
use serde_json::{Map, Value};

const SCHEME: &str = "skill://";
/// What RFC 3986 leaves as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// The URI of a file of a skill.
pub(crate) fn uri(skill: &domain::Skill, path: &str) -> String {
    let encode = |part: &str| utf8_percent_encode(part, ENCODED).to_string();
    let path: Vec<String> = path.split('/').map(encode).collect();
    format!("{SCHEME}{}/{}", encode(skill.name.as_str()), path.join("/"))
}

/// The text of a skill's SKILL.md: the bytes that its folder has.
pub(crate) fn skill_md(skill: &domain::Skill) -> Result<String> {
    SkillMd::from(skill).write()
}

/// A skill's entry: its frontmatter, and the URI, SHA-256 and size of each file.
pub(crate) fn entry(skill: &domain::Skill) -> Result<Skill> {
    let text = skill_md(skill)?;
    let main = uri(skill, SKILL_MD);
    let mut files = vec![SkillResource::from_bytes(&main, text.as_bytes())];
    files.extend(skill.files.iter().map(|(path, file)| {
        let digest = format!("sha256:{}", file.sha256);
        SkillResource::new(uri(skill, path.as_str()), digest, file.bytes)
    }));
    Ok(Skill::new(
        main,
        frontmatter(skill),
        SkillResources::Files(files),
    ))
}

fn frontmatter(skill: &domain::Skill) -> SkillFrontmatter {
    let file = SkillMd::from(skill);
    let mut front = SkillFrontmatter::new(file.name.as_str(), file.description);
    let texts = [
        ("license", file.license),
        ("compatibility", file.compatibility),
    ];
    for (key, text) in texts {
        if let Some(text) = text {
            front = front.with_field(key, text);
        }
    }
    if !file.metadata.is_empty() {
        let metadata = file.metadata.into_iter();
        let metadata: Map<String, Value> = metadata.map(|(key, one)| (key, one.into())).collect();
        front = front.with_field("metadata", metadata);
    }
    match file.allowed_tools.is_empty() {
        true => front,
        false => front.with_field("allowed-tools", file.allowed_tools.join(" ")),
    }
}

/// A skill's entry in the list of resources.
pub(crate) fn resource(skill: &domain::Skill) -> Result<Resource> {
    let size = skill_md(skill)?.len() as u64;
    Ok(Resource::new(uri(skill, SKILL_MD), skill.name.as_str())
        .with_description(skill.description.clone())
        .with_mime_type("text/markdown")
        .with_size(size))
}

/// The skills in use, by name. Those on trial are given by a search alone.
pub(crate) fn listed(library: &SkillLibrary, with_files: bool) -> Vec<&domain::Skill> {
    let skills = library.entries().map(|entry| &entry.skill);
    let mut skills: Vec<_> = skills
        .filter(|skill| skill.state == State::Active && is_whole(skill, with_files))
        .collect();
    skills.sort_by(|a, b| a.name.as_str().cmp(b.name.as_str()));
    skills
}

/// Whether all files of a skill can be read.
fn is_whole(skill: &domain::Skill, with_files: bool) -> bool {
    with_files || skill.files.is_empty()
}

/// A file that a URI names.
pub(crate) enum Found<'a> {
    SkillMd(&'a domain::Skill),
    File(&'a FileRef),
}

/// The file of a skill that may be offered.
pub(crate) fn find<'a>(
    library: &'a SkillLibrary,
    uri: &str,
    with_files: bool,
) -> Option<Found<'a>> {
    let decode = |text: &str| Some(percent_decode_str(text).decode_utf8().ok()?.into_owned());
    let (name, path) = uri.strip_prefix(SCHEME)?.split_once('/')?;
    let (name, path) = (decode(name)?, decode(path)?);
    // Names and paths are compared with those of the library, and never reach a file system.
    let mut skills = library.entries().map(|entry| &entry.skill);
    let skill = skills.find(|skill| skill.name.as_str() == name && skill.state.is_offered())?;
    if !is_whole(skill, with_files) {
        return None;
    }
    if path == SKILL_MD {
        return Some(Found::SkillMd(skill));
    }
    let mut files = skill.files.iter();
    files
        .find(|(one, _)| one.as_str() == path)
        .map(|(_, file)| Found::File(file))
}
