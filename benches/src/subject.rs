//! The measured job and the system on its defaults.

use crate::Outcome;
use jobs::prelude::*;
use std::time::Instant;
use tokio::sync::mpsc::UnboundedSender;

/// What every measured job carries, here and in the limits.
pub(crate) const PAYLOAD: &str = r#"{"to":"someone@example.test","template":"welcome","vars":{"name":"x","n":12345}}"#;

/// The input.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mail {
    to: String,
    template: String,
    vars: Vars,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Vars {
    name: String,
    n: u32,
}

/// The input that serialises to [`PAYLOAD`].
pub(crate) fn mail() -> Mail {
    let vars = Vars { name: "x".to_owned(), n: 12_345 };
    Mail { to: "someone@example.test".to_owned(), template: "welcome".to_owned(), vars }
}

/// Whom a body tells that it has begun.
pub(crate) struct Started(Option<UnboundedSender<Instant>>);

impl Started {
    pub(crate) fn nobody() -> Self {
        Self(None)
    }

    pub(crate) fn told_to(listener: UnboundedSender<Instant>) -> Self {
        Self(Some(listener))
    }
}

/// Does nothing.
#[job(queue = "mail", tenant = none, needs(Started))]
pub(crate) async fn send_mail(ctx: &Ctx, _input: Mail) -> Result<(), jobs::Error> {
    if let Some(listener) = &ctx.state::<Started>()?.0 {
        let _ = listener.send(Instant::now());
    }
    Ok(())
}

/// The system on its defaults, on a migrated database.
pub(crate) async fn jobs(url: &str) -> Outcome<Jobs> {
    let jobs = Jobs::connect(url).await?;
    jobs.migrate(Migrate::ApplyAll).await?;
    Ok(jobs)
}
