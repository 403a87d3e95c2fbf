//! What can be a job's input and output. Implemented by itself for every type that fits.
//! Upstream: the user's types. Downstream: `job`.

use serde::{Serialize, de::DeserializeOwned};

/// The input of a job: owned data that serde can write and read again.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the input of a job",
    label = "not owned data that serde can write and read",
    note = "an input is stored: add `#[derive(Serialize, Deserialize)]` to the type, from `jobs::prelude` or serde; it \
            must be `Send`, `Sync` and `'static` as well"
)]
pub trait Payload: Serialize + DeserializeOwned + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + DeserializeOwned + Send + Sync + 'static> Payload for T {}

/// The output of a job: owned data that serde can write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a job",
    label = "not owned data that serde can write",
    note = "an output is kept in the history: add `#[derive(Serialize)]` to the type, from `jobs::prelude` or serde, or \
            return `()`"
)]
pub trait Output: Serialize + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + Send + 'static> Output for T {}
