//! Reads what is recorded of a run before its body begins.

use crate::{client::Jobs, driver::StepRecord, error::Error, id::JobId};
use std::time::Duration;

/// How often the store is asked before the run goes back.
const TRIES: u32 = 4;

/// The records of a run.
///
/// # Errors
/// The store did not answer, or what it answered could not be read.
pub(super) async fn steps(jobs: &Jobs, job: JobId) -> Result<Vec<StepRecord>, Error> {
    let mut tries = 0;
    loop {
        match jobs.driver().steps(job).await {
            Err(error) if error.is_unavailable() && tries < TRIES => {
                tokio::time::sleep(Duration::from_millis(50 << tries)).await;
                tries += 1;
            }
            answer => return answer,
        }
    }
}
