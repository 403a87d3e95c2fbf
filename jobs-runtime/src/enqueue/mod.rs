//! Builds the one normalised record of every enqueue and hands it to the driver.
//! Upstream: `registry`. Downstream: `driver`.

pub(crate) mod check;
mod many;
mod metadata;
mod one;
mod refine;
mod submit;
pub(crate) mod unique;

pub use many::EnqueueMany;
pub use one::Enqueue;

use crate::{
    driver::{NewJob, Overrides, Start},
    error::Error,
    id::JobId,
    job::{Job, UniqueKey},
    json::JsonText,
    payload,
    spec::JobSpec,
};

/// The most jobs that one call may enqueue.
pub const MAX_BATCH: usize = 100_000;

/// The record of a job with the declaration's defaults: the tenant resolved, the payload encoded, the key hashed.
pub(crate) fn record<J: Job>(input: &J::Input) -> Result<NewJob, Error> {
    let spec = const { &J::SPEC };
    assemble(spec, payload::encode(spec.name, input)?, J::tenant(input), J::unique_key(input)?)
}

fn assemble(
    spec: &JobSpec,
    payload: JsonText,
    tenant: Option<String>,
    key: Option<UniqueKey>,
) -> Result<NewJob, Error> {
    if let Some(tenant) = &tenant {
        check::tenant(spec.name, tenant)?;
    }
    let unique = unique::declared(spec, tenant.as_deref(), key, &payload)?;
    Ok(NewJob {
        parent: None,
        id: JobId::new(),
        kind: spec.name.to_owned(),
        version: spec.version,
        queue: spec.queue.to_owned(),
        tenant,
        priority: spec.priority,
        start: Start::Now,
        payload,
        unique,
        overrides: Overrides::default(),
        expires_after: spec.expires_after,
        metadata: None,
        trace: None,
        enqueued_by: None,
    })
}
