//! What `#[job]` accepts, and what it makes of it.

mod macros {
    mod declares;
    mod hygiene;
    mod job_error;
    mod lints;
}
