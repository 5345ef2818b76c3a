//! `bash tests/figures.sh` calls this.

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use journeyman_tests::{
    figures::{Wanted, groups, run},
    host::child as killed,
    second_hour::child as beside,
    source::repository_is_at,
};

fn main() -> ExitCode {
    if let Some(root) = env::var_os("JOURNEYMAN_ROOT") {
        repository_is_at(root.into());
    }
    let mut arguments = env::args().skip(1);
    let child = match arguments.next().as_deref() {
        Some(killed::ARGUMENT) => Some(killed::run(arguments)),
        Some(beside::ARGUMENT) => Some(beside::run(arguments)),
        _ => None,
    };
    match child {
        Some(Ok(())) => return ExitCode::SUCCESS,
        Some(Err(error)) => {
            let _ = writeln!(io::stderr(), "{error}");
            return ExitCode::FAILURE;
        }
        None => {}
    }
    let wanted = Wanted::parse(env::args().skip(1), env::var("JOURNEYMAN_OUT").ok());
    run(groups(), wanted, &mut io::stdout(), &mut io::stderr()).into()
}
