//! The environment variables of OpenTelemetry that the program reads itself; `opentelemetry-otlp` and the SDK read the rest.

const CONTENT: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";

/// Where spans go, and whether texts are in them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// The address that spans are posted to.
    pub(crate) endpoint: String,
    /// The name of the service in the resource.
    pub(crate) service: String,
    /// Whether spans have the texts of prompts, answers and tools.
    pub(crate) texts: bool,
}

impl Settings {
    /// Reads the variables by `variable`. An empty one counts as not set.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let base = || {
            let base = set("OTEL_EXPORTER_OTLP_ENDPOINT");
            let base = base.unwrap_or_else(|| "http://localhost:4318".to_owned());
            format!("{}/v1/traces", base.trim().trim_end_matches('/'))
        };
        let endpoint = set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").unwrap_or_else(base);
        if !endpoint.trim().starts_with("http://") {
            return Err(format!(
                "spans cannot be sent to {endpoint}: this example speaks plain http only; name a collector on this machine as \
                 http://HOST:PORT in OTEL_EXPORTER_OTLP_ENDPOINT"
            ));
        }
        Ok(Self {
            endpoint: endpoint.trim().to_owned(),
            service: set("OTEL_SERVICE_NAME").unwrap_or_else(|| "ticket-desk".to_owned()),
            texts: set(CONTENT).map_or(Ok(false), |value| texts(value.trim()))?,
        })
    }
}

/// OpenTelemetry's instrumentations of Python take a boolean, and later one of four words; both are read here.
fn texts(value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "true" | "1" | "span_only" | "span_and_event" => Ok(true),
        "false" | "0" | "no_content" | "event_only" => Ok(false),
        _ => Err(format!(
            "{CONTENT} is {value:?}: give true, false, span_only, event_only, span_and_event or no_content"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(variables: &[(&str, &str)], expect: Result<(&str, &str, bool), &str>) {
        let found = Settings::read(|name| {
            let mut found = variables.iter().filter(|(variable, _)| *variable == name);
            found.next().map(|(_, value)| (*value).to_owned())
        });
        match expect {
            Ok((endpoint, service, texts)) => {
                let (endpoint, service) = (endpoint.to_owned(), service.to_owned());
                let due = Settings {
                    endpoint,
                    service,
                    texts,
                };
                assert_eq!(found, Ok(due), "{variables:?}");
            }
            Err(part) => assert!(
                found.as_ref().is_err_and(|fault| fault.contains(part)),
                "{variables:?}: {found:?}"
            ),
        }
    }

    #[test]
    fn the_standard_variables_are_read() {
        const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        let default = "http://localhost:4318/v1/traces";
        check(&[], Ok((default, "ticket-desk", false)));
        check(&[(BASE, "")], Ok((default, "ticket-desk", false)));
        let named = [(BASE, "http://a:1/"), ("OTEL_SERVICE_NAME", "shop")];
        check(&named, Ok(("http://a:1/v1/traces", "shop", false)));
        let both = [(BASE, "http://a:1"), (TRACES, "http://b:2/in")];
        check(&both, Ok(("http://b:2/in", "ticket-desk", false)));
        check(&[(BASE, "https://a:1")], Err("plain http only"));
    }

    #[test]
    fn texts_are_off_unless_asked_for() {
        let default = "http://localhost:4318/v1/traces";
        for (value, texts) in [
            ("true", true),
            ("SPAN_ONLY", true),
            ("span_and_event", true),
            ("1", true),
            ("false", false),
            ("0", false),
            ("NO_CONTENT", false),
            ("event_only", false),
            ("", false),
        ] {
            check(&[(CONTENT, value)], Ok((default, "ticket-desk", texts)));
        }
        check(&[(CONTENT, "perhaps")], Err("\"perhaps\": give true"));
    }
}
