//! Answers that leave out or misspell what MCP's library insists on, put right before it reads them.

use std::{borrow::Cow, future::Future};

use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, ServerJsonRpcMessage, ServerResult},
    service::TxJsonRpcMessage,
    transport::Transport,
};
use serde_json::{Value, json};

/// A transport whose answers are put right where they mean one thing only.
pub(crate) struct Mended<T> {
    transport: T,
}

impl<T> Mended<T> {
    pub(crate) fn new(transport: T) -> Self {
        Self { transport }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Mended<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        // The library's own names are those of Rust types, which say nothing to a user.
        "connection".into()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.transport.receive().await.map(mended)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

fn mended(mut message: ServerJsonRpcMessage) -> ServerJsonRpcMessage {
    if let JsonRpcMessage::Response(response) = &mut message
        && let ServerResult::CustomResult(unknown) = &response.result
        && let Some(value) = put_right(&unknown.0)
        && let Ok(result) = serde_json::from_value(value)
    {
        response.result = result;
    }
    message
}

/// A result in the protocol's form; `None` where nothing is to be put right.
fn put_right(result: &Value) -> Option<Value> {
    let mut fields = result.as_object()?.clone();
    if fields.contains_key("protocolVersion") {
        let server = fields.entry("serverInfo").or_insert(Value::Null);
        *server = named(server);
        let capabilities = fields.entry("capabilities").or_insert(Value::Null);
        if !capabilities.is_object() {
            *capabilities = json!({});
        }
        return Some(fields.into());
    }
    // The name before 2024-11-05.
    let content = fields
        .remove("content")
        .or_else(|| fields.remove("toolResult"))?;
    let blocks = match content {
        Value::Array(blocks) => blocks,
        Value::Null => Vec::new(),
        other => vec![other],
    };
    let blocks = blocks.into_iter().map(block).collect();
    fields.insert("content".to_owned(), Value::Array(blocks));
    Some(fields.into())
}

/// Who the server is, with a name and a version in any case.
fn named(server: &Value) -> Value {
    let mut fields = server.as_object().cloned().unwrap_or_default();
    for name in ["name", "version"] {
        if !fields.get(name).is_some_and(Value::is_string) {
            fields.insert(name.to_owned(), "unknown".into());
        }
    }
    fields.into()
}

/// A block of a tool's result: a text, where it is of none of the protocol's types.
fn block(block: Value) -> Value {
    const OTHERS: [&str; 4] = ["image", "audio", "resource", "resource_link"];
    let text = |text: &Value| match text {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let kind = block
        .get("type")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if OTHERS.contains(&kind) || (kind == "text" && block.get("text").is_some_and(Value::is_string))
    {
        return block;
    }
    let said = match (block.get("text"), kind) {
        (Some(inner), _) => text(inner),
        (None, "text") => String::new(),
        (None, _) => text(&block),
    };
    json!({"type": "text", "text": said})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(result: Value, expect: impl Fn(&ServerResult) -> bool) {
        let message = json!({"jsonrpc": "2.0", "id": 1, "result": result});
        let message = mended(serde_json::from_value(message).unwrap());
        let JsonRpcMessage::Response(response) = &message else {
            panic!("{message:?}");
        };
        assert!(expect(&response.result), "{message:?}");
    }

    #[test]
    fn an_answer_to_initialize_needs_no_name_of_the_server() {
        for server in [
            json!(null),
            json!({"name": "dial"}),
            json!({"name": 7, "version": 1}),
        ] {
            check(
                json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": server}),
                |result| matches!(result, ServerResult::InitializeResult(_)),
            );
        }
        check(json!({"protocolVersion": "2025-06-18"}), |result| {
            matches!(result, ServerResult::InitializeResult(_))
        });
    }

    #[test]
    fn the_result_of_a_tool_is_text_in_any_form() {
        let texts = |result: &ServerResult| match result {
            ServerResult::CallToolResult(result) => Some(crate::convert::text(result, 1000)),
            _ => None,
        };
        for (result, expect) in [
            (json!({"content": "a sail"}), "a sail"),
            (json!({"content": null}), ""),
            (
                json!({"toolResult": {"said": "a sail"}}),
                "{\"said\":\"a sail\"}",
            ),
            (
                json!({"content": [{"type": "text", "text": 3}, "a"]}),
                "3\na",
            ),
            (
                json!({"content": [{"type": "markdown", "text": "# a"}, {"type": "text", "text": null}]}),
                "# a\n",
            ),
            (
                json!({"content": [{"text": "a"}, {"x": 1}]}),
                "a\n{\"x\":1}",
            ),
            (
                json!({"content": [{"type": "text", "text": "a sail"}]}),
                "a sail",
            ),
        ] {
            check(result, |result| texts(result).as_deref() == Some(expect));
        }
        check(json!({"x": 1}), |result| {
            matches!(result, ServerResult::CustomResult(_))
        });
    }
}
