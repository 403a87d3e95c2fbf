use jobs::JobError;

#[derive(Debug, JobError)]
#[job_error(retry = terminal)]
enum ChargeError {
    Declined,
}

impl std::fmt::Display for ChargeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for ChargeError {}

fn main() {}
