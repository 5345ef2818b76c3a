//! The rules of [`Retriever`].

use std::sync::Arc;

use futures::executor::block_on;
use journeyman::{Result, contract::Retriever, testing::conformance};
use journeyman_tantivy::{Bm25Retriever, Config};

#[test]
fn retriever() -> Result<()> {
    let fresh = async || {
        let retriever = Bm25Retriever::new(Config::default())?;
        Ok(Arc::new(retriever) as Arc<dyn Retriever>)
    };
    let report = block_on(conformance::retriever::check(fresh)).into_result()?;
    assert_eq!(report.skipped().count(), 0, "{report}");
    Ok(())
}
