//! Opening the library and finding skills in it.

use std::{path::Path, time::Duration};

use journeyman::{
    Error, ErrorKind, Result, SkillId,
    contract::SkillStore,
    domain::SkillName,
    library::{Entry, SkillLibrary},
};
use journeyman_disk::{DiskStore, Options};

use crate::output;

/// How long other processes are waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// An open library, as it was at one moment.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) store: DiskStore,
    pub(crate) library: SkillLibrary,
}

/// How the command opens a library.
pub(crate) fn options(create: bool) -> Options {
    let mut options = Options::default();
    options.patience = PATIENCE;
    options.create = create;
    options
}

/// Opens a library and takes in what people changed in its folders; says which folders could not be.
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

pub(crate) async fn load(store: &DiskStore) -> Result<SkillLibrary> {
    SkillLibrary::replay(&store.load().await?.committed)
}

/// A skill that is there, by its name or id.
pub(crate) fn find<'a>(library: &'a SkillLibrary, name: &str) -> Result<&'a Entry> {
    let named = |name: &SkillName| library.by_name(name);
    let of_name = SkillName::new(name).ok().and_then(|name| named(&name));
    if let Some(entry) = of_name.or_else(|| library.get(&SkillId::new(name))) {
        return Ok(entry);
    }
    let id = SkillId::new(name);
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
