//! What most files with jobs use: `use jobs::prelude::*;`.

pub use crate::{Ctx, Enqueued, Failure, Job, Jobs, Migrate, Registry, Settled, State};
#[doc(no_inline)]
pub use crate::{
    schemars::JsonSchema,
    serde::{Deserialize, Serialize},
    uuid::Uuid,
};
