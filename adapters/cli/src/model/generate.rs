//! `model generate`: shows a text while the model writes it.

use std::{
    io::{self, Write},
    sync::Arc,
};

use futures::{
    FutureExt, StreamExt,
    channel::mpsc::{UnboundedSender, unbounded},
};
use journeyman::{
    Error, ErrorKind, Result, Seed,
    contract::{FinishReason, GenerateRequest, Generation, TokenSink},
    domain::Sampling,
    text::plain_terminal,
};
use serde_json::json;

use super::{
    arguments::Generate,
    load::{Model, prompt},
};
use crate::output::{Answer, tell, word};
use crate::progress::Progress;

/// Sends pieces of text to the loop that prints them.
struct Pieces(UnboundedSender<String>);

impl TokenSink for Pieces {
    fn token(&self, text: &str) {
        let _ = self.0.unbounded_send(text.to_owned());
    }
}

pub(super) async fn generate(command: &Generate, json: bool) -> Result<Answer> {
    let text = command.given.text()?;
    let model = Model::load(&command.load)?;
    let mut request = GenerateRequest::greedy(
        prompt(command.given.system.as_deref(), &text),
        command.max_tokens,
    );
    request.sampling = Sampling::new(command.temperature, command.top_p, Seed(command.seed));
    request.stop.clone_from(&command.stop);
    request.time_limit = model.time_limit;
    if json {
        let _progress = Progress::of("writing");
        return model.language.generate(&request).await.map(document);
    }
    let Some(generation) = shown(&model, request).await? else {
        return Ok(Answer::default());
    };
    let why = match generation.finish {
        FinishReason::EndOfText => "the model ended the text",
        FinishReason::Stop => "a stop text was written",
        FinishReason::Length => "the limit of tokens or the context is reached",
        FinishReason::Repeats => "the model wrote the same again and again",
        _ => "it ended",
    };
    tell(&format!(
        "{} tokens after a prompt of {}: {why}",
        generation.output_tokens, generation.prompt_tokens
    ));
    Ok(Answer {
        text: "\n".to_owned(),
        ..Answer::default()
    })
}

/// Prints pieces as they come; none where the reader of the output has gone away.
async fn shown(model: &Model, mut request: GenerateRequest) -> Result<Option<Generation>> {
    let (pieces, mut shown) = unbounded();
    request.sink = Some(Arc::new(Pieces(pieces)));
    let mut writing = model.language.generate(&request).fuse();
    loop {
        futures::select_biased! {
            piece = shown.select_next_some() => {
                if !show(&piece)? {
                    return Ok(None);
                }
            }
            done = writing => {
                while let Ok(piece) = shown.try_recv() {
                    if !show(&piece)? {
                        return Ok(None);
                    }
                }
                return done.map(Some);
            }
        }
    }
}

/// Prints a piece; false where the reader of the output has gone away.
fn show(piece: &str) -> Result<bool> {
    let mut out = io::stdout().lock();
    let plain = plain_terminal(piece);
    match out.write_all(plain.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Error::new(
            ErrorKind::Unavailable,
            "output",
            format!("the answer cannot be written ({})", error.kind()),
        )
        .hint("make room where the output goes")
        .source_from(error)),
    }
}

fn document(generation: Generation) -> Answer {
    let mut json = json!({
            "model": generation.model,
            "text": generation.text,
            "finish": word(&generation.finish),
            "prompt_tokens": generation.prompt_tokens,
            "output_tokens": generation.output_tokens,
            "prompt_ids": generation.prompt_ids,
            "ids": generation.ids,
            "logprobs": generation.logprobs,
    });
    if let Some(adapter) = generation.adapter {
        json["adapter"] = adapter.into();
    }
    Answer {
        json,
        ..Answer::default()
    }
}
