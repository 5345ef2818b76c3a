//! The rules of [`SkillStore`] and [`Journal`].

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use futures::executor::block_on;
use journeyman::{
    Result,
    contract::{Journal, SkillFiles, SkillStore},
    testing::conformance,
};
use journeyman_disk::{DiskOptions, DiskStore, Durability};
use tempfile::TempDir;

/// Opens empty libraries side by side in one folder.
struct Shelf {
    folder: TempDir,
    opened: AtomicU64,
    options: DiskOptions,
}

impl Shelf {
    fn new(durability: Durability) -> std::io::Result<Self> {
        let mut options = DiskOptions::default();
        options.durability = durability;
        Ok(Self {
            folder: tempfile::tempdir()?,
            opened: AtomicU64::new(0),
            options,
        })
    }

    fn fresh(&self) -> Result<Arc<DiskStore>> {
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let folder = self.folder.path().join(number.to_string());
        DiskStore::open(folder, &self.options).map(Arc::new)
    }
}

#[test]
fn skill_store() -> Result<(), Box<dyn std::error::Error>> {
    for durability in [Durability::Sync, Durability::Relaxed] {
        let shelf = Shelf::new(durability)?;
        let fresh = async || Ok(shelf.fresh()? as Arc<dyn SkillStore>);
        let report = block_on(conformance::skill_store::check(fresh)).into_result()?;
        assert_eq!(report.skipped().count(), 0, "{report}");
    }
    Ok(())
}

#[test]
fn journal() -> Result<(), Box<dyn std::error::Error>> {
    for durability in [Durability::Sync, Durability::Relaxed] {
        let shelf = Shelf::new(durability)?;
        let fresh = async || Ok(shelf.fresh()? as Arc<dyn Journal>);
        let report = block_on(conformance::journal::check(fresh)).into_result()?;
        assert_eq!(report.skipped().count(), 0, "{report}");
    }
    Ok(())
}

#[test]
fn skill_files() -> Result<(), Box<dyn std::error::Error>> {
    let shelf = Shelf::new(Durability::Relaxed)?;
    let fresh = async || {
        let store = shelf.fresh()?;
        let files = Arc::clone(&store) as Arc<dyn SkillFiles>;
        Ok((files, Some(store as Arc<dyn SkillStore>)))
    };
    let report = block_on(conformance::skill_files::check(fresh)).into_result()?;
    assert_eq!(report.skipped().count(), 0, "{report}");
    Ok(())
}
