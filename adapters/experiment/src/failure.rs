//! A cell that failed.

use journeyman::Error;

use crate::plan::CellId;

/// A cell that failed outside the agent. It is no result; the next run tries it again.
#[non_exhaustive]
#[derive(Debug)]
pub struct Failure {
    /// The cell.
    pub cell: CellId,
    /// The reason, with the facts `arm` and `seed`.
    pub error: Error,
}
