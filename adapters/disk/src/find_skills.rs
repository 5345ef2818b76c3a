//! Finding skills' folders below a folder, such as a collection's.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use journeyman::{Error, Result};

use crate::{
    convert::file_failed,
    package::{SKILL_MD, is_misnamed_skill},
};

const FIND: &str = "find_skills";

/// Where skills were found below a folder, each list sorted by path.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundSkills {
    /// The folders that have a SKILL.md.
    pub folders: Vec<PathBuf>,
    /// Links to folders that have one. They are not followed.
    pub links: Vec<PathBuf>,
    /// Files that are meant to be a SKILL.md and have another name, such as `skill.md`, in folders without one. Nothing reads
    /// them until they are renamed.
    pub misnamed: Vec<PathBuf>,
    /// Folders of Journeyman libraries. Their skills are not among the found ones.
    pub libraries: Vec<PathBuf>,
}

impl FoundSkills {
    /// How many levels below the given folder are searched.
    pub const MAX_DEPTH: usize = 32;
    /// The greatest number of skills.
    pub const MAX_SKILLS: usize = 10_000;
    /// The greatest number of entries of folders that are looked at.
    pub const MAX_ENTRIES: usize = 1_000_000;
}

/// Finds the skills at a folder and below it: each folder with a SKILL.md is one skill.
///
/// A skill's folder is not searched: what lies in it, a further SKILL.md too, is files of that skill
/// (the linter of `journeyman-lint` tells of such a file). A folder whose SKILL.md has another name is searched, since it may
/// be a collection with good skills. Links are not followed, and folders named `.git` are left out.
///
/// ```
/// use journeyman_disk::find_skills;
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let collection = folder.path();
/// for skill in ["brew", "office/mail/sort", "office/mail/sort/examples/inner"] {
///     std::fs::create_dir_all(collection.join(skill)).unwrap();
///     std::fs::write(collection.join(skill).join("SKILL.md"), "").unwrap();
/// }
/// let found = find_skills(collection)?;
/// assert_eq!(found.folders, [collection.join("brew"), collection.join("office/mail/sort")]);
/// # Ok::<(), journeyman::Error>(())
/// ```
///
/// # Errors
/// `NotFound` or `Unavailable` for a folder that cannot be read; `Invalid` for more than [`FoundSkills::MAX_SKILLS`] skills or
/// [`FoundSkills::MAX_ENTRIES`] entries, or folders deeper than [`FoundSkills::MAX_DEPTH`].
pub fn find_skills(folder: impl AsRef<Path>) -> Result<FoundSkills> {
    let folder = folder.as_ref();
    let mut search = Search::default();
    if has_skill_md(folder) {
        search.found.folders.push(folder.to_owned());
    } else {
        search.look(folder, 0)?;
    }
    let found = &mut search.found;
    for list in [
        &mut found.folders,
        &mut found.links,
        &mut found.misnamed,
        &mut found.libraries,
    ] {
        list.sort_unstable();
    }
    Ok(search.found)
}

/// Whether a folder has a SKILL.md, of whatever kind: reading the skill refuses one that is no plain file.
fn has_skill_md(folder: &Path) -> bool {
    folder.join(SKILL_MD).symlink_metadata().is_ok()
}

#[derive(Default)]
struct Search {
    found: FoundSkills,
    entries: usize,
}

impl Search {
    fn look(&mut self, folder: &Path, depth: usize) -> Result<()> {
        let failed = |source: io::Error| file_failed(FIND, folder, source);
        for entry in fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            self.entries += 1;
            if self.entries > FoundSkills::MAX_ENTRIES {
                return Err(too(
                    "there are more than 1,000,000 files and folders",
                    folder,
                ));
            }
            if !kind.is_dir() && is_misnamed_skill(&path) {
                self.found.misnamed.push(path);
            } else if kind.is_symlink() && has_skill_md(&path) {
                self.found.links.push(path);
            } else if !kind.is_dir() || entry.file_name() == ".git" {
                continue;
            } else if has_skill_md(&path) {
                self.found.folders.push(path);
            } else if path.join("library.db").is_file() {
                self.found.libraries.push(path);
            } else if depth + 1 >= FoundSkills::MAX_DEPTH {
                return Err(too("folders are nested more than 32 deep", &path));
            } else {
                self.look(&path, depth + 1)?;
            }
            let found = [&self.found.folders, &self.found.links, &self.found.misnamed];
            if found.map(Vec::len).iter().sum::<usize>() > FoundSkills::MAX_SKILLS {
                return Err(too("there are more than 10,000 skills", folder));
            }
        }
        Ok(())
    }
}

fn too(message: &'static str, path: &Path) -> Error {
    Error::invalid(FIND, message)
        .with("path", path.display())
        .hint("name folders further down, a part of them at a time")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(root: &Path, place: &str) -> PathBuf {
        let folder = root.join(place);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(SKILL_MD), "").unwrap();
        folder
    }

    #[test]
    fn skills_several_levels_deep_are_found_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let due = [
            skill(root, ".agent/skills/hidden"),
            skill(root, "a"),
            skill(root, "b/c/d/e/f/g/h/i/j/deep"),
            skill(root, "b/c/other"),
        ];
        skill(root, "a/examples/inner");
        skill(root, ".git/modules/x");
        fs::create_dir_all(root.join("lib/skills")).unwrap();
        fs::write(root.join("lib/library.db"), "").unwrap();
        skill(root, "lib/skills/theirs");
        fs::write(root.join("b/README.md"), "").unwrap();
        let found = find_skills(root).unwrap();
        assert_eq!(found.folders, due);
        assert_eq!(found.libraries, [root.join("lib")]);
        assert_eq!(find_skills(&due[1]).unwrap().folders, [due[1].clone()]);
        fs::create_dir(root.join("empty")).unwrap();
        assert_eq!(
            find_skills(root.join("empty")).unwrap(),
            FoundSkills::default()
        );
        assert!(find_skills(root.join("absent")).is_err());
    }

    #[test]
    fn a_skill_by_another_name_is_told_alone_and_beside_good_ones() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path();
        let good = [skill(root, "good"), skill(root, "lower/inner")];
        let misnamed = [
            "kettle/Skill.md",
            "lower/skill.md",
            "many/pan/SKILL.MD",
            "pot/SKILL.md.txt",
            "tin/skill.markdown",
        ]
        .map(|place| {
            let path = root.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        });
        fs::write(root.join("skills.md"), "").unwrap();
        // A file of a skill: reading that skill tells of it.
        fs::write(good[0].join("notes.md"), "").unwrap();
        fs::create_dir_all(root.join("folder/skill.md")).unwrap();
        let found = find_skills(root).unwrap();
        assert_eq!(found.folders, good);
        assert_eq!(found.misnamed, misnamed);
        let alone = find_skills(root.join("kettle")).unwrap();
        assert_eq!(alone.misnamed, [misnamed[0].clone()]);
        assert!(alone.folders.is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_told_and_not_followed() {
        use std::os::unix::fs::symlink;
        let root = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let theirs = skill(elsewhere.path(), "many/theirs");
        fs::create_dir(root.path().join("a")).unwrap();
        symlink(&theirs, root.path().join("a/one")).unwrap();
        symlink(elsewhere.path(), root.path().join("a/many")).unwrap();
        symlink(root.path(), root.path().join("a/circle")).unwrap();
        let found = find_skills(root.path()).unwrap();
        assert_eq!(found.links, [root.path().join("a/one")]);
        assert!(found.folders.is_empty());
    }

    #[test]
    fn a_limit_is_named() {
        let root = tempfile::tempdir().unwrap();
        let at_most = vec!["d"; FoundSkills::MAX_DEPTH - 1].join("/");
        skill(root.path(), &format!("{at_most}/x"));
        assert_eq!(find_skills(root.path()).unwrap().folders.len(), 1);
        fs::create_dir_all(root.path().join(format!("{at_most}/y/z"))).unwrap();
        let error = find_skills(root.path()).unwrap_err().to_string();
        assert!(error.contains("more than 32 deep"), "{error}");
    }
}
