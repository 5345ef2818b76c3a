//! Checks paths, number and sizes of a package's files (security requirements S6 and S7).

use std::collections::BTreeMap;

use journeyman::{
    domain::{FilePath, FileRef},
    text::Redactor,
};

use super::{Finding, MAX_FILE, MAX_PACKAGE, Rule, SKILL_MD, shown};

pub(super) fn check<'a>(
    redactor: &Redactor,
    paths: impl Iterator<Item = &'a str> + Clone,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = paths
        .clone()
        .filter_map(|path| {
            let fault = FilePath::new(path).err()?;
            let finding = Finding::error(Rule::Path, shown(redactor, path), fault.message());
            Some(finding.hint(fault.hint_text().unwrap_or_default()))
        })
        .collect();
    let secrets = paths
        .clone()
        .filter(|path| !redactor.find(path).is_empty())
        .map(|path| {
            Finding::error(
                Rule::Secret,
                shown(redactor, path),
                "the path holds a secret",
            )
            .hint("rename the file, and give the secret out anew: it is no secret any more")
        });
    findings.extend(secrets);
    let inner = paths.clone().filter(|path| {
        let last = path
            .rsplit_once('/')
            .map(|(_, last)| FilePath::folded(last));
        last.is_some_and(|last| last == FilePath::folded(SKILL_MD))
    });
    findings.extend(inner.map(|path| {
        let message =
            "a skill within this skill's folder is kept as its files, and is no skill of its own";
        Finding::warning(Rule::Path, shown(redactor, path), message)
            .hint("move it out of the folder if it should be one")
    }));
    findings.extend(collisions(redactor, paths));
    findings
}

/// Finds paths that are equal apart from case (SKILL.md included) and paths that are both a file and a folder.
fn collisions<'a>(redactor: &Redactor, paths: impl Iterator<Item = &'a str>) -> Vec<Finding> {
    let mut known = BTreeMap::from([(FilePath::folded(SKILL_MD), SKILL_MD)]);
    let mut findings = Vec::new();
    let mut folders: BTreeMap<String, &str> = BTreeMap::new();
    for path in paths {
        let mut one_folder = true;
        for (at, _) in path.match_indices('/') {
            let folder = folders
                .entry(FilePath::folded(&path[..at]))
                .or_insert(&path[..at]);
            one_folder &= *folder == &path[..at];
        }
        if !one_folder || known.insert(FilePath::folded(path), path).is_some() {
            let message = "the path is another file's but for upper and lower case";
            findings.push(
                Finding::error(Rule::PathCollision, shown(redactor, path), message)
                    .hint("rename one of the two"),
            );
        }
    }
    let both = folders.keys().filter_map(|folder| known.get(folder));
    findings.extend(both.map(|path| {
        let message = "the path is a file here and a folder elsewhere";
        Finding::error(Rule::PathCollision, shown(redactor, path), message)
            .hint("rename one of the two")
    }));
    findings
}

/// Checks the number of files, the size of each and the size of all; `skill` is the size of SKILL.md in bytes.
pub(super) fn budgets<'a>(
    redactor: &Redactor,
    skill: usize,
    sizes: impl Iterator<Item = (&'a str, usize)>,
) -> Vec<Finding> {
    let hint = "leave out what the skill does not need, or let it say where to get it";
    let mut findings = Vec::new();
    let (mut count, mut total) = (0, skill);
    for (path, size) in sizes {
        count += 1;
        total += size;
        if size > MAX_FILE {
            let message = format!("the file has {size} bytes, and 1 MiB is the most");
            let finding = Finding::error(Rule::FileTooLarge, shown(redactor, path), message);
            findings.push(finding.hint(hint));
        }
    }
    if count > FileRef::MAX_FILES {
        let message = format!(
            "the package has {count} files, and {} is the most",
            FileRef::MAX_FILES
        );
        findings.push(Finding::error(Rule::TooManyFiles, SKILL_MD, message).hint(hint));
    }
    if total > MAX_PACKAGE {
        let message = format!("the package has {total} bytes, and 10 MiB is the most");
        findings.push(Finding::error(Rule::PackageTooLarge, SKILL_MD, message).hint(hint));
    }
    findings
}
