//! Checks that match llama.cpp's assertions on a header, which would end the process.

use journeyman::{Error, Result};

use super::reader::{OPERATION, TOKENS, Value, Values, corrupt};

/// The assertions of llama_model_base::load_hparams on experts.
pub(super) fn check_experts<'a>(
    architecture: &str,
    own: impl Fn(&str) -> Option<&'a Value>,
) -> Result<()> {
    let number = |name: &str| match own(name) {
        Some(Value::Number(number)) if *number < 0 => i128::MAX,
        Some(Value::Number(number)) => *number,
        // Models may use different numbers in each layer; the largest counts.
        Some(Value::Numbers { largest, .. }) => *largest,
        _ => 0,
    };
    let [experts, used, groups, groups_used] = [
        "expert_count",
        "expert_used_count",
        "expert_group_count",
        "expert_group_used_count",
    ]
    .map(number);
    // These architectures treat a single expert as none, and then ignore the number of used ones.
    let lone = experts <= 1 && ["hunyuan-dense", "hunyuan_vl"].contains(&architecture);
    let fits = if lone {
        groups == 0
    } else if experts == 0 {
        used == 0 && groups == 0
    } else {
        let grouped = groups > 1 && experts % groups == 0 && (1..groups).contains(&groups_used);
        experts <= 1024
            && (1..=experts).contains(&used)
            && groups < experts
            && (groups <= 1 || grouped)
    };
    if fits {
        return Ok(());
    }
    Err(corrupt("the header's numbers of experts are inconsistent"))
}

/// The assertions of llama_vocab::impl::load. Returns the number of tokens.
pub(super) fn check_vocabulary(values: &Values, model: Option<String>) -> Result<u64> {
    if !model.is_some_and(|model| model != "no_vocab" && model != "none") {
        return Err(Error::unsupported(OPERATION, "the file has no vocabulary")
            .hint("use the GGUF of a whole language model, not of a projector or an adapter"));
    }
    let len = match values.get(TOKENS) {
        Some(Value::Texts { len, repeats }) if *len > 0 => {
            if *repeats {
                return Err(corrupt("two tokens of the vocabulary are equal"));
            }
            *len
        }
        _ => return Err(corrupt("the header lists no tokens")),
    };
    for (key, kinds) in [("scores", [5, 6]), ("token_type", [5, 5])] {
        match values.get(&format!("tokenizer.ggml.{key}")) {
            None => {}
            Some(Value::Numbers {
                kind, len: have, ..
            }) if kinds.contains(kind) && *have >= len => {}
            Some(_) => {
                return Err(corrupt(format!(
                    "the vocabulary's list `{key}` has the wrong type or length"
                )));
            }
        }
    }
    Ok(len)
}
