//! A job is found at link time, with its declaration.

use jobs::prelude::*;

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(crate = "jobs::serde")]
#[schemars(crate = "jobs::schemars")]
struct Email {
    to: String,
}

/// Sends a message.
#[job(tenant = none)]
async fn send_email(_ctx: &Ctx, input: Email) -> Result<usize, Failure> {
    Ok(input.to.len())
}

#[test]
fn a_job_registers_itself_under_the_name_of_its_fn() {
    let registry = Registry::linked().expect("no name twice");
    let job = registry.get("send_email").expect("registered");
    assert_eq!(job.spec.doc, "Sends a message.");
    assert!(job.spec.place.file.ends_with("declares.rs"));
    assert!((job.input_schema)().is_some());
}
