use jobs::JobError;

#[derive(Debug, JobError)]
struct ChargeError<T>(T);

fn main() {}
