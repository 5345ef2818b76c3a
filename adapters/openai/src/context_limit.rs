//! Refusals of a request that is longer than the model's context, in the words of servers and of what stands before them.

/// What such a refusal says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TooLong {
    /// The tokens of the prompt, as the server counts them.
    pub(crate) prompt: Option<u64>,
    /// The tokens of the context.
    pub(crate) context: Option<u64>,
}

/// Words that only such a refusal has.
const SAYS: [&str; 14] = [
    "maximum context length",
    "context length exceeded",
    "context_length_exceeded",
    "contextwindowexceeded",
    "exceed_context_size",
    "available context size",
    "context size has been exceeded",
    "exceeds the context",
    "prompt is too long",
    "input is too long",
    "request too large",
    "reduce the length of",
    "reduce your message size",
    "the prompt has",
];
/// What stands before and behind the number of the prompt's tokens, the surest first.
const PROMPT: [(&str, &str); 13] = [
    ("n_prompt_tokens: ", ""),
    // vLLM
    ("contains at least ", " input tokens"),
    ("contains ", " input tokens"),
    // SGLang
    ("tokens: ", " tokens from the input"),
    // LiteLLM, OpenAI
    ("resulted in ", " tokens"),
    ("(", " in the messages"),
    ("messages have ", " tokens"),
    // Anthropic
    ("too long: ", " tokens"),
    // llama.cpp
    ("request (", " tokens)"),
    // Groq
    ("requested ", "."),
    ("requested ", " tokens"),
    ("the prompt has ", " tokens"),
    ("prompt_tokens=", ""),
];
/// The same for the context.
const CONTEXT: [(&str, &str); 9] = [
    ("n_ctx: ", ""),
    ("maximum context length is ", ""),
    ("maximum context length of ", ""),
    ("context size (", ""),
    ("context length (", ""),
    ("> ", " maximum"),
    ("limit ", ""),
    ("and the context ", ""),
    ("context window of ", ""),
];

/// What a refusal says of the context's limit; `None` where it is about something else.
pub(crate) fn read(code: &str, said: &str) -> Option<TooLong> {
    let text = format!("{code} {said}").to_lowercase();
    let has_numbers = text.contains("n_prompt_tokens: ") && text.contains("exceed");
    if !has_numbers && !SAYS.iter().any(|words| text.contains(words)) {
        return None;
    }
    let number = |places: &[(&str, &str)]| {
        let mut places = places.iter();
        places.find_map(|(before, behind)| between(&text, before, behind))
    };
    let context = number(&CONTEXT);
    Some(TooLong {
        prompt: number(&PROMPT).filter(|prompt| *prompt > 0),
        context: context.filter(|context| *context > 0),
    })
}

/// The number that stands between two texts.
fn between(text: &str, before: &str, behind: &str) -> Option<u64> {
    let mut places = text.match_indices(before);
    places.find_map(|(at, _)| {
        let rest = &text[at + before.len()..];
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != ',');
        let (digits, rest) = rest.split_at(end.unwrap_or(rest.len()));
        let number = digits.replace(',', "").parse().ok()?;
        rest.starts_with(behind).then_some(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expect: Option<(Option<u64>, Option<u64>)>) {
        let expect = expect.map(|(prompt, context)| TooLong { prompt, context });
        assert_eq!(read("", said), expect, "{said}");
    }

    #[test]
    fn both_lengths_are_read_from_the_words_of_servers() {
        let both = |prompt, context| Some((Some(prompt), Some(context)));
        check(
            "the request exceeds the available context size; n_prompt_tokens: 5213; n_ctx: 2048",
            both(5_213, 2_048),
        );
        check(
            "request (1100 tokens) exceeds the available context size (1500 tokens), try increasing it; n_prompt_tokens: 1100; n_ctx: 1500",
            both(1_100, 1_500),
        );
        check(
            "This model's maximum context length is 4096 tokens. However, your messages have 9001 tokens.",
            both(9_001, 4_096),
        );
        check(
            "This model's maximum context length is 4096 tokens. However, you requested 4200 tokens (3688 in the messages, \
             512 in the completion).",
            both(3_688, 4_096),
        );
        check(
            "This model's maximum context length is 1500 tokens. However, you requested 512 output tokens and your prompt \
             contains at least 1100 input tokens, for a total of at least 1612 tokens.",
            both(1_100, 1_500),
        );
        check(
            "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9000 \
             tokens: 8488 tokens from the input messages and 512 tokens for the completion.",
            both(8_488, 8_192),
        );
        check(
            "prompt is too long: 210000 tokens > 200000 maximum",
            both(210_000, 200_000),
        );
        check(
            "litellm.ContextWindowExceededError: This model's maximum context length is 8,192 tokens. However, your messages \
             resulted in 9,001 tokens (including 12 in the functions).",
            both(9_001, 8_192),
        );
        check(
            "Request too large for model `m`: Limit 6000, Requested 7001. Please reduce your message size and try again.",
            both(7_001, 6_000),
        );
        check("Context size has been exceeded.", Some((None, None)));
        check("the prompt has 12 tokens and the context 8", both(12, 8));
        check(
            "the prompt has 99999999999999999999999 tokens and the context 8",
            Some((None, Some(8))),
        );
    }

    #[test]
    fn other_refusals_say_nothing_of_the_context() {
        check("the tool `brew` is not known", None);
        check("n_prompt_tokens: 12; n_ctx: 2048", None);
        check("Rate limit reached: Limit 30, Used 30, Requested 1.", None);
        check("max_tokens must be at least 1", None);
    }
}
