//! What `#[job]` accepts, and what it makes of it.

mod macros {
    mod bodies;
    mod declares;
    mod hygiene;
    mod job_error;
    mod lints;
    mod runs;
    mod steps;
}

/// Each mistake of `tests/ui` gets the message beside it. `TRYBUILD=overwrite` writes the messages anew: read them.
///
/// Parts of a message are the compiler's and change with it, so they are compared on the version that the workspace
/// names as its oldest.
#[test]
fn every_mistake_gets_its_message_at_its_token() {
    let compiler = std::process::Command::new("rustc").arg("--version").output().expect("rustc runs");
    let compiler = String::from_utf8_lossy(&compiler.stdout).into_owned();
    if compiler.starts_with(concat!("rustc ", env!("CARGO_PKG_RUST_VERSION"), ".")) {
        trybuild::TestCases::new().compile_fail("../tests/ui/*.rs");
    } else {
        println!("not compared: {compiler} is not {}", env!("CARGO_PKG_RUST_VERSION"));
    }
}
