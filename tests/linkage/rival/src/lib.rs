//! Another crate with a job of a name that `plugin` has.

use jobs::prelude::*;

#[job(tenant = none, name = "send_email")]
pub async fn send_letter(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}
