//! What of a server's tools an agent may use.

use std::collections::{BTreeMap, BTreeSet};

use journeyman::domain::ToolDefinition;

use crate::{approval::ApprovedTools, fault::McpFault, listed_tool::ListedTool};

/// What of a server's tools an agent may use.
#[derive(Clone, Debug, Default)]
pub(crate) struct Usable {
    pub(crate) tools: Vec<ToolDefinition>,
    pub(crate) blocked: BTreeMap<String, McpFault>,
}

impl Usable {
    pub(crate) fn new(approved: &ApprovedTools, listed: &[ListedTool]) -> Self {
        let mut usable = Self::default();
        for name in approved.names() {
            let tool = name.to_owned();
            (usable.blocked).insert(name.to_owned(), McpFault::ToolMissing { tool });
        }
        for tool in listed {
            match approved.check(tool) {
                Ok(()) => {
                    let name = &tool.definition.name;
                    if let Some(McpFault::ToolMissing { .. }) = usable.blocked.get(name) {
                        usable.blocked.remove(name);
                    }
                    usable.tools.push(tool.definition.clone());
                }
                Err(fault) => {
                    usable.blocked.insert(tool.definition.name.clone(), fault);
                }
            }
        }
        // A name with two definitions: the server chooses which one is called, so both are blocked.
        let mut names = BTreeSet::new();
        for tool in listed {
            let name = &tool.definition.name;
            let is_approved = approved.names().any(|one| one == name);
            if !names.insert(name) && is_approved {
                let tool = name.clone();
                (usable.blocked).insert(name.clone(), McpFault::ToolTwice { tool });
            }
        }
        let blocked = &usable.blocked;
        (usable.tools).retain(|tool| !blocked.contains_key(&tool.name));
        usable
    }

    pub(crate) fn check(&self, name: &str) -> Result<(), McpFault> {
        if let Some(fault) = self.blocked.get(name) {
            return Err(fault.clone());
        }
        match self.tools.iter().any(|tool| tool.name == name) {
            true => Ok(()),
            false => Err(McpFault::ToolMissing {
                tool: name.to_owned(),
            }),
        }
    }

    /// Logs the approved tools that are blocked.
    pub(crate) fn warn(&self, server: &str) {
        for fault in self.blocked.values() {
            if !matches!(fault, McpFault::ToolNotApproved { .. }) {
                tracing::warn!(server, %fault, "a tool is blocked");
            }
        }
    }
}
