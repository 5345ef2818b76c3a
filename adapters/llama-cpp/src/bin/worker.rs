//! The worker process of an isolated model; [`journeyman_llama_cpp::IsolatedLlama`] starts it.

use std::process::ExitCode;

fn main() -> ExitCode {
    journeyman_llama_cpp::run_worker()
}
