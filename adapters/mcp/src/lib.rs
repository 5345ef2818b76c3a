//! The [Model Context Protocol](https://modelcontextprotocol.io) for [Journeyman](journeyman), in both directions.
//!
//! - [`McpEnvironment`] makes the tools of any MCP server an `Environment`. The host approves the tools
//!   ([`ApprovedTools`]); a definition that changes afterwards is blocked.
//! - [`LibraryServer`] serves a skill library: by the Skills extension (SEP-2640), and by two tools with which any agent
//!   finds skills and reports how it went, so that skills earn credit.
//!
//! Both work over standard streams and over streamable HTTP. `docs/mcp.md` has the whole picture.
//!
//! # Runtimes
//! MCP's library needs tokio. Each part here has a thread with a runtime of its own, so that any async runtime of the host
//! can await the calls.

mod address;
mod approval;
mod child;
mod config;
mod connection;
mod convert;
mod environment;
mod episode;
mod expectation;
mod fault;
mod heard;
mod http_answer;
mod http_client;
pub mod library;
mod listed_tool;
mod mended;
mod runtime;
mod tool_calls;
mod tool_listing;
mod usable;
mod watched;

pub use approval::ApprovedTools;
pub use config::{HttpEndpoint, McpConfig, McpServer};
pub use environment::{McpEnvironment, ToolCheck, list_tools};
pub use expectation::{ExpectationJudge, Expected, ExpectedCall};
pub use fault::McpFault;
pub use library::LibraryServer;
pub use listed_tool::{ListedTool, ToolSha256};
pub use tool_listing::ToolListing;
