//! Whether an answer is the one that the request gets alone.

use journeyman::contract::{GenerateRequest, Generation, TokenScores};
use llama_cpp_2::{llama_batch::LlamaBatch, token::LlamaToken};

use super::{Answer, Ask, Load, TIE};
use crate::engine::bare::Bare;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Same {
    Equal,
    Tied,
    Different,
}

pub(super) fn compared(got: &Answer, want: &Answer, load: &Load, bare: &Bare) -> Same {
    match (got, want, &load.ask) {
        (Answer::Scored(got), Answer::Scored(want), _) => scored(got, want),
        (Answer::Written(got), Answer::Written(want), Ask::Write(request)) => {
            written(got, want, request, bare)
        }
        _ => Same::Different,
    }
}

fn scored(got: &[TokenScores], want: &[TokenScores]) -> Same {
    let near = got.len() == want.len()
        && got.iter().zip(want).all(|(got, want)| {
            let pairs = got.logprobs.iter().zip(&want.logprobs);
            got.ids == want.ids
                && got.logprobs.len() == want.logprobs.len()
                && pairs.into_iter().all(|(a, b)| (a - b).abs() < TIE)
        });
    if near { Same::Equal } else { Same::Different }
}

fn written(got: &Generation, want: &Generation, request: &GenerateRequest, bare: &Bare) -> Same {
    let pairs = got.ids.iter().zip(&want.ids);
    let common = pairs.take_while(|(a, b)| a == b).count();
    let near = |at: usize| f64::from((got.logprobs[at] - want.logprobs[at]).abs()) < TIE;
    if got.prompt_ids != want.prompt_ids || !(0..common).all(near) {
        return Same::Different;
    }
    if got.ids.len() == common && want.ids.len() == common {
        return Same::Equal;
    }
    let (Some(&a), Some(&b)) = (got.ids.get(common), want.ids.get(common)) else {
        return Same::Different;
    };
    let tied = if request.sampling.temperature == 0.0 {
        near(common)
    } else {
        on_a_border(
            request,
            &[&got.prompt_ids, &got.ids[..common]].concat(),
            common,
            a,
            b,
            bare,
        )
    };
    if tied { Same::Tied } else { Same::Different }
}

/// Whether the drawn number is so near to both tokens' shares that either may be drawn.
fn on_a_border(
    request: &GenerateRequest,
    before: &[i32],
    place: usize,
    a: i32,
    b: i32,
    bare: &Bare,
) -> bool {
    let mut context = bare.context(before.len() as u32 + 64, before.len() as u32 + 64, 1);
    let mut batch = LlamaBatch::new(before.len(), 1);
    for (at, &id) in before.iter().enumerate() {
        let last = at + 1 == before.len();
        if batch.add(LlamaToken(id), at as i32, &[0], last).is_err() {
            return false;
        }
    }
    if context.decode(&mut batch).is_err() {
        return false;
    }
    let logits = context.get_logits_ith(before.len() as i32 - 1);
    let number = request.sampling.seed.derive("token", place as u64).unit();
    let temperature = f64::from(request.sampling.temperature);
    let max = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits
        .iter()
        .map(|&logit| (f64::from(logit - max) / temperature).exp())
        .collect();
    let total: f64 = weights.iter().sum();
    let share = |token: i32| {
        let token = token as usize;
        let low: f64 = weights[..token].iter().sum::<f64>() / total;
        (low, low + weights[token] / total)
    };
    let near = |token: i32| {
        let (low, high) = share(token);
        number > low - TIE && number < high + TIE
    };
    near(a) && near(b)
}
