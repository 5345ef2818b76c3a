//! Tasks whose secrets are withheld from the library and given back to the host's parts.

use crate::{id::RunId, run::host::journeyman::Journeyman};

/// The originals of a run's tasks with secrets. Dropping this drops them.
pub(crate) struct Withheld<'a> {
    pub(crate) journeyman: &'a Journeyman,
    pub(crate) run: RunId,
}

impl Drop for Withheld<'_> {
    fn drop(&mut self) {
        self.journeyman.session.performer.forget(&self.run);
    }
}
