//! The conformance suite, run for each driver: a test's path begins with the driver's name.

#[path = "../support/mod.rs"]
mod support;

mod pg;

/// The memory driver.
mod memory {
    use jobs::testing::conformance::MemoryFixture;

    jobs::conformance_suite!(MemoryFixture::new());

    mod only;
}

/// The Postgres driver.
mod postgres {
    use crate::pg::PgFixture;

    jobs::conformance_suite!(PgFixture::new().await);
}

/// Every case that an area's file holds stands in the list that makes the tests.
#[test]
fn no_case_is_left_out_of_the_suite() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../jobs-runtime/src/testing/conformance");
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).expect("a source file is readable");
    let listed = read(std::path::Path::new(folder).join("suite.rs"));
    let mut cases = 0;
    for file in std::fs::read_dir(folder).expect("the suite's folder is readable") {
        let source = read(file.expect("an entry is readable").path());
        for line in source.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
            let (name, _) = line.split_once('(').expect("a case has parameters");
            assert!(listed.contains(&format!(" {name},\n")), "{name} is not in suite.rs");
            cases += 1;
        }
    }
    assert!(cases >= 130, "only {cases} cases: has a file moved?");
}
