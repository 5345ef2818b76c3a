//! Finds the optional fields of a request that a server refuses.

use journeyman::contract::GenerateRequest;

use crate::{answer::Answer, error::OpenAiError, retry::Deadline, server::Server};

/// The fields that a request can do without, in the order in which they are given up where a refusal names several.
const OPTIONAL: [&str; 9] = [
    "top_p",
    "temperature",
    "seed",
    "stream_options",
    "top_k",
    "min_p",
    "repetition_penalty",
    "repeat_penalty",
    "return_token_ids",
];
/// The field for the number of tokens, and its newer name.
const MOST: (&str, &str) = ("max_tokens", "max_completion_tokens");

/// What servers say of a field that they do not know, in lower case.
const UNKNOWN: [&str; 4] = [
    "unsupported parameter",
    "unrecognized request argument",
    "is not supported",
    "extra inputs are not permitted",
];

impl Server {
    /// The raw answer to a request. What the server refuses and names is left out from now on.
    pub(crate) async fn answer_without_refused(
        &mut self,
        request: &GenerateRequest,
        deadline: Deadline,
    ) -> Result<Answer, OpenAiError> {
        loop {
            let answer = self.written_probe(request, deadline).await;
            let field = answer
                .as_ref()
                .err()
                .and_then(|error| self.refused_field(error));
            let (Some(field), Err(error)) = (field, &answer) else {
                return answer;
            };
            tracing::info!(field, %error, "the server refuses a field, which is left out from now on");
            self.support.decline(format!("field `{field}`"), error);
            self.support.left_out.push(field);
        }
    }

    /// The field that a refusal names, and that is not left out yet.
    fn refused_field(&self, error: &OpenAiError) -> Option<&'static str> {
        let OpenAiError::Status {
            status: 400 | 422,
            said,
            ..
        } = error
        else {
            return None;
        };
        let names = |field: &str| {
            let is_part = |c: char| c.is_alphanumeric() || c == '_';
            said.match_indices(field).any(|(at, _)| {
                let before = said[..at].chars().next_back();
                let behind = said[at + field.len()..].chars().next();
                ![before, behind].into_iter().flatten().any(is_part)
            })
        };
        // Refusals of a prompt that is too long name the field as well.
        let lower = said.to_lowercase();
        let is_unknown = UNKNOWN.iter().any(|words| lower.contains(words));
        let fields = [MOST.0]
            .into_iter()
            .filter(|_| is_unknown || names(MOST.1))
            .chain(OPTIONAL);
        let mut fields = fields.filter(|field| !self.support.left_out.contains(field));
        fields.find(|field| names(field))
    }

    /// The name of the field for the number of tokens.
    pub(crate) fn most_field(&self, is_openai_chat: bool) -> &'static str {
        match is_openai_chat || self.support.left_out.contains(&MOST.0) {
            true => MOST.1,
            false => MOST.0,
        }
    }
}
