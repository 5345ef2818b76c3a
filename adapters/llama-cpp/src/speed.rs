//! A short measurement of a model's speed when it is loaded.

use std::time::{Duration, Instant};

use journeyman::{Result, contract::ModelSpeed};
use llama_cpp_2::token::LlamaToken;

use crate::context::{Context, Row, Sequence};

/// Tokens of the prompt that is read.
const READ: usize = 16;
/// Tokens that are written after it.
const WRITTEN: usize = 2;

/// How long a token takes to be read in a batch, and to be written one by one; `None` where there is no room to measure. The
/// memory is empty afterwards. The first decode also brings the weights into memory, so that one comes before.
pub(crate) fn measure(context: &mut Context<'_>, batch: usize) -> Result<Option<ModelSpeed>> {
    let read = READ.min(batch).min(context.free_cells() / 2);
    if read < 2 || context.free_cells() < read + WRITTEN + 1 {
        return Ok(None);
    }
    let Some(mut sequence) = context.open() else {
        return Ok(None);
    };
    let measured = timed(context, &mut sequence, read);
    context.close(sequence);
    context.reset(true);
    measured.map(Some)
}

fn timed(context: &mut Context<'_>, sequence: &mut Sequence, read: usize) -> Result<ModelSpeed> {
    // Which tokens they are does not matter: every token takes the same time.
    let token = LlamaToken(0);
    decode(context, sequence, token, 1)?;
    let start = Instant::now();
    decode(context, sequence, token, read)?;
    let reading = start.elapsed();
    let start = Instant::now();
    for _ in 0..WRITTEN {
        decode(context, sequence, token, 1)?;
    }
    let writing = start.elapsed();
    let each = |time: Duration, count: usize| time / u32::try_from(count).unwrap_or(1).max(1);
    Ok(ModelSpeed::new(each(reading, read), each(writing, WRITTEN)))
}

/// Decodes so many tokens in one batch, with the logits of the last.
fn decode(
    context: &mut Context<'_>,
    sequence: &mut Sequence,
    token: LlamaToken,
    count: usize,
) -> Result<()> {
    let rows: Vec<Row> = (0..count)
        .map(|ahead| sequence.row(ahead, token, ahead + 1 == count))
        .collect();
    context.decode(&rows)?;
    for _ in 0..count {
        context.extend(sequence, token);
    }
    Ok(())
}
