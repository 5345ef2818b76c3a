//! Bringing an index to the library's revision.

use super::SkillLibrary;
use crate::{
    contract::Retriever,
    error::{ErrorKind, Result},
    id::Revision,
};

impl SkillLibrary {
    /// Brings an index to this library's revision: by the changes since its watermark, or by the whole library where the index
    /// is of another library, of this one before it was restored to an earlier state, or damaged. An index of this library
    /// that is ahead stays as it is.
    ///
    /// # Errors
    /// As [`Retriever::watermark`] and [`Retriever::refresh`].
    pub async fn refresh(&self, index: &dyn Retriever) -> Result<()> {
        let watermark = index.watermark().await?;
        // Whether an index that is so far behind is of this library's past is not known any more.
        let is_known = watermark == Revision(0) || self.keys.get(watermark).is_some();
        if is_known && watermark <= self.revision() {
            let refreshed = index.refresh(&self.update_since(watermark)?).await;
            let is_of_another = |kind| kind == ErrorKind::Invalid && watermark > Revision(0);
            if !refreshed
                .as_ref()
                .is_err_and(|error| is_of_another(error.kind()))
            {
                return refreshed;
            }
        }
        index.refresh(&self.update_since(Revision(0))?).await
    }
}
