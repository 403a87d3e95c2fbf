//! Finishes records (keys, metadata, limits, trace) and writes them in one call of the driver.

use super::{check, metadata, unique};
use crate::{
    client::Jobs,
    driver::{Capability, Enqueued, JoinTx, NewJob, Tx},
    error::{Error, code},
    job::UniqueKey,
    payload,
    spec::Unique,
};
use futures_util::future::BoxFuture;

/// Records on their way to the driver, or the first reason why they will not get there.
pub(super) struct Submission<'a> {
    jobs: &'a Jobs,
    records: Result<Vec<NewJob>, Error>,
    pub(super) tags: Vec<String>,
    tx: Option<Tx<'a>>,
}

impl<'a> Submission<'a> {
    pub(super) fn new(jobs: &'a Jobs, records: Result<Vec<NewJob>, Error>) -> Self {
        Self { jobs, records, tags: Vec::new(), tx: None }
    }

    /// Sets something of every record, unless the value was refused.
    pub(super) fn set<V>(&mut self, value: Result<V, Error>, apply: impl Fn(&mut NewJob, &V)) {
        match (&mut self.records, value) {
            (Ok(records), Ok(value)) => records.iter_mut().for_each(|record| apply(record, &value)),
            (Ok(_), Err(refusal)) => self.records = Err(refusal),
            (Err(_), _) => {}
        }
    }

    /// Takes one key for each record, in order.
    pub(super) fn take_keys(&mut self, keys: impl IntoIterator<Item = String>, how: Option<Unique>) {
        self.refuse_unless(|records| {
            let mut keys = keys.into_iter();
            for (index, record) in records.iter_mut().enumerate() {
                let Some(key) = keys.next() else {
                    return Err(count_differs(&format!("{index}"), records.len()));
                };
                let how = how.unwrap_or(match record.unique {
                    Some(declared) => Unique { hold: declared.hold, on_conflict: declared.on_conflict },
                    None => unique::DEFAULT,
                });
                let taken = unique::take(&record.kind, record.tenant.as_deref(), &UniqueKey::Text(key), how);
                record.unique = Some(taken.map_err(|refusal| refusal.at_index(index))?);
            }
            match keys.next() {
                Some(_) => Err(count_differs(&format!("more than {}", records.len()), records.len())),
                None => Ok(()),
            }
        });
    }

    /// Refuses records of another tenant than the caller's.
    pub(super) fn expect_tenant(&mut self, tenant: &str) {
        self.refuse_unless(|records| {
            for (index, record) in records.iter().enumerate() {
                check::tenant(&record.kind, tenant)?;
                check::same_tenant(&record.kind, record.tenant.as_deref(), tenant)
                    .map_err(|refusal| refusal.at_index(index))?;
            }
            Ok(())
        });
    }

    pub(super) fn join(&mut self, tx: &'a mut impl JoinTx) {
        self.tx = Some(tx.tx());
    }

    /// Writes the records. Only the refusal of a batch names the item.
    pub(super) fn send(mut self, is_batch: bool) -> BoxFuture<'a, Result<Vec<Enqueued>, Error>> {
        let (jobs, tags) = (self.jobs, std::mem::take(&mut self.tags));
        let in_tx = self.tx.is_some();
        self.refuse_unless(|records| {
            finish(jobs, records, &tags)?;
            supported(jobs, records, in_tx)
        });
        let Self { records, tx, .. } = self;
        Box::pin(async move {
            let records = records.map_err(|refusal| if is_batch { refusal } else { refusal.without_index() })?;
            if records.is_empty() {
                return Ok(Vec::new());
            }
            let answers = jobs.driver().enqueue(&records, tx).await;
            answers.map_err(|refusal| if is_batch { refusal } else { refusal.without_index() })
        })
    }

    /// Checks or changes the records. The first refusal stands.
    fn refuse_unless(&mut self, fits: impl FnOnce(&mut [NewJob]) -> Result<(), Error>) {
        if let Ok(records) = &mut self.records
            && let Err(refusal) = fits(records)
        {
            self.records = Err(refusal);
        }
    }
}

fn count_differs(keys: &str, jobs: usize) -> Error {
    Error::new(code::KEY_INVALID, format!("there are {keys} unique keys for {jobs} jobs"))
        .with_fix("pass one key for each job, in input order")
}

/// The metadata of a call is one text, shared by its records.
fn finish(jobs: &Jobs, records: &mut [NewJob], tags: &[String]) -> Result<(), Error> {
    let metadata = metadata::with_tags(records.first().and_then(|record| record.metadata.clone()), tags)?;
    let trace = jobs.ambient_trace();
    for (index, record) in records.iter_mut().enumerate() {
        payload::check_size(&record.kind, &record.payload, jobs.payload_limit())
            .map_err(|refusal| refusal.at_index(index))?;
        record.metadata.clone_from(&metadata);
        record.trace = record.trace.take().or_else(|| trace.clone());
    }
    Ok(())
}

fn supported(jobs: &Jobs, records: &[NewJob], in_tx: bool) -> Result<(), Error> {
    let driver = jobs.driver();
    let refuse =
        |what: &str| Err(Error::new(code::DRIVER_UNSUPPORTED, format!("the driver `{}` cannot {what}", driver.name())));
    if in_tx && !driver.supports(Capability::Transactions) {
        return refuse("enqueue in the caller's transaction");
    }
    if records.iter().any(|record| record.unique.is_some()) && !driver.supports(Capability::UniqueKeys) {
        return refuse("hold unique keys");
    }
    Ok(())
}
