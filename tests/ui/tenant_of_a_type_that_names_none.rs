use jobs::prelude::*;

#[derive(Serialize, Deserialize)]
struct Scored {
    score: f64,
}

#[job(tenant = input.score)]
async fn send(_ctx: &Ctx, _input: Scored) -> Result<(), Failure> {
    Ok(())
}

fn main() {}
