//! Layers on GPUs, as an option and as a key of a file.

use std::fmt;

use journeyman_llama_cpp::GpuLayers;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer,
    de::{Error, Unexpected, Visitor},
};

/// What can be given.
const CHOICES: &str = "`none`, `all`, `fit` or a number";

/// The key `gpu_layers` of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layers(pub(crate) GpuLayers);

/// Reads the option.
pub(crate) fn named(text: &str) -> Result<GpuLayers, String> {
    let layers = word(text).or_else(|| text.parse().ok().map(counted));
    layers.ok_or_else(|| format!("give {CHOICES}"))
}

fn word(text: &str) -> Option<GpuLayers> {
    match text {
        "none" => Some(GpuLayers::None),
        "all" => Some(GpuLayers::All),
        "fit" => Some(GpuLayers::Fit),
        _ => None,
    }
}

/// The layers as a person gives them.
pub(crate) fn shown(layers: GpuLayers) -> String {
    match layers {
        GpuLayers::None => "none".to_owned(),
        GpuLayers::Count(layers) => layers.to_string(),
        GpuLayers::All => "all".to_owned(),
        _ => "fit".to_owned(),
    }
}

fn counted(layers: u32) -> GpuLayers {
    match layers {
        0 => GpuLayers::None,
        layers => GpuLayers::Count(layers),
    }
}

impl<'de> Deserialize<'de> for Layers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Key)
    }
}

/// Reads the key.
struct Key;

impl Visitor<'_> for Key {
    type Value = Layers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CHOICES)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Layers, E> {
        let layers = word(text).map(Layers);
        layers.ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Layers, E> {
        let layers = u32::try_from(number).map(|layers| Layers(counted(layers)));
        layers.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
    }
}

/// The key in the JSON Schema of a file.
pub(crate) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [
        {"type": "string", "enum": ["none", "all", "fit"]},
        {"type": "integer", "minimum": 0},
    ]})
}
