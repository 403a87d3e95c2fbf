use jobs::JobError;

#[derive(Debug, JobError)]
enum ChargeError {
    #[job_error(retry = after("30"))]
    Declined,
}

impl std::fmt::Display for ChargeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for ChargeError {}

fn main() {}
