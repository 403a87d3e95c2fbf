use jobs::prelude::*;

#[job(tenant = none)]
async fn send(_ctx: &Ctx) -> Option<u32> {
    None
}

fn main() {}
