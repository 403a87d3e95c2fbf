//! What `#[job]` accepts, and what it makes of it.

mod macros {
    mod declares;
    mod hygiene;
    mod job_error;
    mod lints;
    mod runs;
}

/// Each mistake of `tests/ui` gets the message beside it. `TRYBUILD=overwrite` writes the messages anew: read them.
#[test]
fn every_mistake_gets_its_message_at_its_token() {
    trybuild::TestCases::new().compile_fail("../tests/ui/*.rs");
}
