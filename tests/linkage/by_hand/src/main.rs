//! Registers its jobs by hand, in a build without the feature `inventory`, and knows the `jobs` crate by another name.

use work::{Ctx, Failure, JobError, Registry, serde};

#[derive(Debug, serde::Serialize, serde::Deserialize)]
#[serde(crate = "work::serde")]
struct Page {
    number: u32,
}

#[derive(Debug, JobError)]
#[job_error(crate = ::work, retry = terminal, code = "X_PAGE_LOST", title = "the page is lost")]
struct Lost;

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("lost")
    }
}

impl std::error::Error for Lost {}

#[work::job(crate = ::work, tenant = input.number)]
async fn print_page(_ctx: &Ctx, input: Page) -> Result<u32, Lost> {
    Ok(input.number)
}

#[work::job(crate = ::work, tenant = none)]
async fn drop_page(_ctx: &Ctx) -> Result<(), Failure> {
    Err(Failure::terminal("dropped"))
}

fn main() {
    let registry = Registry::builder().job::<plugin::send_email>().job::<print_page>().job::<drop_page>().build();
    match registry {
        Ok(registry) => registry.iter().for_each(|job| println!("job {} at {}", job.spec.name, job.spec.place)),
        Err(error) => println!("refused {error}"),
    }
}
