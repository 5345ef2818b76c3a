//! The conformance suites that ran through the adapters, and the support matrix of `docs/reference/support.md`.

use std::{collections::BTreeMap, fmt::Write, fs, process::Command};

use super::external;
use crate::{
    figures::{Bound, Figures, Outcome},
    source::repository,
};

/// A suite of one contract through one adapter: the adapter, the contract, and the test that runs it.
struct Suite {
    adapter: &'static str,
    contract: &'static str,
    test: &'static str,
    /// The variable that the test needs.
    needs: Option<&'static str>,
}

const fn suite(adapter: &'static str, contract: &'static str, test: &'static str) -> Suite {
    Suite {
        adapter,
        contract,
        test,
        needs: None,
    }
}

const fn with(mut suite: Suite, needs: &'static str) -> Suite {
    suite.needs = Some(needs);
    suite
}

/// Every one that there is: a line here for each contract that an adapter implements.
const SUITES: [Suite; 16] = [
    suite("disk", "SkillStore", "skill_store"),
    suite("disk", "SkillFiles", "skill_files"),
    suite("disk", "Journal", "journal"),
    with(
        suite("fastembed", "Embedder", "it_embeds"),
        "ORT_DYLIB_PATH",
    ),
    suite("llama-cpp", "LanguageModel", "it_writes"),
    suite("llama-cpp", "Scorer", "it_scores"),
    suite("llama-cpp", "Tokenizer", "it_counts"),
    suite("llama-cpp", "Embedder", "it_embeds"),
    suite("mcp", "Environment", "environment_of_a_child"),
    suite("mcp", "Judge", "judge_of_expectations"),
    suite("openai", "LanguageModel", "it_writes"),
    suite("openai", "Scorer", "it_scores"),
    suite("openai", "Embedder", "it_embeds"),
    suite("process", "Environment", "environment"),
    suite("process", "Executor", "executor"),
    suite("tantivy", "Retriever", "retriever"),
];

pub(super) fn run(figures: &mut Figures<'_>) -> Outcome {
    // One build of the whole workspace: packages built alone have other features each, and the SDK is built anew for them.
    figures.progress(format_args!("conformance suites"));
    let mut command = Command::new("cargo");
    command.args([
        "nextest",
        "run",
        "--workspace",
        "--no-fail-fast",
        "--color",
        "never",
    ]);
    // Suites that need something beside Rust are ignored by default; where it is not set up, they are not in the matrix.
    command.args(["--run-ignored", "all"]);
    command.args(["--status-level", "all", "-E", "test(/^conformance::/)"]);
    let ended = external::run(command)?;
    let results = results(&ended.err);
    if results.is_empty() {
        return Err(format!("cargo-nextest ran no suite: {}", ended.err).into());
    }
    let mut matrix = BTreeMap::<(&str, &str), &str>::new();
    let (mut ran, mut failed) = (0, 0);
    for suite in &SUITES {
        let is_set_up = suite
            .needs
            .is_none_or(|needs| external::set_up(needs).is_some());
        let test = format!(
            "journeyman-{}::it conformance::{}",
            suite.adapter, suite.test
        );
        let result = match results.get(&test) {
            _ if !is_set_up => "not run",
            Some(true) => "passed",
            Some(false) => "FAILED",
            None => "not run",
        };
        ran += usize::from(result != "not run");
        failed += usize::from(result == "FAILED");
        matrix.insert((suite.contract, suite.adapter), result);
    }
    figures.record(
        "conformance suites: there are",
        SUITES.len() as f64,
        Bound::None,
    );
    figures.record(
        "conformance suites that ran through the adapters",
        ran as f64,
        Bound::AtLeast(10.0),
    );
    figures.record(
        "conformance suites that did not run",
        (SUITES.len() - ran) as f64,
        Bound::AtMost(0.0),
    );
    figures.record(
        "conformance suites with a failed check",
        failed as f64,
        Bound::AtMost(0.0),
    );
    if std::env::var_os("JOURNEYMAN_WRITE").is_some() {
        fs::write(
            repository().join("docs/reference/support.md"),
            page(&matrix)?,
        )?;
    }
    Ok(())
}

/// Whether each test passed, by `PACKAGE::BINARY TEST`: of lines such as
/// `PASS [ 0.1s] (1/9) journeyman-disk::it conformance::journal`.
fn results(said: &str) -> BTreeMap<String, bool> {
    let lines = said.lines().filter_map(|line| {
        let (result, rest) = line.trim().split_once(" [")?;
        let (_, rest) = rest.split_once("] ")?;
        let test = rest.trim_start();
        let test = match test.starts_with('(') {
            true => test.split_once(") ")?.1,
            false => test,
        };
        let passed = match result {
            // A process that the test left behind is told apart, and the test passed.
            "PASS" | "LEAK" => true,
            "FAIL" | "TIMEOUT" | "ABORT" => false,
            _ if result.starts_with("SIG") => false,
            _ => return None,
        };
        Some((test.trim().to_owned(), passed))
    });
    lines.collect()
}

/// The page of the matrix.
fn page(matrix: &BTreeMap<(&str, &str), &str>) -> Result<String, std::fmt::Error> {
    let mut adapters: Vec<&str> = matrix.keys().map(|(_, adapter)| *adapter).collect();
    adapters.sort_unstable();
    adapters.dedup();
    let mut contracts: Vec<&str> = matrix.keys().map(|(contract, _)| *contract).collect();
    contracts.dedup();
    let mut page = String::from(
        "# Which adapter implements which contract\n\n\
         Each cell is the result of the contract's whole conformance suite through the adapter. The page is written by\n\
         `JOURNEYMAN_WRITE=1 bash tests/figures.sh adapters`, from what ran. The suites are in the SDK's module `testing::conformance`; an\n\
         adapter of your own is checked by the same call. The suites of `openai` run against a server that the tests play, with a\n\
         toy model behind it; [model servers](servers.md) has what ran against real ones.\n\n",
    );
    writeln!(page, "| contract | {} |", adapters.join(" | "))?;
    writeln!(page, "| --- |{}", " --- |".repeat(adapters.len()))?;
    for contract in contracts {
        let cells = adapters
            .iter()
            .map(|adapter| matrix.get(&(contract, *adapter)).copied().unwrap_or(""));
        writeln!(
            page,
            "| `{contract}` | {} |",
            cells.collect::<Vec<_>>().join(" | ")
        )?;
    }
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_by_package_and_test() {
        let said = "    Starting 2 tests\n        PASS [   0.1s] ( 1/12) journeyman-disk::it conformance::journal\n\
                    FAIL [   2.0s] journeyman-mcp::it conformance::environment_of_a_child\n\
                    LEAK [   2.0s] journeyman-process::it conformance::executor\n\
                    TIMEOUT [  60.0s] journeyman-openai::it conformance::it_writes\n   Summary [ 1s] 4 tests run\n";
        let results = results(said);
        assert!(results["journeyman-disk::it conformance::journal"]);
        assert!(!results["journeyman-mcp::it conformance::environment_of_a_child"]);
        assert!(results["journeyman-process::it conformance::executor"]);
        assert!(!results["journeyman-openai::it conformance::it_writes"]);
        assert_eq!(results.len(), 4);
    }
}
