//! A crate of jobs, two modules of them.

pub mod invoices;

use jobs::prelude::*;

#[job(tenant = none)]
pub async fn send_email(_ctx: &Ctx) -> Result<(), Failure> {
    Ok(())
}
