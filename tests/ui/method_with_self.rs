use jobs::prelude::*;

struct Mailer;

impl Mailer {
    #[job(tenant = none)]
    async fn send(&self, _ctx: &Ctx) -> Result<(), Failure> {
        Ok(())
    }
}

fn main() {}
