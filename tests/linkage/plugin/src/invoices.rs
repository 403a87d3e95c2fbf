use jobs::{JobError, prelude::*};

#[derive(Debug, JobError)]
#[job_error(code = "X_INVOICE_LOCKED", title = "the invoice is locked", retry = terminal)]
pub struct Locked;

impl std::fmt::Display for Locked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("locked")
    }
}

impl std::error::Error for Locked {}

#[job(tenant = none)]
pub async fn print_invoice(_ctx: &Ctx) -> Result<(), Locked> {
    Err(Locked)
}
