//! The params and answers of the driver's calls: plain data, one file per part of the contract.

mod claim;
mod event;
mod new_job;
mod operate;
mod park;
mod setup;
mod step;
mod upkeep;
mod write;

pub use claim::{Claim, Claimed, Fence, KnownKind, NewWorker, Renewed, Token, WorkerId};
pub use event::{EventId, EventRecord, FindEvent, NewEvent, Published};
pub use new_job::{Enqueued, NewJob, NewUnique, Overrides, Start};
pub use operate::{CancelAnswer, JobRecord, KindCount, ListFilter, Operation, Resolution, WorkerRecord};
pub use park::{Park, Unwind, Wait, WaitEvent};
pub use setup::{Capability, Migrate, Migrated};
pub(crate) use step::refused_forward;
pub use step::{ChildEnd, Stage, StepKind, StepRecord, StepRef, StepStatus, StepWrite};
pub use upkeep::{Hint, Outlook, Promoted, Rescued};
pub use write::{Change, Finish, Progress, Reschedule, Write, Written};
