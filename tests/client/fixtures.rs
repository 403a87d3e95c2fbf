//! Jobs that are declared by hand, so that these tests need no macro.

use futures_util::future::BoxFuture;
use jobs::{
    Ctx, Enqueued, Failure, Job, Jobs, Registry, UniqueKey,
    driver::JobRecord,
    spec::{Hold, JobSpec, OnConflict, Unique},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Declares a job whose body does nothing.
macro_rules! job {
    ($name:ident: $input:ty, $spec:expr $(, tenant = $tenant:expr)? $(, key = $key:expr)?) => {
        pub(crate) enum $name {}
        impl Job for $name {
            type Input = $input;
            type Output = ();
            const SPEC: JobSpec = $spec;
            fn tenant(_input: &$input) -> Option<String> {
                None$(.or_else(|| $tenant(_input)))?
            }
            fn run(_: &Ctx, _: $input) -> BoxFuture<'_, Result<(), Failure>> {
                Box::pin(async { Ok(()) })
            }
            $(fn unique_key(input: &$input) -> Result<Option<UniqueKey>, jobs::Error> {
                Ok(Some($key(input)))
            })?
        }
    };
}
pub(crate) use job;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mail {
    pub(crate) org: String,
    pub(crate) to: Vec<String>,
    pub(crate) size: u64,
}

impl Mail {
    pub(crate) fn to(org: &str) -> Self {
        Self { org: org.to_owned(), to: vec!["ann@example.org".to_owned()], size: 1 }
    }
}

job!(SendMail: Mail, JobSpec::new("mail.send").aliases(&["send_mail"]).queue("mail"), tenant = |mail: &Mail| Some(mail.org.clone()));
job!(Note: String, JobSpec::new("note"));
job!(Anything: Value, JobSpec::new("anything"));
job!(
    Invoice: Mail,
    JobSpec::new("invoice").unique(Unique { hold: Hold::Live, on_conflict: OnConflict::Existing }),
    tenant = |mail: &Mail| Some(mail.org.clone()),
    key = |mail: &Mail| UniqueKey::Json(serde_json::json!({ "size": mail.size }).to_string())
);
job!(Once: Value, JobSpec::new("once").unique(Unique { hold: Hold::Live, on_conflict: OnConflict::Reject }));

pub(crate) fn registry() -> Registry {
    let registry = Registry::builder().job::<SendMail>().job::<Note>().job::<Anything>().job::<Invoice>().job::<Once>();
    registry.build().expect("the fixtures agree")
}

pub(crate) fn jobs() -> Jobs {
    Jobs::builder().registry(registry()).memory().expect("memory needs nothing")
}

/// The stored job that an enqueue inserted.
pub(crate) async fn stored(jobs: &Jobs, enqueued: Enqueued) -> JobRecord {
    assert!(enqueued.is_inserted());
    jobs.find(enqueued.id()).await.expect("it was inserted")
}

/// Nothing is stored.
pub(crate) async fn assert_empty(jobs: &Jobs) {
    assert!(jobs.list(Default::default()).await.expect("memory answers").is_empty());
}
