//! Instructions that the processor has and this build of llama.cpp leaves unused.

/// The instruction sets of this processor that llama.cpp was not compiled for: with them it reads prompts up to several times
/// faster. None in a build with the feature `dynamic-backends`, which loads what fits the processor, and in one for
/// `target-cpu=native`.
///
/// ```
/// let unused = journeyman_llama_cpp::unused_instructions();
/// if !unused.is_empty() {
///     println!("build for this processor to use {}", unused.join(", "));
/// }
/// ```
pub fn unused_instructions() -> Vec<&'static str> {
    if cfg!(feature = "dynamic-backends") {
        return Vec::new();
    }
    #[cfg(target_arch = "x86_64")]
    {
        // By its name for people: whether the processor has it, and whether the build uses it.
        let sets = [
            (
                "AVX-512",
                std::is_x86_feature_detected!("avx512f"),
                cfg!(target_feature = "avx512f"),
            ),
            (
                "AVX-512 VNNI",
                std::is_x86_feature_detected!("avx512vnni"),
                cfg!(target_feature = "avx512vnni"),
            ),
        ];
        let unused = sets.into_iter().filter(|(_, has, uses)| *has && !uses);
        unused.map(|(name, ..)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Warns once in a process.
pub(crate) fn warn_of_unused() {
    static SAID: std::sync::Once = std::sync::Once::new();
    let unused = unused_instructions();
    if !unused.is_empty() {
        SAID.call_once(|| {
            tracing::warn!(
                instructions = unused.join(", "),
                "llama.cpp was compiled without instructions of this processor: build with the feature `dynamic-backends`, or \
                 with RUSTFLAGS=\"-C target-cpu=native\", to read prompts faster"
            );
        });
    }
}
