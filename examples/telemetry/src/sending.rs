//! From `tracing` to a collector: the layer of `tracing-opentelemetry`, a queue on a thread of its own, and an exporter that
//! counts what the collector took.

use std::{
    error::Error,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use opentelemetry::{Context, trace::TracerProvider};
use opentelemetry_otlp::SpanExporter as Otlp;
use opentelemetry_sdk::{
    Resource,
    error::{OTelSdkError, OTelSdkResult},
    trace::{
        BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanExporter,
        SpanProcessor,
    },
};
use tokio::runtime::Handle;
use tracing::{Metadata, level_filters::LevelFilter};
use tracing_subscriber::{Layer, filter::filter_fn, fmt, prelude::*, registry};

use crate::settings::Settings;

/// The longest that the end waits for the collector.
const LAST_WAIT: Duration = Duration::from_secs(30);
/// A queue that is full drops spans.
const QUEUE: usize = 65_536;
/// Attributes of events that the layer adds and the conventions do not have.
const OF_THE_LAYER: [&str; 2] = ["level", "target"];

/// Spans on their way to a collector, from [`Sending::start`] to [`Sending::finish`].
#[derive(Debug)]
pub(crate) struct Sending {
    provider: SdkTracerProvider,
    counts: Arc<Counts>,
    endpoint: String,
}

/// Spans that ended, and spans that the collector took.
#[derive(Debug, Default)]
struct Counts {
    ended: AtomicUsize,
    sent: AtomicUsize,
    fault: Mutex<Option<String>>,
}

impl Sending {
    /// Asks the collector whether it takes spans, and sets the subscriber of this process.
    pub(crate) fn start(settings: &Settings, runtime: &Handle) -> Result<Self, Box<dyn Error>> {
        let (counts, endpoint) = (Arc::<Counts>::default(), settings.endpoint.clone());
        let otlp = Otlp::builder().with_http().build()?;
        // No spans: whether one is there is known before there is work to lose.
        if let Err(fault) = runtime.block_on(otlp.export(Vec::new())) {
            return Err(unreachable(&endpoint, &fault.to_string()).into());
        }
        let exporter = Exporter {
            otlp: Arc::new(otlp),
            runtime: runtime.clone(),
            counts: Arc::clone(&counts),
        };
        let queue = BatchConfigBuilder::default().with_max_queue_size(QUEUE);
        let batches = BatchSpanProcessor::builder(exporter).with_batch_config(queue.build());
        let processor = Counting {
            batches: batches.build(),
            counts: Arc::clone(&counts),
        };
        let service = Resource::builder().with_service_name(settings.service.clone());
        let provider = SdkTracerProvider::builder()
            .with_resource(service.build())
            .with_span_processor(processor)
            .build();
        // What the conventions have no name for stays out of the spans.
        let spans = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("journeyman"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_filter(filter_fn(is_telemetry));
        let warnings = fmt::layer()
            .with_writer(io::stderr)
            .with_ansi(false)
            .with_filter(LevelFilter::WARN);
        tracing::subscriber::set_global_default(registry().with(spans).with(warnings))?;
        Ok(Self {
            provider,
            counts,
            endpoint,
        })
    }

    /// Sends what is left; how many spans the collector took, which is all that ended.
    pub(crate) fn finish(self) -> Result<usize, String> {
        let ended = self.provider.shutdown_with_timeout(LAST_WAIT);
        let counts = &self.counts;
        let (all, sent) = (
            counts.ended.load(Ordering::Acquire),
            counts.sent.load(Ordering::Acquire),
        );
        let fault = counts.fault.lock().unwrap_or_else(PoisonError::into_inner);
        let fault = fault.clone().or(ended.err().map(|error| error.to_string()));
        match fault {
            None if all == sent => Ok(sent),
            fault => {
                let fault = fault.unwrap_or_else(|| "spans were dropped".to_owned());
                let fault = unreachable(&self.endpoint, &fault);
                Err(format!("{sent} of {all} spans were sent; {fault}"))
            }
        }
    }
}

fn unreachable(endpoint: &str, fault: &str) -> String {
    format!(
        "no collector takes spans at {endpoint} ({fault}): start one, or name it in OTEL_EXPORTER_OTLP_ENDPOINT"
    )
}

/// The SDK's spans, and its events by the conventions; warnings are events too, with texts for names.
fn is_telemetry(metadata: &Metadata<'_>) -> bool {
    let named = ["gen_ai.", "journeyman."].map(|prefix| metadata.name().starts_with(prefix));
    metadata.target().starts_with("journeyman") && (metadata.is_span() || named.contains(&true))
}

/// Counts what goes into the queue.
#[derive(Debug)]
struct Counting {
    batches: BatchSpanProcessor,
    counts: Arc<Counts>,
}

impl SpanProcessor for Counting {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.batches.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if span.span_context.is_sampled() {
            self.counts.ended.fetch_add(1, Ordering::AcqRel);
        }
        self.batches.on_end(span);
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

/// The exporter of OTLP, within the runtime that its HTTP client needs: the queue's thread is in none.
#[derive(Debug)]
struct Exporter {
    otlp: Arc<Otlp>,
    runtime: Handle,
    counts: Arc<Counts>,
}

impl SpanExporter for Exporter {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for event in batch.iter_mut().flat_map(|span| &mut span.events.events) {
            let by_name = |name: &str| !OF_THE_LAYER.contains(&name);
            event
                .attributes
                .retain(|attribute| by_name(attribute.key.as_str()));
        }
        let (otlp, spans) = (Arc::clone(&self.otlp), batch.len());
        let sent = self.runtime.spawn(async move { otlp.export(batch).await });
        let sent = sent.await.unwrap_or_else(|error| {
            let error = format!("the export ended early: {error}");
            Err(OTelSdkError::InternalFailure(error))
        });
        match &sent {
            Ok(()) => {
                self.counts.sent.fetch_add(spans, Ordering::AcqRel);
            }
            Err(error) => {
                let fault = &self.counts.fault;
                let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                fault.get_or_insert_with(|| error.to_string());
            }
        }
        sent
    }

    fn set_resource(&mut self, resource: &Resource) {
        if let Some(otlp) = Arc::get_mut(&mut self.otlp) {
            otlp.set_resource(resource);
        }
    }
}
