//! Small GGUF files with random numbers.
#![allow(dead_code, reason = "each user has its own part of this")]

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend((text.len() as u64).to_le_bytes());
    out.extend(text.as_bytes());
}

pub(crate) fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    text(&mut out, key);
    out.extend(kind.to_le_bytes());
    out.extend(value);
    out
}

pub(crate) fn pair_u32(key: &str, value: u32) -> Vec<u8> {
    pair(key, 4, &value.to_le_bytes())
}

pub(crate) fn pair_text(key: &str, value: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    text(&mut bytes, value);
    pair(key, 8, &bytes)
}

pub(crate) fn pair_list(key: &str, kind: u32, bytes: &[u8], count: usize) -> Vec<u8> {
    let mut value = kind.to_le_bytes().to_vec();
    value.extend((count as u64).to_le_bytes());
    value.extend(bytes);
    pair(key, 9, &value)
}

pub(crate) fn pair_texts(key: &str, texts: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for value in texts {
        text(&mut bytes, value);
    }
    pair_list(key, 8, &bytes, texts.len())
}

/// SplitMix64.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Roughly normal: the sum of twelve uniform numbers, less six.
    pub(crate) fn normal(&mut self) -> f32 {
        (0..12)
            .map(|_| (self.next() >> 40) as f32 / (1 << 24) as f32)
            .sum::<f32>()
            - 6.0
    }
}

/// A whole file of numbers in full precision.
pub(crate) fn gguf(pairs: &[Vec<u8>], tensors: &[(String, Vec<usize>)], data: &[f32]) -> Vec<u8> {
    let mut out = b"GGUF".to_vec();
    out.extend(3_u32.to_le_bytes());
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend((pairs.len() as u64).to_le_bytes());
    out.extend(pairs.concat());
    let mut offset = 0_u64;
    for (name, shape) in tensors {
        text(&mut out, name);
        out.extend((shape.len() as u32).to_le_bytes());
        for size in shape {
            out.extend((*size as u64).to_le_bytes());
        }
        out.extend(0_u32.to_le_bytes());
        out.extend(offset.to_le_bytes());
        offset += 4 * shape.iter().product::<usize>() as u64;
    }
    out.resize(out.len().next_multiple_of(32), 0);
    for number in data {
        out.extend(number.to_le_bytes());
    }
    out
}

/// A low-rank adapter of a model's queries, with random weights; as it is, of the tiny model's.
pub(crate) struct Lora {
    pub(crate) seed: u64,
    pub(crate) architecture: &'static str,
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) scale: f32,
}

impl Default for Lora {
    fn default() -> Self {
        Self {
            seed: 3,
            architecture: "llama",
            layers: 2,
            width: 32,
            scale: 1.0,
        }
    }
}

impl Lora {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        const RANK: usize = 8;
        let pairs = [
            pair_text("general.type", "adapter"),
            pair_text("general.architecture", self.architecture),
            pair_text("adapter.type", "lora"),
            pair("adapter.lora.alpha", 6, &8_f32.to_le_bytes()),
        ];
        let tensors: Vec<_> = (0..self.layers)
            .flat_map(|layer| {
                let name = |part| format!("blk.{layer}.attn_q.weight.{part}");
                [
                    (name("lora_a"), vec![self.width, RANK]),
                    (name("lora_b"), vec![RANK, self.width]),
                ]
            })
            .collect();
        let mut noise = Noise(self.seed);
        let count = 2 * self.layers * RANK * self.width;
        let data: Vec<f32> = (0..count)
            .map(|_| self.scale * 0.5 * noise.normal())
            .collect();
        gguf(&pairs, &tensors, &data)
    }
}
