//! How a world is reached.

use std::path::PathBuf;

use journeyman_mcp::McpConfig;
use journeyman_process::ProcessConfig;

#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a file has one")]
pub(crate) enum WorldConfig {
    Process(ProcessConfig),
    Mcp {
        config: McpConfig,
        /// The file with the approved tools.
        approved: PathBuf,
    },
}
