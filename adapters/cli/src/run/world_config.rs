//! How the world of a run is reached.

use std::path::PathBuf;

use journeyman_mcp::McpConfig;
use journeyman_process::ProcessConfig;

#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "a run has one")]
pub(super) enum WorldConfig {
    Process(ProcessConfig),
    Mcp {
        config: McpConfig,
        /// The file with the approved tools.
        approved: PathBuf,
    },
}
