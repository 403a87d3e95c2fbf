use crate::fixtures::{Anything, Invoice, Note, SendMail, job, jobs};
use futures_util::future::BoxFuture;
use jobs::{
    Ctx, Failure, Job, Registry,
    backoff::Backoff,
    spec::{JobSpec, Place, Retry},
};

job!(OtherMail: String, JobSpec { place: Place { file: "src/other.rs", line: 9 }, ..JobSpec::new("send_mail") });
job!(ThirdNote: String, JobSpec { place: Place { file: "src/third.rs", line: 3 }, ..JobSpec::new("third").aliases(&["note", "third"]) });
job!(Broken: String, JobSpec {
    queue: "Bad Queue",
    version: 0,
    crash_budget: 0,
    retry: Retry { max_attempts: 0, backoff: Backoff { max: std::time::Duration::ZERO, ..Backoff::fixed("1s") } },
    timeout: Some(std::time::Duration::ZERO),
    place: Place { file: "src/broken.rs", line: 1 },
    ..JobSpec::new("broken")
});

#[test]
fn two_jobs_of_one_name_or_alias_are_refused_with_both_places_and_all_at_once() {
    let here = SendMail::SPEC.place;
    let note = Note::SPEC.place;
    let refusal = Registry::builder()
        .job::<SendMail>()
        .job::<Note>()
        .job::<OtherMail>()
        .job::<ThirdNote>()
        .build()
        .expect_err("it is refused");
    assert_eq!(
        refusal.to_string(),
        format!(
            "the name `send_mail` is taken by two jobs, at {here} and at src/other.rs:9; the name `note` is taken by two \
             jobs, at {note} and at src/third.rs:3; job `third` at src/third.rs:3: its alias `third` is a name that it has \
             already; fix: rename one of them with `#[job(name = \"…\")]` (X_JOB_NAME_TAKEN)"
        )
    );
    assert!(here.file.ends_with("fixtures.rs") && here.line > 0, "a job that is declared by hand has a place, too");
}

#[test]
fn the_same_job_twice_is_the_same_as_once() {
    let registry = Registry::builder().job::<Note>().job::<Note>().build().expect("it is one job");
    assert_eq!(registry.len(), 1);
}

#[test]
fn a_declaration_that_breaks_rules_is_refused_with_all_of_them() {
    let refusal = Registry::builder().job::<Broken>().build().expect_err("it is refused");
    let job = "job `broken` at src/broken.rs:1:";
    assert_eq!(
        refusal.detail().split("; ").collect::<Vec<_>>(),
        [
            format!("{job} `Bad Queue`: a name holds a character other than a-z, 0-9, `_`, `.`, `-`"),
            format!("{job} its version must be 1 to 32767"),
            format!("{job} its crash budget must be at least 1"),
            format!("{job} `max_attempts` is 0"),
            "the first run counts, so it must be at least 1".to_owned(),
            format!("{job} `backoff` has a max that is shorter than its base"),
            format!("{job} `timeout` is zero"),
            "it must be longer".to_owned(),
        ]
    );
}

#[test]
fn what_is_expected_and_missing_is_listed_with_the_remedy() {
    let registry = Registry::builder().job::<SendMail>().build().expect("it is one job");
    registry.expect(["mail.send", "send_mail"]).expect("both names are known");
    let missing = registry.expect(["mail.send", "mail.digest", "cleanup"]).expect_err("two are missing");
    assert_eq!(
        missing.to_string(),
        "these jobs are not registered in this process: `mail.digest`, `cleanup`; fix: name the crate that declares it in \
         the program, `use the_crate as _;`, or the linker drops it; or register it with \
         `Registry::builder().job::<..>()` (X_JOB_UNKNOWN)"
    );
}

#[test]
fn the_registry_prints_what_it_found() {
    let registry = Registry::builder().job::<SendMail>().job::<Note>().job::<Anything>().job::<Invoice>();
    let registry = registry.build().expect("they agree");
    assert_eq!(registry.to_string(), "4 jobs in 2 queues\n  default: anything, invoice, note\n  mail: mail.send");
    let names: Vec<&str> = registry.iter().map(|job| job.spec.name).collect();
    assert_eq!(names, ["anything", "invoice", "mail.send", "note"]);
    assert_eq!(Registry::default().to_string(), "0 jobs in 0 queues");
    assert_eq!(format!("{:?}", jobs()), "Jobs on memory (5 known)");
}
