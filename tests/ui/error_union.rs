use jobs::JobError;

#[derive(JobError)]
union ChargeError {
    a: u8,
}

fn main() {}
