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

/// Every method of the driver's contract, by what keeps a worker that has lost its job from writing by it. A new method
/// must be put in its place here; one by which a worker writes about a job belongs into `commit`, as a `Change`.
#[test]
fn every_way_to_write_is_fenced() {
    let fenced_by_claim = ["commit", "begin_step"];
    let fenced_by_lease = ["claim", "renew", "lease_session"];
    let writes_about_no_claim =
        ["migrate", "enqueue", "start_worker", "cancel", "roll_back", "requeue", "operate", "publish"];
    let takes_from_the_caller_itself_or_the_dead = ["stop_worker", "rescue"];
    let moves_by_what_is_stored = ["promote", "purge", "wake", "purge_events"];
    let reads = [
        "name",
        "supports",
        "as_any",
        "own_clock",
        "now",
        "look",
        "held",
        "hints",
        "find",
        "list",
        "counts",
        "workers",
        "next",
        "steps",
        "find_event",
        "events",
        "outline",
        "is_live",
        "tx",
    ];
    let known: Vec<&str> = fenced_by_claim
        .into_iter()
        .chain(fenced_by_lease)
        .chain(writes_about_no_claim)
        .chain(takes_from_the_caller_itself_or_the_dead)
        .chain(moves_by_what_is_stored)
        .chain(reads)
        .collect();
    let contract = include_str!("../../jobs-runtime/src/driver/mod.rs");
    let traits = contract.split("pub trait ").skip(1).map(|text| text.split("\n}").next().unwrap_or(text));
    let methods: Vec<&str> = traits
        .flat_map(|body| body.lines().filter_map(|line| line.strip_prefix("    fn ")))
        .filter_map(|method| method.split(['(', '<']).next())
        .collect();
    assert!(methods.len() > 20, "the contract has moved: {methods:?}");
    for method in methods {
        assert!(known.contains(&method), "`{method}` is new: how is it fenced? see the lists in this test");
    }
}
