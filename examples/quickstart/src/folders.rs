//! The library as folders of SKILL.md.

use std::{fs, io, path::Path};

use journeyman::{
    Error, ErrorKind, Result,
    domain::Skill,
    library::{SkillLibrary, format::SkillMd},
};

/// Writes each offered skill of a library as `<name>/SKILL.md` under a folder; gives how many.
///
/// # Errors
/// `Unavailable` when a file cannot be written; `Invalid` for a skill that is no valid SKILL.md.
pub fn write_folders(library: &SkillLibrary, root: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in library.cache() {
        write_folder(&entry.skill, root)?;
        count += 1;
    }
    Ok(count)
}

fn write_folder(skill: &Skill, root: &Path) -> Result<()> {
    let text = SkillMd::from(skill).write()?;
    // A skill's name is checked against the strict pattern when it is made, so it stays under the root.
    let folder = root.join(skill.name.as_str());
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(folder.join("SKILL.md"), text))
        .map_err(|error| unwritable(root, error))
}

fn unwritable(root: &Path, error: io::Error) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "quickstart::write_folders",
        format!("the skill folders could not be written: {error}"),
    )
    .with("folder", root.display())
    .hint("name another folder with --out")
}
