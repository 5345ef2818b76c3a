//! Every rule of a contract has its case, and every adapter runs the suites of the contracts that it implements.

use std::collections::BTreeMap;

use journeyman_tests::source::{Sources, blank_tests, mask};

/// The laboratory's world, which is held to its contract as an adapter is.
const WORLD: &str = "tests/lab/toolworld";

/// A trait that has rules.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Contract {
    module: String,
    rules: Vec<String>,
}

/// The traits that have rules, by their names. A rule is a bullet `- *name*: …` below `# Behavior`.
fn contracts(files: &[(&str, String)]) -> BTreeMap<String, Contract> {
    let mut contracts = BTreeMap::new();
    for (path, text) in files {
        let module = path
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .trim_end_matches(".rs");
        let mut rules: Option<Vec<String>> = None;
        for line in text.lines() {
            if line.starts_with("/// # ") {
                rules = line.ends_with("Behavior").then(Vec::new);
            }
            let rule = line
                .strip_prefix("/// - *")
                .and_then(|rest| rest.split_once('*'));
            if let (Some(rules), Some((name, _))) = (&mut rules, rule) {
                rules.push(name.to_owned());
            }
            if let Some(rest) = line.strip_prefix("pub trait ") {
                let name = rest
                    .split(|c: char| !c.is_alphanumeric())
                    .next()
                    .unwrap_or_default();
                if let Some(rules) = rules.take() {
                    let module = module.to_owned();
                    contracts.insert(name.to_owned(), Contract { module, rules });
                }
            }
        }
    }
    contracts
}

#[test]
fn every_rule_has_its_case() {
    let sources = Sources::list().unwrap();
    let contracts = contracts(&sources.rust("sdk/src/contract/").unwrap());
    let rules: usize = contracts
        .values()
        .map(|contract| contract.rules.len())
        .sum();
    assert!(rules >= 30, "only {rules} rules were found");
    let mut faults = Vec::new();
    for (name, contract) in &contracts {
        let suite = sources
            .rust(&format!(
                "sdk/src/testing/conformance/{}.rs",
                contract.module
            ))
            .unwrap();
        let suite = suite.first().map_or("", |(_, text)| text.as_str());
        faults.extend(rule_faults(name, contract, suite));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn rule_faults(name: &str, contract: &Contract, suite: &str) -> Vec<String> {
    let together: String = suite.split_whitespace().collect::<Vec<_>>().join(" ");
    let together = together.replace(".case( ", ".case(");
    contract
        .rules
        .iter()
        .filter(|rule| !together.contains(&format!(".case(\"{rule}\",")))
        .map(|rule| {
            format!(
                "conformance/{}.rs has no case for {name}'s rule *{rule}*",
                contract.module
            )
        })
        .collect()
}

/// An adapter implements a contract, so it runs that contract's suite.
#[test]
fn every_adapter_runs_the_suites_of_its_contracts() {
    let sources = Sources::list().unwrap();
    let contracts = contracts(&sources.rust("sdk/src/contract/").unwrap());
    let manifests = sources.paths.iter();
    let folders = manifests
        .filter_map(|path| path.strip_suffix("/Cargo.toml"))
        .filter(|folder| folder.starts_with("adapters/") || *folder == WORLD);
    let mut faults = Vec::new();
    for folder in folders {
        let code = sources.rust(&format!("{folder}/src/")).unwrap();
        assert!(!code.is_empty(), "{folder} has no sources");
        let tests = sources.rust(&format!("{folder}/tests/")).unwrap();
        let suite = tests
            .into_iter()
            .find(|(path, _)| path.ends_with("/conformance.rs"));
        let suite = suite.map(|(_, text)| text);
        // Nothing outside of a program can see what it implements: its unit tests run the suites.
        let is_program = code.iter().all(|(path, _)| !path.ends_with("/src/lib.rs"));
        let own = || {
            code.iter()
                .map(|(_, text)| text.as_str())
                .collect::<String>()
        };
        let suite = suite.or_else(|| is_program.then(own));
        faults.extend(suite_faults(folder, &code, suite.as_deref(), &contracts));
    }
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

fn suite_faults(
    folder: &str,
    code: &[(&str, String)],
    suite: Option<&str>,
    contracts: &BTreeMap<String, Contract>,
) -> Vec<String> {
    let code: Vec<_> = code
        .iter()
        .map(|(_, text)| blank_tests(&mask(text)).0)
        .collect();
    let implements = |name: &str| {
        let of = format!(" {name} for ");
        let lines = code.iter().flat_map(|text| text.lines());
        lines
            .into_iter()
            .any(|line| line.starts_with("impl") && line.contains(&of))
    };
    let Some(suite) = suite else {
        // A front end implements none.
        return match contracts.keys().any(|name| implements(name)) {
            true => vec![format!("{folder} has no tests/it/conformance.rs")],
            false => Vec::new(),
        };
    };
    let suite = mask(suite);
    contracts
        .iter()
        .filter(|(name, contract)| {
            implements(name) && !suite.contains(&format!("{}::check(", contract.module))
        })
        .map(|(name, contract)| {
            let module = &contract.module;
            format!("{folder} implements {name} and does not run conformance::{module}::check")
        })
        .collect()
}

/// Each rule on a sample that breaks it.
#[test]
fn each_rule_can_fail() {
    let trait_file = "/// A judge.\n///\n/// # Behavior\n/// - *finite*: scores are.\n/// - *any text*: none fails.\n\
        #[async_trait]\npub trait Judge: Send {\n    /// # Errors\n}\npub trait JudgeExt: Judge {}\n";
    let contracts = contracts(&[("sdk/src/contract/judge.rs", trait_file.to_owned())]);
    let judge = Contract {
        module: "judge".into(),
        rules: vec!["finite".into(), "any text".into()],
    };
    assert_eq!(
        contracts,
        BTreeMap::from([("Judge".to_owned(), judge.clone())])
    );
    assert_eq!(
        rule_faults("Judge", &judge, "report.case(\n    \"finite\", x);"),
        ["conformance/judge.rs has no case for Judge's rule *any text*"]
    );

    let code = [("a", "impl<T> Judge for Mine<T> {".to_owned())];
    let check = |suite: Option<&str>, expect: &[&str]| {
        assert_eq!(suite_faults("adapters/a", &code, suite, &contracts), expect);
    };
    check(None, &["adapters/a has no tests/it/conformance.rs"]);
    check(
        Some("// conformance::judge::check()"),
        &["adapters/a implements Judge and does not run conformance::judge::check"],
    );
    check(Some("block_on(conformance::judge::check(&mine))"), &[]);
    let front_end = [("a", "fn main() {}".to_owned())];
    assert!(suite_faults("adapters/a", &front_end, None, &contracts).is_empty());
}
