//! Prints what a program finds at its start.

use jobs::{Registry, error::Codes};

/// Every job with its place, then the codes that its errors declare, then what it says of a job that it may lack.
pub fn report() {
    match Registry::linked() {
        Ok(registry) => {
            for job in registry.iter() {
                println!("job {} at {}", job.spec.name, job.spec.place);
            }
            for code in Codes::linked().iter().filter(|code| code.name == "X_INVOICE_LOCKED") {
                println!("code {}", code.name);
            }
            if let Err(error) = registry.find("send_email") {
                println!("refused {error}");
            }
        }
        Err(error) => println!("refused {error}"),
    }
}
