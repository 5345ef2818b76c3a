//! Adapters (LoRA): loaded with the weights, named in a request, unloaded (ARISE Eq. 6: the trained policy comes back
//! as one).

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use journeyman::{Error, ErrorKind, Result};
use llama_cpp_2::model::{LlamaLoraAdapter, LlamaModel};

use crate::{
    convert::no_adapter,
    digest::{FileHash, file_digest},
    gguf::{Reader, Tensor, Value, read_header, tensors},
    setup::Setup,
    weights::load_model,
};

pub(crate) const LOAD: &str = "LlamaCpp::load_adapter";
pub(crate) const UNLOAD: &str = "LlamaCpp::unload_adapter";

/// Checks an adapter's name, and its header against the model's architecture and whether the model's output shares its
/// embeddings (`is_tied`).
pub(crate) fn inspect(name: &str, path: &Path, architecture: &str, is_tied: bool) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid(LOAD, "the adapter's name is empty")
            .hint("give it a name, by which requests choose it"));
    }
    let with_path = |error: Error| error.with("path", path.display());
    let mut reader = Reader::open(path).map_err(with_path)?;
    let length = reader.left();
    let (values, count) = read_header(&mut reader).map_err(with_path)?;
    let text = |key: &str| match values.get(key) {
        Some(Value::Text(text)) => text.as_str(),
        _ => "",
    };
    if text("general.type") != "adapter" || text("adapter.type") != "lora" {
        let error = Error::invalid(LOAD, "the file is a GGUF, but not an adapter (LoRA)")
            .hint("convert the adapter with llama.cpp's convert_lora_to_gguf.py");
        return Err(with_path(error));
    }
    // llama.cpp asserts its type.
    if !matches!(values.get("adapter.lora.alpha"), Some(Value::Single)) {
        let error = Error::new(
            ErrorKind::Corrupt,
            LOAD,
            "the adapter has no `adapter.lora.alpha` in single precision",
        )
        .hint("convert the adapter again with llama.cpp's convert_lora_to_gguf.py");
        return Err(with_path(error));
    }
    let of = text("general.architecture");
    if of != architecture {
        let error = Error::unsupported(
            LOAD,
            format!("the adapter is for the architecture `{of}`, the model is `{architecture}`"),
        )
        .hint("load it with the model that it was trained on");
        return Err(with_path(error));
    }
    let tensors = tensors::read(&mut reader, count, &values, length).map_err(with_path)?;
    check_tensors(&tensors, is_tied).map_err(with_path)
}

/// Refuses tensors on which ggml would assert when it multiplies the adapter's matrices.
fn check_tensors(tensors: &[Tensor], is_tied: bool) -> Result<()> {
    let halves = tensors.iter().filter_map(|tensor| {
        let (of, half) = tensor.name.rsplit_once('.')?;
        ["lora_a", "lora_b"].contains(&half).then_some((of, tensor))
    });
    let mut ranks: BTreeMap<&str, u64> = BTreeMap::new();
    for (of, tensor) in halves {
        let refused = |what: &str| {
            let name = &tensor.name;
            Error::unsupported(LOAD, format!("the adapter's tensor `{name}` {what}"))
                .hint("convert the adapter again with llama.cpp's convert_lora_to_gguf.py")
        };
        // Single and half precision, bfloat16 and Q8_0: the types that the converter writes.
        if ![0, 1, 8, 30].contains(&tensor.kind) {
            return Err(refused("has a number type that adapters do not have"));
        }
        let &[inner, outer] = tensor.shape.as_slice() else {
            return Err(refused("is not a matrix"));
        };
        if of.contains("_exps") {
            return Err(refused("is for experts, which are not supported"));
        }
        if of.ends_with("token_embd.weight") {
            // ggml would use it for the output, whose halves are transposed.
            if is_tied {
                return Err(refused(
                    "is for embeddings that the output layer shares, which is not supported",
                ));
            }
            let rank = *ranks.entry(of).or_insert(inner);
            if rank != inner {
                return Err(refused("has another rank than its other half"));
            }
        }
        if inner == 0 || outer == 0 {
            return Err(refused("is empty"));
        }
    }
    Ok(())
}

/// A change of the loaded adapters.
pub(crate) enum AdapterChange {
    Load { name: String, path: PathBuf },
    Unload { name: String },
}

/// A loaded adapter and the file that it came from.
struct Loaded {
    path: PathBuf,
    digest: String,
    adapter: LlamaLoraAdapter,
}

/// The adapters of a model, by name.
#[derive(Default)]
pub(crate) struct Adapters(BTreeMap<String, Loaded>);

impl Adapters {
    pub(crate) fn load(model: &mut LlamaModel, files: &BTreeMap<String, PathBuf>) -> Result<Self> {
        let mut adapters = Self::default();
        for (name, path) in files {
            adapters.add(model, name.clone(), path.clone())?;
        }
        Ok(adapters)
    }

    fn add(&mut self, model: &mut LlamaModel, name: String, path: PathBuf) -> Result<()> {
        // llama.cpp's binding asserts that the file exists.
        let digest =
            file_digest(LOAD, &path).map_err(|error| error.with("path", path.display()))?;
        let adapter = model.lora_adapter_init(&path).map_err(|error| {
            Error::new(
                ErrorKind::Unsupported,
                LOAD,
                "llama.cpp refuses the adapter: its tensors do not fit this model's",
            )
            .with("path", path.display())
            .hint("load the adapter with the model that it was trained on, or train it again")
            .source_from(error)
        })?;
        let loaded = Loaded {
            path,
            digest,
            adapter,
        };
        self.0.insert(name, loaded);
        Ok(())
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    pub(crate) fn get(&mut self, name: &str) -> Option<&mut LlamaLoraAdapter> {
        self.0.get_mut(name).map(|loaded| &mut loaded.adapter)
    }

    /// The SHA-256 of an adapter's file.
    pub(crate) fn digest(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|loaded| loaded.digest.as_str())
    }

    /// The SHA-256 of each adapter's file, by the adapter's name.
    pub(crate) fn digests(&self) -> BTreeMap<String, String> {
        let loaded = self.0.iter();
        loaded
            .map(|(name, one)| (name.clone(), one.digest.clone()))
            .collect()
    }

    /// Applies a change; on an error nothing has changed.
    pub(crate) fn change(
        &mut self,
        setup: &Setup,
        model: &mut LlamaModel,
        change: AdapterChange,
    ) -> Result<()> {
        match change {
            AdapterChange::Load { name, path } if self.0.contains_key(&name) => {
                let (mut fresh, mut others) = self.without(LOAD, setup, &name)?;
                others.add(&mut fresh, name, path)?;
                (*model, *self) = (fresh, others);
            }
            AdapterChange::Load { name, path } => self.add(model, name, path)?,
            AdapterChange::Unload { name } if self.0.contains_key(&name) => {
                let (fresh, others) = self.without(UNLOAD, setup, &name)?;
                (*model, *self) = (fresh, others);
            }
            AdapterChange::Unload { name } => return Err(no_adapter(UNLOAD, &name, &self.names())),
        }
        setup.digests.set(self.digests());
        Ok(())
    }

    /// Loads the weights again with all adapters but one: llama.cpp frees an adapter only with its model.
    fn without(
        &self,
        operation: &'static str,
        setup: &Setup,
        name: &str,
    ) -> Result<(LlamaModel, Self)> {
        let changed = |path: &Path| {
            Error::new(
                ErrorKind::Corrupt,
                operation,
                "a file has changed since it was loaded",
            )
            .with("path", path.display())
            .hint("restore the file, or load the model again")
        };
        let file = FileHash::of(operation, &setup.config.path, Some(&setup.file))?;
        if !file.equals(&setup.file) {
            return Err(changed(&setup.config.path));
        }
        let mut fresh = load_model(&setup.config, Some(setup.gpu_layers))?;
        let others = self.0.iter().filter(|(other, _)| *other != name);
        let files = others.map(|(other, loaded)| (other.clone(), loaded.path.clone()));
        let others = Self::load(&mut fresh, &files.collect())?;
        for (other, loaded) in &others.0 {
            if self.digest(other) != Some(loaded.digest.as_str()) {
                return Err(changed(&loaded.path));
            }
        }
        Ok((fresh, others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ggml_would_assert_on_is_unsupported() {
        let of_model = |is_tied, tensors: &[(&str, &[u64], u32)]| {
            let tensors = tensors.iter().map(|(name, shape, kind)| Tensor {
                name: (*name).to_owned(),
                shape: shape.to_vec(),
                kind: *kind,
                bytes: 0,
            });
            check_tensors(&tensors.collect::<Vec<_>>(), is_tied).map_err(|error| error.kind())
        };
        let check = |tensors: &[(&str, &[u64], u32)]| of_model(false, tensors);
        let (a, b) = ("blk.0.attn_q.weight.lora_a", "blk.0.attn_q.weight.lora_b");
        assert_eq!(check(&[(a, &[64, 8], 0), (b, &[8, 64], 8)]), Ok(()));
        assert_eq!(check(&[("blk.0.attn_norm.weight", &[64], 0)]), Ok(()));
        let (of_tokens, back) = ("token_embd.weight.lora_a", "token_embd.weight.lora_b");
        assert_eq!(
            check(&[(of_tokens, &[8, 99], 1), (back, &[8, 64], 1)]),
            Ok(())
        );
        let tied = of_model(true, &[(of_tokens, &[8, 99], 1), (back, &[8, 64], 1)]);
        assert_eq!(tied, Err(ErrorKind::Unsupported));
        for tensors in [
            &[("blk.0.ffn_up_exps.weight.lora_a", &[64, 8][..], 0)][..],
            &[(a, &[64, 8, 4][..], 0)][..],
            &[(a, &[64][..], 0)],
            &[(a, &[64, 0][..], 0)],
            // Whole numbers of 32 bits, and a type of a few bits.
            &[(b, &[8, 64][..], 26)],
            &[(b, &[8, 64][..], 12)],
            &[(of_tokens, &[8, 99][..], 1), (back, &[4, 64][..], 1)],
        ] {
            assert_eq!(check(tensors), Err(ErrorKind::Unsupported), "{tensors:?}");
        }
    }
}
