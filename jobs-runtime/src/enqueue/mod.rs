//! Builds the one normalised record of every enqueue and hands it to the driver.
//! Upstream: `registry`. Downstream: `driver`.

use crate::{
    driver::{NewJob, Overrides, Start},
    error::Error,
    id::JobId,
    job::Job,
    payload,
};

/// The record of a job with the declaration's defaults.
pub(crate) fn record<J: Job>(input: &J::Input) -> Result<NewJob, Error> {
    let spec = const { J::SPEC };
    Ok(NewJob {
        id: JobId::new(),
        kind: spec.name.to_owned(),
        version: spec.version,
        queue: spec.queue.to_owned(),
        tenant: J::tenant(input),
        priority: spec.priority,
        start: Start::Now,
        payload: payload::encode(spec.name, input)?,
        unique: None,
        overrides: Overrides::default(),
        expires_after: spec.expires_after,
        metadata: None,
        trace: None,
        enqueued_by: None,
    })
}
