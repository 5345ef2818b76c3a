//! Reading skills from folders, such as those that a host ships.

use std::{fs, path::Path};

use journeyman::{
    Error, ErrorKind, Result,
    contract::SkillFiles,
    domain::{FileRef, Skill},
};

use crate::{
    convert::file_failed,
    package::{SKILL_MD, SkillFolder, is_misnamed_skill},
};

/// Reads one skill folder: its SKILL.md ([`Skill::from_skill_md`]) and the files beside it, which are put into `files`.
///
/// # Errors
/// As [`SkillFolder::read`] and [`Skill::from_skill_md`], with the fact `folder`; and the errors of `files`.
pub async fn read_skill(folder: impl AsRef<Path>, files: &dyn SkillFiles) -> Result<Skill> {
    let path = folder.as_ref();
    let named = |error: Error| error.with("folder", path.display());
    let folder = SkillFolder::read(path)?;
    let text = std::str::from_utf8(&folder.text)
        .map_err(|_| named(Error::invalid("read_skill", "SKILL.md is not UTF-8")))?;
    let mut skill = Skill::from_skill_md(text).map_err(named)?;
    for (path, bytes) in &folder.files {
        let put: FileRef = files.put(bytes).await?;
        skill.files.insert(path.clone(), put);
    }
    Ok(skill)
}

/// Reads every subfolder that has a SKILL.md, or one by another name such as `skill.md`, which is refused; sorted by path. [`Journeyman::add`](journeyman::run::Journeyman::add)
/// takes the result in one call.
///
/// ```
/// use std::sync::Arc;
/// use journeyman_disk::{DiskOptions, DiskStore, read_skills};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let shipped = folder.path().join("shipped");
/// # std::fs::create_dir_all(shipped.join("verify-first")).unwrap();
/// # let text = "---\nname: verify-first\ndescription: Verify before closing.\n---\nVerify, then close.\n";
/// # std::fs::write(shipped.join("verify-first/SKILL.md"), text).unwrap();
/// # futures::executor::block_on(async {
/// let store = Arc::new(DiskStore::open(folder.path().join("library"), &DiskOptions::default())?);
/// let skills = read_skills(&shipped, &store).await?;
/// assert_eq!(skills[0].name.as_str(), "verify-first");
/// # Ok::<(), journeyman::Error>(())
/// # }).unwrap();
/// ```
///
/// # Errors
/// As [`read_skill`]: one skill that cannot be read fails the whole call. `NotFound` or `Unavailable` where the folder
/// itself cannot be read.
pub async fn read_skills(root: impl AsRef<Path>, files: &dyn SkillFiles) -> Result<Vec<Skill>> {
    const READ: &str = "read_skills";
    let root = root.as_ref();
    let failed = |source: std::io::Error| match source.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, READ, "there is no such folder")
                .with("path", root.display())
                .source_from(source)
        }
        _ => file_failed(READ, root, source),
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(root).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.join(SKILL_MD).is_file() || has_misnamed(&path) {
            folders.push(path);
        }
    }
    folders.sort_unstable();
    let mut skills = Vec::new();
    for folder in folders {
        skills.push(read_skill(folder, files).await?);
    }
    Ok(skills)
}

/// Whether a folder has a file that is meant to be its SKILL.md; a folder that cannot be read has none.
fn has_misnamed(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
    files.any(|entry| is_misnamed_skill(Path::new(&entry.file_name())))
}
