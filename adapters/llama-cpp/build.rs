//! Says whether llama.cpp is compiled for the usual instructions of x86-64 (AVX2 and what comes with it): nothing else was chosen.
//! And whether it is compiled for AMX, of which Rust tells nothing here, and by a compiler that drops AMX's configuration.

#[path = "src/instructions/amx.rs"]
mod amx;

use std::{env, path::Path, process::Command};

/// Values of `target-cpu` for which C compilers use AMX.
const AMX: [&str; 6] = [
    "native",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "graniterapids-d",
    "diamondrapids",
];

/// The compiler of C++ that builds llama.cpp, with its flags. `llama-cpp-sys-2` gives CMake each variable whose name begins with
/// `CMAKE_`; for what they leave open the crate `cmake` asks `cc`, which reads `CXX` and `CXXFLAGS`, and before those the same
/// for the target. Of `cc` only the compiler and its flags are taken, without a level of optimization, which is CMake's. A
/// toolchain file is not read. `None` where no compiler is known.
fn compiler() -> Option<Command> {
    let mut choice = cc::Build::new();
    choice.cpp(true).opt_level(0).debug(false).warnings(false);
    // A compiler that does not answer is for llama.cpp's own build to report.
    choice.cargo_warnings(false);
    if let Some(named) = env::var_os("CMAKE_CXX_COMPILER") {
        choice.compiler(named);
    }
    let tool = choice.try_get_compiler().ok()?;
    let mut command = Command::new(tool.path());
    let mut flags = tool.args().to_vec();
    flags.retain(|flag| !flag.to_string_lossy().starts_with("-O"));
    match env::var("CMAKE_CXX_FLAGS") {
        Ok(named) => command.args(named.split_whitespace()),
        Err(_) => command.args(flags),
    };
    Some(command)
}

/// Whether the compiler of C++ drops what it should store of a configuration of AMX. `false` where it cannot be asked.
fn drops_configuration() -> bool {
    let (Some(out), Some(command)) = (env::var_os("OUT_DIR"), compiler()) else {
        return false;
    };
    amx::stores_configuration(command, Path::new(&out)).is_ok_and(|stores| !stores)
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/instructions/amx.rs");
    // `cc` names those that it reads.
    let names = [
        "CMAKE_CXX_COMPILER",
        "CMAKE_CXX_FLAGS",
        "JOURNEYMAN_AMX_KEPT",
        "GGML_NATIVE",
        "GGML_AVX2",
        "GGML_AMX_INT8",
        "SOURCE_DATE_EPOCH",
    ];
    for name in names {
        println!("cargo:rerun-if-env-changed={name}");
    }
    println!("cargo:rustc-check-cfg=cfg(usual_instructions)");
    println!("cargo:rustc-check-cfg=cfg(amx)");
    println!("cargo:rustc-check-cfg=cfg(amx_dropped)");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let processor = flags
        .split('\x1f')
        .find_map(|flag| flag.split("target-cpu=").nth(1));
    let by_name = processor.is_some_and(|name| AMX.contains(&name));
    let has_amx = by_name || env::var("GGML_AMX_INT8").is_ok_and(|value| value == "ON");
    if has_amx {
        println!("cargo:rustc-cfg=amx");
    }
    let target = env::var("TARGET").unwrap_or_default();
    if (has_amx || env::var_os("CARGO_FEATURE_DYNAMIC_BACKENDS").is_some())
        && target.starts_with("x86_64-unknown-linux-")
        && env::var_os("JOURNEYMAN_AMX_KEPT").is_none()
        && drops_configuration()
    {
        println!("cargo:rustc-cfg=amx_dropped");
    }
    let by_variable = env::vars_os().any(|(name, _)| {
        let name = name.to_string_lossy();
        name.starts_with("GGML_") || name == "SOURCE_DATE_EPOCH"
    });
    let crosses = env::var_os("HOST") != env::var_os("TARGET");
    if !flags.contains("target-cpu=") && !by_variable && !crosses {
        println!("cargo:rustc-cfg=usual_instructions");
    }
}
