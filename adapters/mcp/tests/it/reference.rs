//! An official reference server, driven as an environment: `mcp-server-time` (PyPI).

use std::env;

use futures::executor::block_on;
use journeyman::{
    Seed,
    contract::Environment,
    domain::{Action, Task},
    testing::conformance::{self, environment::EnvironmentFixture},
};
use journeyman_mcp::{ApprovedTools, McpConfig, McpEnvironment, McpServer, list_tools};
use journeyman_process::ProcessConfig;
use serde_json::json;

use crate::support::judge;

#[test]
#[ignore = "set JOURNEYMAN_MCP_PYTHON to a Python that has the package mcp-server-time"]
fn the_reference_server_of_time() {
    let python = env::var("JOURNEYMAN_MCP_PYTHON").unwrap();
    let child = ProcessConfig::new(python).with_arguments([
        "-m",
        "mcp_server_time",
        "--local-timezone",
        "UTC",
    ]);
    let mut config = McpConfig::new("time", McpServer::Process(child));
    // True of conversions between zones without summer time, and of nothing else that it does.
    config.deterministic = true;
    block_on(async {
        let listed = list_tools(&config).await.unwrap().tools;
        let names: Vec<_> = listed
            .iter()
            .map(|tool| tool.definition.name.as_str())
            .collect();
        assert_eq!(names, ["get_current_time", "convert_time"]);
        let again = list_tools(&config).await.unwrap().tools;
        assert_eq!(listed, again, "the same definitions have the same hashes");

        let approved = ApprovedTools::all(&listed);
        let time = McpEnvironment::new(config, approved, judge())
            .await
            .unwrap();
        let task = Task::new("tokyo", "What time is it in Tokyo when it is 12:00 UTC?");
        let convert = |to: &str| {
            let arguments =
                json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": to});
            Action::call("convert_time", arguments)
        };
        let mut episode = time.reset(&task, Seed(7)).await.unwrap();
        let converted = episode.step(&convert("Asia/Tokyo")).await.unwrap();
        assert!(
            !converted.is_error && converted.observation.text.contains("T21:00:00+09:00"),
            "{converted:?}"
        );
        let refused = episode.step(&convert("Asia/Nowhere")).await.unwrap();
        assert!(refused.is_error, "{refused:?}");
        episode.close().await.unwrap();

        let done = Action::Message("done".to_owned());
        let fixture = EnvironmentFixture::new(
            task,
            Seed(7),
            vec![convert("Asia/Tokyo"), convert("Asia/Kolkata"), done.clone()],
        )
        .with_other((
            Task::new("lima", "And in Lima?"),
            Seed(8),
            vec![convert("America/Lima"), done],
        ))
        .with_refused(convert("Asia/Nowhere"))
        .with_unknown(Task::new("none", ""));
        let report = conformance::environment::check(&time, &fixture).await;
        let report = report.into_result().unwrap();
        assert_eq!(report.skipped().count(), 0, "{report}");
    });
}
