//! The rules for what an enqueue says beside its payload. Each refusal names the thing and its limit.

use crate::{
    backoff::Backoff,
    duration::{self, IntoDuration},
    error::{
        Error,
        code::{self, Code},
    },
    name,
};
use chrono::{DateTime, Utc};
use std::time::Duration;

/// The longest `enqueued_by`, in bytes.
const MAX_ACTOR: usize = 200;
/// The longest tag, in bytes.
const MAX_TAG: usize = 100;
/// The most attempts that an enqueue may ask for: what the smallest driver's counter holds.
const MAX_ATTEMPTS: u32 = i32::MAX as u32;

pub(crate) fn tenant(job: &str, tenant: &str) -> Result<(), Error> {
    text(code::TENANT_INVALID, &format!("the tenant of `{job}`"), tenant, name::MAX_TENANT)
}

pub(crate) fn key(job: &str, key: &str) -> Result<(), Error> {
    text(code::KEY_INVALID, &format!("the unique key of `{job}`"), key, name::MAX_KEY)
}

pub(crate) fn actor(actor: &str) -> Result<(), Error> {
    text(code::ACTOR_INVALID, "the text of `enqueued_by`", actor, MAX_ACTOR)
}

pub(crate) fn tag(tag: &str) -> Result<(), Error> {
    text(code::TAG_INVALID, "a tag", tag, MAX_TAG)
}

pub(crate) fn queue(queue: &str) -> Result<(), Error> {
    name::check(queue).map_err(|error| {
        let shown: String = queue.chars().take(name::MAX_NAME).flat_map(char::escape_debug).collect();
        Error::new(code::QUEUE_NAME_INVALID, format!("the queue `{shown}` is not a queue's name: {error}"))
    })
}

/// A duration that may be zero.
pub(crate) fn wait(option: &str, wait: impl IntoDuration) -> Result<Duration, Error> {
    wait.into_duration()
        .map_err(|error| Error::new(code::TIME_INVALID, format!("`{option}` of {wait:?} is refused: {error}")))
}

/// A duration that may not be zero.
pub(crate) fn span(option: &str, span: impl IntoDuration) -> Result<Duration, Error> {
    let span = wait(option, span)?;
    if span.is_zero() {
        return Err(Error::new(code::TIME_INVALID, format!("`{option}` is zero; it must be longer")));
    }
    Ok(span)
}

/// A start time from 1970 on, at most the longest duration from now.
pub(crate) fn time(at: DateTime<Utc>) -> Result<(), Error> {
    let limit = Utc::now() + duration::MAX;
    if at < DateTime::UNIX_EPOCH || at > limit {
        return Err(Error::new(
            code::TIME_INVALID,
            format!("the start time {at} lies outside 1970 to {} days from now", duration::MAX.as_secs() / 86_400),
        ));
    }
    Ok(())
}

pub(crate) fn attempts(attempts: u32) -> Result<(), Error> {
    match attempts {
        0 => override_refused("`max_attempts` is 0; the first run counts, so it must be at least 1".to_owned()),
        1..=MAX_ATTEMPTS => Ok(()),
        _ => override_refused(format!("`max_attempts` is {attempts}, the limit is {MAX_ATTEMPTS}")),
    }
}

pub(crate) fn backoff(backoff: &Backoff) -> Result<(), Error> {
    let Backoff { base, max, .. } = *backoff;
    let what = match () {
        () if base.is_zero() => "`backoff` has a base of zero; it must be longer",
        () if max < base => "`backoff` has a max that is shorter than its base",
        () if max > duration::MAX => "`backoff` has a max longer than 36500d, the limit",
        () => return Ok(()),
    };
    override_refused(what.to_owned())
}

fn override_refused(what: String) -> Result<(), Error> {
    Err(Error::new(code::OVERRIDE_INVALID, what))
}

/// Refuses a tenant other than the one that the input resolves to. Neither is named: the message may reach either.
pub(crate) fn same_tenant(job: &str, resolved: Option<&str>, stated: &str) -> Result<(), Error> {
    let what = match resolved {
        Some(resolved) if resolved == stated => return Ok(()),
        Some(_) => "is queued for one tenant and its input resolves to another",
        None => "is queued for a tenant and declares `tenant = none`",
    };
    Err(Error::new(code::JOB_TENANT_MISMATCH, format!("job `{job}` {what}")))
}

/// A W3C `traceparent`: version, trace id, span id and flags in lower-case hex, none of the ids all zero.
pub(crate) fn trace(text: &str) -> Result<(), Error> {
    if is_traceparent(text) {
        return Ok(());
    }
    Err(Error::new(code::TRACE_INVALID, "the trace context is not 55 bytes of `version-trace_id-span_id-flags` in hex"))
}

pub(crate) fn is_traceparent(text: &str) -> bool {
    let mut parts = text.split('-');
    let mut hex = |length: usize, may_be_zero: bool| {
        parts.next().is_some_and(|part| {
            part.len() == length
                && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                && (may_be_zero || part.bytes().any(|byte| byte != b'0'))
        })
    };
    let fits = hex(2, true) && hex(32, false) && hex(16, false) && hex(2, true);
    fits && parts.next().is_none() && !text.starts_with("ff")
}

fn text(code: Code, thing: &str, text: &str, limit: usize) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::new(code, format!("{thing} {what}")));
    if text.trim().is_empty() {
        return refuse("is blank".to_owned());
    }
    if text.len() > limit {
        return refuse(format!("is {} bytes long, the limit is {limit}", text.len()));
    }
    if text.as_bytes().contains(&0) {
        return refuse("holds NUL".to_owned());
    }
    Ok(())
}
