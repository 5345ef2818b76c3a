//! The [Model Context Protocol](https://modelcontextprotocol.io) for [Journeyman](journeyman), in both directions.
//!
//! - [`McpEnvironment`] makes the tools of any MCP server an `Environment`. The host approves the tools
//!   ([`ApprovedTools`]); a definition that changes afterwards is blocked.
//! - [`LibraryServer`] serves a skill library: by the Skills extension (SEP-2640), and by two tools with which any agent
//!   finds skills and reports how it went, so that skills earn credit.
//!
//! Both work over standard streams and over streamable HTTP. `docs/how-to/attach-an-mcp-server.md` and `docs/how-to/serve-a-library.md` say more.
//!
//! ```no_run
//! // It starts an MCP server.
//! use std::sync::Arc;
//!
//! use journeyman::{Result, contract::Judge};
//! use journeyman_mcp::{ApprovedTools, McpConfig, McpEnvironment, McpServer, list_tools};
//! use journeyman_process::ProcessConfig;
//!
//! # async fn example(judge: Arc<dyn Judge>) -> Result<()> {
//! let server = ProcessConfig::new("/usr/bin/python3").with_arguments(["-m", "mcp_server_time"]);
//! let config = McpConfig::new("time", McpServer::Process(server));
//! let listed = list_tools(&config).await?;
//! for tool in &listed.tools {
//!     println!("{}: {}", tool.definition.name, tool.definition.description); // a person reads them
//! }
//! let world = McpEnvironment::new(config, ApprovedTools::all(&listed.tools), judge).await?;
//! # drop(world);
//! # Ok(())
//! # }
//! ```
//!
//! # Errors
//! Each error of a server has an [`McpFault`] as its source, and says what to do. A server that cannot be reached, ends or answers in
//! another form than the protocol's is `Unavailable`, one that does not answer in time `Timeout`; both are temporary. `Conflict` is a tool
//! whose definition changed since it was approved, or that the server lists twice; `NotFound` one that it no longer has; `Unsupported`
//! one that nobody approved; `Invalid` a server that redirects.
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
