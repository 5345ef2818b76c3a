//! Finds out whether a server's model calls tools.

use journeyman::{
    contract::{FinishReason, GenerateRequest, ToolChoice},
    domain::{Message, Prompt, Speaker, ToolDefinition},
    text::published_calls,
};
use serde_json::json;

use crate::{config::Route, error::OpenAiError, retry::Deadline, server::Server};

/// Tokens in which a model can write the call that the probe demands.
const ROOM: usize = 64;
/// The tool that it has to call.
const REPORT: &str = "report";

impl Server {
    /// Has the model call a tool that it must call, and sends a request in which it may.
    pub(crate) async fn find_tools(&mut self, deadline: Deadline) {
        if self.config.route != Route::Chat {
            let why = "tools are called on the chat route only (Route::Chat)";
            return self.support.decline("tools", why);
        }
        self.support.tools = true;
        let mut request = GenerateRequest::greedy(
            Prompt::new(vec![Message::data(
                Speaker::User,
                "Report that you are ready.",
            )]),
            ROOM,
        );
        request.time_limit = deadline.limit;
        request.tool_choice = ToolChoice::Required;
        let schema = json!({
            "type": "object",
            "properties": {"ready": {"type": "boolean"}},
            "required": ["ready"],
            "additionalProperties": false,
        });
        let report = ToolDefinition::new(REPORT, "Reports whether you are ready.", schema);
        request.tools = vec![report];
        if let Err(error) = self.called(&request, deadline).await {
            self.support.tools = false;
            return self.support.decline("tools", error);
        }
        // Some servers must be told at their start how the model writes calls, and refuse the request else.
        request.tool_choice = ToolChoice::Auto;
        request.max_tokens = 1;
        if let Err(error @ OpenAiError::Status { .. }) = self.once(&request, deadline).await {
            self.support.tools = false;
            self.support
                .decline("tools", format!("the model may not choose: {error}"));
        }
    }

    async fn called(
        &self,
        request: &GenerateRequest,
        deadline: Deadline,
    ) -> Result<(), OpenAiError> {
        let generation = self.generate(request, deadline, &mut 0).await?;
        if !generation.calls.is_empty() {
            return Ok(());
        }
        let in_text = published_calls(&generation.text, &|tool| tool == REPORT).is_some();
        Err(OpenAiError::shape(match generation.finish {
            _ if in_text => {
                "the server gave the call as text, so the model is asked for JSON instead"
            }
            FinishReason::Length => "the call was cut before it was whole",
            _ => "the model did not make the call that it had to make",
        }))
    }
}
