use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> impl Send {}

fn main() {}
