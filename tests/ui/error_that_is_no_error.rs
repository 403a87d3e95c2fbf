use jobs::JobError;

#[derive(Debug, JobError)]
struct ChargeError;

fn main() {}
