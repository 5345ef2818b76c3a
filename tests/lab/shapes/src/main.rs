//! Writes a model of a named shape and prints its path.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::{path::PathBuf, process::ExitCode};

use clap::{Parser, builder::PossibleValuesParser};
use journeyman::{Result, Seed};
use shapes::{Quantization, Shape};

/// Writes a GGUF of a real shape with random weights, unless it is there already, and prints its path.
#[derive(Debug, Parser)]
#[command(name = "shapes")]
struct Arguments {
    /// The shape.
    #[arg(value_parser = PossibleValuesParser::new(Shape::ALL.map(|shape| shape.name)))]
    shape: String,
    /// How its matrices are stored.
    #[arg(value_parser = PossibleValuesParser::new(Quantization::ALL.map(Quantization::name)))]
    quantization: String,
    /// What the weights follow from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder of the file.
    #[arg(long, default_value = "out/shapes")]
    out: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(path) => {
            println!("{}", path.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<PathBuf> {
    let shape = Shape::named(&arguments.shape)?;
    let quantization = Quantization::named(&arguments.quantization)?;
    shapes::cached(&arguments.out, shape, quantization, Seed(arguments.seed))
}
