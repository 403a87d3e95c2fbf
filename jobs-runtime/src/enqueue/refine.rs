//! What a caller may say of an enqueue, written once for one job and for many.

/// Writes the methods that [`Enqueue`](super::Enqueue) and [`EnqueueMany`](super::EnqueueMany) share. Each takes
/// effect on every job of the call. What a method is given is checked at once; the first refusal is the call's answer.
macro_rules! refinements {
    ($type:ident) => {
        impl<'a> $type<'a> {
            /// Starts after this long, by the store's clock: `"5m"` or a `Duration`, at most 36500 days. Default: at once.
            pub fn delay(mut self, delay: impl IntoDuration) -> Self {
                self.0.set(check::wait("delay", delay), |job, delay| job.start = Start::After(*delay));
                self
            }

            /// Starts at this time, by the store's clock; at once if it has passed. From 1970 to 36500 days from now.
            pub fn at(mut self, time: DateTime<Utc>) -> Self {
                self.0.set(check::time(time), |job, ()| job.start = Start::At(time));
                self
            }

            /// Sets the priority: lower runs first. Default: the declared one, or 0.
            pub fn priority(mut self, priority: i16) -> Self {
                self.0.set(Ok(priority), |job, priority| job.priority = *priority);
                self
            }

            /// Sets the queue: 1 to 100 of the characters `a-z`, `0-9`, `_`, `.`, `-`. Default: the declared one.
            pub fn queue(mut self, queue: impl Into<String>) -> Self {
                let queue = queue.into();
                self.0.set(check::queue(&queue).map(|()| queue), |job, queue| job.queue.clone_from(queue));
                self
            }

            /// States the tenant that the caller acts for. It cannot change what the job declares: a job whose input
            /// resolves to another tenant, or to none, is refused with `X_JOB_TENANT_MISMATCH`.
            pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
                self.0.expect_tenant(&tenant.into());
                self
            }

            /// Overrides the number of attempts: at least 1, the first run counts.
            pub fn max_attempts(mut self, attempts: u32) -> Self {
                self.0.set(check::attempts(attempts), |job, ()| job.overrides.max_attempts = Some(attempts));
                self
            }

            /// Overrides the waits between attempts.
            pub fn backoff(mut self, backoff: Backoff) -> Self {
                self.0.set(check::backoff(&backoff), |job, ()| job.overrides.backoff = Some(backoff));
                self
            }

            /// Overrides the longest run of one attempt: `"30s"` or a `Duration`, longer than zero.
            pub fn timeout(mut self, timeout: impl IntoDuration) -> Self {
                self.0.set(check::span("timeout", timeout), |job, timeout| job.overrides.timeout = Some(*timeout));
                self
            }

            /// Sets the longest wait for the first start, from now or from the delayed start; a job that was not
            /// started by then ends as `expired`. Default: the declared one, or no limit.
            pub fn expires_after(mut self, age: impl IntoDuration) -> Self {
                self.0.set(check::span("expires_after", age), |job, age| job.expires_after = Some(*age));
                self
            }

            /// Keeps key-value pairs of the caller's own with the job: anything that encodes as a JSON object of at
            /// most 16 KiB.
            pub fn metadata(mut self, metadata: &impl Serialize) -> Self {
                self.0.set(metadata::encode(metadata), |job, text| job.metadata = Some(text.clone()));
                self
            }

            /// Adds a tag: 1 to 100 bytes of text, at most 32 of a job. Tags stand in the metadata, under `tags`.
            pub fn tag(mut self, tag: impl Into<String>) -> Self {
                self.0.tags.push(tag.into());
                self
            }

            /// Records who enqueued it: 1 to 200 bytes of text, for attribution. It is never authority: a body that
            /// acts for a user takes the user's id in its input and authorises again.
            pub fn enqueued_by(mut self, actor: impl Into<String>) -> Self {
                let actor = actor.into();
                self.0.set(check::actor(&actor).map(|()| actor), |job, actor| job.enqueued_by = Some(actor.clone()));
                self
            }

            /// Records the enqueuing span: a W3C `traceparent`. Default: what
            /// [`trace_context`](crate::client::Builder::trace_context) gives, or that of the run that enqueues.
            pub fn trace(mut self, traceparent: impl Into<String>) -> Self {
                let trace = traceparent.into();
                self.0.set(check::trace(&trace).map(|()| trace), |job, trace| job.trace = Some(trace.clone()));
                self
            }

            /// Writes in the caller's open transaction: rolled back, it leaves nothing and wakes nobody.
            pub fn in_tx(mut self, tx: &'a mut impl JoinTx) -> Self {
                self.0.join(tx);
                self
            }
        }
    };
}
pub(super) use refinements;
