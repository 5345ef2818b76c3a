//! Opening the library and finding skills in it.

use std::{fs, path::Path, sync::Arc, time::Duration};

use journeyman::{
    Error, ErrorKind, Result, SkillId,
    contract::{SkillFiles, SkillStore},
    domain::{SkillName, State},
    library::{Entry, SkillLibrary},
};
use journeyman_disk::{DiskOptions, DiskStore, LibraryReader};
use serde_json::json;

use crate::{
    files::holds_anything,
    output::{self, Answer, tell},
};

/// The file in a library's folder without which there is no library.
const DATABASE: &str = "library.db";

/// How long a command waits for other processes.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open library, as it was at one moment.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: DiskStore,
    pub(crate) library: SkillLibrary,
}

/// How the command opens a library.
pub(crate) fn options(create: bool) -> DiskOptions {
    let mut options = DiskOptions::default();
    options.patience = PATIENCE;
    options.create = create;
    options
}

/// Whether there is a library in `root`.
pub(crate) fn is_library(root: &Path) -> bool {
    fs::metadata(root.join(DATABASE)).is_ok_and(|data| data.len() > 0)
}

/// Makes an empty library.
pub(crate) async fn create(root: &Path) -> Result<Answer> {
    if is_library(root) {
        return Err(Error::invalid("library create", "there is a library here already")
            .with("path", root.display())
            .hint("name another folder with --library; `journeyman library stats` shows what this one has"));
    }
    refuse_unread(root)?;
    let revision = open(root, true).await?.library.revision();
    Ok(Answer {
        json: json!({"output": root.display().to_string(), "revision": revision}),
        text: format!(
            "an empty library: {}\n`journeyman skill import` takes skills in, and `journeyman run` learns some\n",
            root.display()
        ),
        ..Answer::default()
    })
}

/// Refuses to make a library where skills' folders lie: it would take them for its user's own, though nobody has read them.
pub(crate) fn refuse_unread(root: &Path) -> Result<()> {
    let area = ["skills", "held", ".journeyman"].map(|area| root.join(area));
    let Some(path) = area.iter().find(|path| holds_anything(path)) else {
        return Ok(());
    };
    let message =
        "there is no library here, and the folders here would become skills that nobody has read";
    Err(Error::invalid("skill", message)
        .with("path", path.display())
        .hint(
            "make the library in another folder with --library, and import these folders into it",
        ))
}

/// The number of skills in a state.
pub(crate) fn count(library: &SkillLibrary, state: State) -> usize {
    let entries = library.entries();
    entries.filter(|one| one.skill.state == state).count()
}

/// Opens a library and takes in people's changes of its folders. Warns of each folder that cannot be taken in.
pub(crate) async fn open(root: &Path, create: bool) -> Result<Opened> {
    let store = DiskStore::open(root, &options(create))?;
    let synced = store.sync_folders().await;
    let of = |error: Error| error.with("library", root.display());
    let library = load(&store).await.map_err(of)?;
    match synced {
        Ok(report) => {
            for fault in report.faults {
                output::warn(&fault.error.with("left_as_it_is", fault.folder));
            }
        }
        Err(error) => output::warn(&error),
    }
    Ok(Opened { store, library })
}

/// A library that is read, as it was at one moment.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) store: Arc<dyn SkillStore>,
    pub(crate) library: SkillLibrary,
}

/// Opens a library to read it. Where it cannot be written, it is read as it was committed.
pub(crate) async fn read(root: &Path) -> Result<Read> {
    let database = root.join(DATABASE);
    let may_write = |path: &Path| rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok();
    if !is_library(root) || (may_write(root) && may_write(&database)) {
        let Opened { store, library } = open(root, false).await?;
        return Ok(Read {
            store: Arc::new(store),
            library,
        });
    }
    let of = |error: Error| error.with("library", root.display());
    let mut reader = LibraryReader::open(root).map_err(of)?;
    tell(
        "the library cannot be written here: edits of its folders that nobody committed are not shown",
    );
    Ok(Read {
        store: Arc::new(reader.frozen().map_err(of)?),
        library: reader.library().clone(),
    })
}

pub(crate) async fn load(store: &DiskStore) -> Result<SkillLibrary> {
    SkillLibrary::replay(&store.load().await?.committed)
}

/// The bytes of a skill's file.
pub(crate) async fn file_bytes(
    operation: &'static str,
    store: &DiskStore,
    sha256: &str,
) -> Result<Vec<u8>> {
    store.get(sha256).await?.ok_or_else(|| {
        Error::new(
            ErrorKind::Corrupt,
            operation,
            "a file of a skill is missing",
        )
        .with("sha256", sha256)
        .hint("check the library with `journeyman library check`")
    })
}

/// The skill of a name or id; deleted skills are not found.
pub(crate) fn find<'a>(library: &'a SkillLibrary, name: &str) -> Result<&'a Entry> {
    let named = |name: &SkillName| library.by_name(name);
    let of_name = SkillName::new(name).ok().and_then(|name| named(&name));
    let id = SkillId::new(name);
    let of_id = library.get(&id);
    if let (Some(one), Some(other)) = (of_name, of_id)
        && one.skill.id != other.skill.id
    {
        return Err(two_skills(name, one, other));
    }
    if let Some(entry) = of_name.or(of_id) {
        return Ok(entry);
    }
    let deleted = library.deleted().any(|entry| entry.skill.id == id);
    let near = SkillName::slug(name).filter(|near| named(near).is_some());
    let hint = match near {
        _ if deleted => {
            "the skill of this id was deleted; `journeyman skill log` shows when".to_owned()
        }
        Some(near) => format!("names are in lower case with hyphens: did you mean `{near}`?"),
        None => "`journeyman skill list` shows what is there".to_owned(),
    };
    Err(
        Error::new(ErrorKind::NotFound, "skill", "there is no such skill")
            .with("name", name)
            .hint(hint),
    )
}

fn two_skills(name: &str, of_name: &Entry, of_id: &Entry) -> Error {
    let message = "this is the name of one skill and the id of another";
    Error::invalid("skill", message)
        .with("name", name)
        .hint(format!(
            "the skill of this name has the id `{}`, the skill of this id has the name `{}`: use that instead",
            of_name.skill.id, of_id.skill.name
        ))
}
