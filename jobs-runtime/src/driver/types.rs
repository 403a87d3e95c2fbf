//! The params and answers of the driver's calls: plain data, one file per part of the contract.

mod claim;
mod new_job;
mod operate;
mod setup;
mod upkeep;
mod write;

pub use claim::{Claim, Claimed, Fence, KnownKind, NewWorker, Renewed, Token, WorkerId};
pub use new_job::{Enqueued, NewJob, NewUnique, Overrides, Start};
pub use operate::{CancelAnswer, JobRecord, KindCount, ListFilter, WorkerRecord};
pub use setup::{Capability, Migrate, Migrated};
pub use upkeep::{Hint, Outlook, Promoted, Rescued};
pub use write::{Change, Finish, Progress, Reschedule, Write, Written};
