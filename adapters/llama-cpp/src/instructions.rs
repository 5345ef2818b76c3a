//! Instructions that the processor has and this build of llama.cpp leaves unused, or that it needs and the processor lacks.

use journeyman::{Error, Result};

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
            (
                "AVX-512 BF16",
                std::is_x86_feature_detected!("avx512bf16"),
                cfg!(target_feature = "avx512bf16"),
            ),
            // Rust's own test for it is not stable.
            (
                "AMX",
                std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|told| has_amx(&told)),
                cfg!(amx),
            ),
        ];
        let unused = sets.into_iter().filter(|(_, has, uses)| *has && !uses);
        unused.map(|(name, ..)| name).collect()
    }
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

/// Whether Linux's list of processors has the two instruction sets of AMX that llama.cpp multiplies matrices with.
#[cfg(target_arch = "x86_64")]
fn has_amx(processors: &str) -> bool {
    let flags = processors.lines().find(|line| line.starts_with("flags"));
    let has = |flag: &str| flags.is_some_and(|line| line.split_whitespace().any(|one| one == flag));
    has("amx_tile") && has("amx_int8")
}

/// Refuses a processor without the instructions that llama.cpp was compiled for, whose use would end the process. Nothing is refused
/// where the builder chose the instructions.
pub(crate) fn require(operation: &'static str) -> Result<()> {
    #[cfg(all(
        target_arch = "x86_64",
        usual_instructions,
        not(feature = "dynamic-backends")
    ))]
    let needed = [
        ("AVX2", std::is_x86_feature_detected!("avx2")),
        ("FMA", std::is_x86_feature_detected!("fma")),
        ("F16C", std::is_x86_feature_detected!("f16c")),
        ("BMI2", std::is_x86_feature_detected!("bmi2")),
    ];
    #[cfg(not(all(
        target_arch = "x86_64",
        usual_instructions,
        not(feature = "dynamic-backends")
    )))]
    let needed: [(&str, bool); 0] = [];
    refuse(operation, &needed)?;
    #[cfg(amx_dropped)]
    if std::fs::read_to_string("/proc/cpuinfo").is_ok_and(|told| has_amx(&told)) {
        return Err(unconfigured(operation));
    }
    Ok(())
}

/// The error of a build whose compiler stored only a part of AMX's configuration, on a processor with AMX: the first product with
/// quantized weights would end the process by an illegal instruction.
#[cfg(any(test, amx_dropped))]
fn unconfigured(operation: &'static str) -> Error {
    Error::unsupported(
        operation,
        "llama.cpp was compiled by a version of GCC that drops a part of the configuration of AMX, which this processor has",
    )
    .hint(
        "build with CXXFLAGS=\"-fno-tree-dse -fno-dse\", which keeps the configuration, or with another compiler of C++",
    )
}

/// The error that names what is needed and is not there.
fn refuse(operation: &'static str, needed: &[(&str, bool)]) -> Result<()> {
    let lacking = needed.iter().filter(|(_, has)| !has);
    let lacking: Vec<&str> = lacking.map(|(name, _)| *name).collect();
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = lacking.join(", ");
    Err(Error::unsupported(
        operation,
        format!("llama.cpp was compiled for instructions that this processor lacks: {lacking}"),
    )
    .hint(
        "build with the feature `dynamic-backends`, which has a library for each kind of processor",
    ))
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

#[cfg(test)]
mod tests {
    use journeyman::ErrorKind;

    use super::*;

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn amx_is_read_from_linux_own_list() {
        let check = |flags: &str, expect: bool| {
            let told = format!(
                "processor\t: 0\nmodel name\t: amx_tile amx_int8\nflags\t\t: fpu {flags}\n"
            );
            assert_eq!(has_amx(&told), expect, "{flags}");
        };
        check("avx512f amx_bf16 amx_tile amx_int8", true);
        check("amx_tile", false);
        check("amx_int8 amx_tiles", false);
        assert!(!has_amx(""));
    }

    #[test]
    fn a_build_that_drops_the_configuration_of_amx_is_told_how_to_keep_it() {
        let error = unconfigured("LlamaCpp::load");
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("configuration of AMX"));
        let hint = error.hint_text().unwrap();
        assert!(hint.contains("-fno-dse"));
    }

    #[test]
    fn a_processor_without_an_instruction_is_told_what_to_build() {
        let error = refuse("LlamaCpp::load", &[("AVX2", false), ("FMA", true)]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let text = error.to_string();
        assert!(
            text.contains("lacks: AVX2") && !text.contains("FMA"),
            "{text}"
        );
        assert!(error.hint_text().unwrap().contains("dynamic-backends"));
        refuse("LlamaCpp::load", &[("AVX2", true)]).unwrap();
        // What runs this test runs llama.cpp.
        require("LlamaCpp::load").unwrap();
    }
}
