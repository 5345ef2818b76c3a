//! What a server was found to support.

use std::fmt;

use crate::config::ScoringForm;

/// A kind of server, by the owner that it lists for its models. It decides which fields beyond OpenAI's are sent.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerKind {
    /// vLLM.
    Vllm,
    /// SGLang.
    Sglang,
    /// llama.cpp's `llama-server`.
    LlamaServer,
    /// The server of llama-cpp-python.
    LlamaCppPython,
    /// OpenAI's own.
    OpenAi,
    /// Any other: only fields of OpenAI's interface are sent.
    #[default]
    Other,
}

impl ServerKind {
    /// Whether the server spells out special tokens on request.
    pub(crate) fn spells_special_tokens(self) -> bool {
        matches!(self, Self::Vllm | Self::Sglang)
    }

    pub(crate) fn of_owner(owner: &str) -> Self {
        match owner {
            "vllm" => Self::Vllm,
            "sglang" => Self::Sglang,
            "llamacpp" => Self::LlamaServer,
            "me" => Self::LlamaCppPython,
            "openai" | "openai-internal" | "system" => Self::OpenAi,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for ServerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vllm => "vLLM",
            Self::Sglang => "SGLang",
            Self::LlamaServer => "llama-server",
            Self::LlamaCppPython => "llama-cpp-python",
            Self::OpenAi => "OpenAI",
            Self::Other => "another one",
        })
    }
}

/// An endpoint that tokenizes texts.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenizerForm {
    /// `/tokenize` with `content` and `parse_special` (llama-server).
    Content,
    /// `/tokenize` with `prompt` (vLLM, SGLang). It always finds special tokens, so data is sent to it in pieces that spell
    /// none.
    Prompt,
    /// `/extras/tokenize` with `input` (llama-cpp-python). It always finds special tokens and adds the BOS token, so it only
    /// gives the ids of scored texts.
    Extras,
}

impl fmt::Display for TokenizerForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Content => "/tokenize with `content`",
            Self::Prompt => "/tokenize with `prompt`",
            Self::Extras => "/extras/tokenize",
        })
    }
}

/// What a server was found to support when it was probed. Printed, it has a line for each finding.
#[non_exhaustive]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// The kind of the server.
    pub server: ServerKind,
    /// The endpoint that tokenizes texts, if any.
    pub tokenizer: Option<TokenizerForm>,
    /// Whether generations carry token ids and log-probabilities.
    pub token_records: bool,
    /// Whether the server says which stop text it found. Where not, stop texts are found here, and are not sent.
    pub stop_reported: bool,
    /// Whether the server continues a last message of the assistant.
    pub continues: bool,
    /// Whether a text obeyed a JSON Schema.
    pub json_schema: bool,
    /// Whether the model called a tool that it had to call.
    pub tools: bool,
    /// The request for log-probabilities of a given text, if one works.
    pub scoring: Option<ScoringForm>,
    /// The optional fields of a request that the server refuses; they are left out.
    pub left_out: Vec<&'static str>,
    /// What was tried and does not work, with the reason.
    pub declined: Vec<Declined>,
}

/// A capability that the server lacks.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declined {
    /// What was tried.
    pub tried: String,
    /// Why it does not work.
    pub reason: String,
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.tried, self.reason)
    }
}

impl Support {
    pub(crate) fn decline(&mut self, tried: impl Into<String>, reason: impl fmt::Display) {
        self.declined.push(Declined {
            tried: tried.into(),
            reason: reason.to_string(),
        });
    }
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let yes = |is: bool| if is { "yes" } else { "no" };
        writeln!(f, "server: {}", self.server)?;
        match self.tokenizer {
            Some(form) => writeln!(f, "tokenizer: {form}")?,
            None => writeln!(f, "tokenizer: no")?,
        }
        writeln!(f, "token records: {}", yes(self.token_records))?;
        writeln!(f, "stop texts reported: {}", yes(self.stop_reported))?;
        writeln!(
            f,
            "continues the assistant's message: {}",
            yes(self.continues)
        )?;
        writeln!(f, "JSON Schema: {}", yes(self.json_schema))?;
        writeln!(f, "tools: {}", yes(self.tools))?;
        match self.scoring {
            Some(form) => write!(f, "scoring: {form}")?,
            None => write!(f, "scoring: no")?,
        }
        for declined in &self.declined {
            write!(f, "\ndeclined: {declined}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_in_words() {
        let mut support = Support {
            server: ServerKind::LlamaServer,
            tokenizer: Some(TokenizerForm::Content),
            scoring: Some(ScoringForm::Forced),
            ..Support::default()
        };
        support.decline("tools", "the template has none");
        assert_eq!(
            support.to_string(),
            "server: llama-server\n\
             tokenizer: /tokenize with `content`\n\
             token records: no\n\
             stop texts reported: no\n\
             continues the assistant's message: no\n\
             JSON Schema: no\n\
             tools: no\n\
             scoring: /completions with one forced token a request\n\
             declined: tools: the template has none"
        );
    }
}
