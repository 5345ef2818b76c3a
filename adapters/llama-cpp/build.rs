//! Says whether llama.cpp is compiled for the usual instructions of x86-64 (AVX2 and what comes with it): nothing else was chosen.
//! And whether it is compiled for AMX, of which Rust tells nothing here, and by a compiler that drops AMX's configuration.

use std::{env, fs, path::Path, process::Command};

/// Values of `target-cpu` for which C compilers use AMX.
const AMX: [&str; 6] = [
    "native",
    "sapphirerapids",
    "emeraldrapids",
    "graniterapids",
    "graniterapids-d",
    "diamondrapids",
];

/// A configuration of AMX as ggml writes it. Some versions of GCC take only its first 8 bytes for used and store no others, so
/// that the argument does not occur in what they make of it.
const CONFIGURES: &str = r#"
#include <immintrin.h>
extern "C" void configure(unsigned char rows) {
    alignas(64) unsigned char config[64] = {1};
    config[48] = rows;
    _tile_loadconfig(config);
}
"#;

/// Whether the compiler of C++ drops what it should store of a configuration of AMX. `false` where it cannot be asked.
fn drops_configuration() -> bool {
    let Some(out) = env::var_os("OUT_DIR") else {
        return false;
    };
    let file = Path::new(&out).join("configures.cpp");
    if fs::write(&file, CONFIGURES).is_err() {
        return false;
    }
    let compiler = env::var("CXX").unwrap_or_else(|_| "c++".to_owned());
    let flags = env::var("CXXFLAGS").unwrap_or_default();
    let mut command = Command::new(compiler);
    command.args(["-O3", "-mamx-tile", "-S", "-o", "-"]);
    command.args(flags.split_whitespace()).arg(&file);
    let Ok(output) = command.output() else {
        return false;
    };
    let assembly = String::from_utf8_lossy(&output.stdout);
    // The argument comes in this register, and has to be read to be stored.
    output.status.success()
        && assembly.contains("ldtilecfg")
        && !assembly.contains("%dil")
        && !assembly.contains("%edi")
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let names = [
        "CXX",
        "CXXFLAGS",
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
    let target = env::var("TARGET").unwrap_or_default();
    if target.starts_with("x86_64-unknown-linux-")
        && env::var_os("JOURNEYMAN_AMX_KEPT").is_none()
        && drops_configuration()
    {
        println!("cargo:rustc-cfg=amx_dropped");
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let processor = flags
        .split('\x1f')
        .find_map(|flag| flag.split("target-cpu=").nth(1));
    let by_name = processor.is_some_and(|name| AMX.contains(&name));
    if by_name || env::var("GGML_AMX_INT8").is_ok_and(|value| value == "ON") {
        println!("cargo:rustc-cfg=amx");
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
