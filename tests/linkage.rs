//! Which jobs a program finds that keeps them in other crates: debug, and release with fat LTO.
//! The programs stand in `tests/linkage`, a workspace of its own.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
};

const PLUGIN: &str = "job print_invoice at plugin/src/invoices.rs:15\njob send_email at plugin/src/lib.rs:7\n";

#[test]
fn a_crate_that_is_named_registers_all_its_jobs() {
    for profile in [Profile::Debug, Profile::ReleaseWithLto] {
        let expected = format!("{PLUGIN}code X_INVOICE_LOCKED\n");
        assert_eq!(run(profile, "names_it"), expected, "{profile:?}");
        assert_eq!(run(profile, "names_one_item"), expected, "{profile:?}");
    }
}

#[test]
fn a_crate_that_is_only_depended_on_registers_nothing_and_the_refusal_says_the_remedy() {
    for profile in [Profile::Debug, Profile::ReleaseWithLto] {
        let said = run(profile, "only_depends_on_it");
        assert!(said.starts_with("refused no job `send_email` is registered"), "{profile:?}: {said}");
        assert!(said.contains("use the_crate as _;"), "{profile:?}: {said}");
    }
}

#[test]
fn a_name_that_two_crates_give_is_refused_with_both_places() {
    for profile in [Profile::Debug, Profile::ReleaseWithLto] {
        let said = run(profile, "names_two_with_one_name");
        assert!(said.starts_with("refused the name `send_email` is taken by two jobs"), "{profile:?}: {said}");
        assert!(said.contains("plugin/src/lib.rs:7") && said.contains("rival/src/lib.rs:5"), "{profile:?}: {said}");
    }
}

#[test]
fn without_inventory_jobs_are_registered_by_hand() {
    assert_eq!(
        run(Profile::ByHand, "by_hand"),
        "job drop_page at by_hand/src/main.rs:28\njob print_page at by_hand/src/main.rs:23\njob send_email at \
         plugin/src/lib.rs:7\n"
    );
}

#[derive(Debug, Clone, Copy)]
enum Profile {
    Debug,
    ReleaseWithLto,
    /// Debug, without the feature `inventory`.
    ByHand,
}

impl Profile {
    fn args(self) -> &'static [&'static str] {
        match self {
            Self::Debug => &["--package", "apps"],
            Self::ReleaseWithLto => &["--package", "apps", "--release"],
            Self::ByHand => &["--package", "by_hand"],
        }
    }

    fn folder(self) -> &'static str {
        match self {
            Self::Debug | Self::ByHand => "debug",
            Self::ReleaseWithLto => "release",
        }
    }

    fn built(self) -> &'static OnceLock<()> {
        static BUILT: [OnceLock<()>; 3] = [OnceLock::new(), OnceLock::new(), OnceLock::new()];
        &BUILT[self as usize]
    }
}

/// What a program prints. Builds all programs of the profile before the first.
fn run(profile: Profile, program: &str) -> String {
    profile.built().get_or_init(|| build(profile));
    let program = target().join(profile.folder()).join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
    let ran = Command::new(&program).output().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
    assert!(ran.status.success(), "{}", text(&ran));
    String::from_utf8(ran.stdout).expect("UTF-8")
}

/// Builds with the versions of the main workspace, and without a network.
fn build(profile: Profile) {
    let fixture = root().join("tests/linkage");
    copy_lock(&fixture);
    let built = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet"])
        .args(profile.args())
        .current_dir(&fixture)
        .env("CARGO_TARGET_DIR", target())
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo starts");
    assert!(built.status.success(), "{}", text(&built));
}

/// Puts the main lock file in place in one move: tests that run beside this one, as processes of their own, may read it.
fn copy_lock(fixture: &Path) {
    let copy = fixture.join(format!("Cargo.lock.{}", std::process::id()));
    std::fs::copy(root().join("Cargo.lock"), &copy).expect("the main lock is copied");
    std::fs::rename(&copy, fixture.join("Cargo.lock")).expect("the copy is moved");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A folder of its own: cargo locks a target folder while it builds.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("linkage")
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
