//! The rules for an event. Each refusal names the event, the field and its limit.

use super::{DEFAULT_TTL, Event, MAX_KEY, MAX_PAYLOAD};
use crate::{
    driver::{EventId, NewEvent},
    duration::IntoDuration,
    error::{Error, code},
    json::JsonText,
    name,
    payload::writer,
};
use std::{fmt::Display, time::Duration};

/// The record of a typed event.
pub(super) fn record<E: Event>(event: &E, key: impl Display) -> Result<NewEvent, Error> {
    let payload =
        writer::write(event).map_err(|fault| invalid(E::NAME, format!("has a payload that holds {fault}")))?;
    assemble(E::NAME, key.to_string(), event.tenant(), JsonText::trusted(payload), E::TTL.unwrap_or(DEFAULT_TTL))
}

/// The record of an event that is known by its name alone.
pub(super) fn named(event: &str, key: impl Display, payload: &JsonText) -> Result<NewEvent, Error> {
    let payload =
        writer::write(payload).map_err(|fault| invalid(event, format!("has a payload that holds {fault}")))?;
    assemble(event, key.to_string(), None, JsonText::trusted(payload), DEFAULT_TTL)
}

fn assemble(
    event: &str,
    key: String,
    tenant: Option<String>,
    payload: JsonText,
    ttl: Duration,
) -> Result<NewEvent, Error> {
    check_name(event)?;
    text(event, "key", &key, MAX_KEY)?;
    if let Some(tenant) = &tenant {
        check_tenant(event, tenant)?;
    }
    let bytes = payload.as_str().len();
    if bytes > MAX_PAYLOAD {
        return Err(invalid(event, format!("has a payload of {bytes} bytes of JSON, the limit is {MAX_PAYLOAD}")));
    }
    let ttl = check_ttl(event, ttl)?;
    Ok(NewEvent { id: EventId::new(), name: event.to_owned(), key, tenant, payload, ttl })
}

pub(super) fn check_name(event: &str) -> Result<(), Error> {
    name::check(event).map_err(|error| {
        let shown: String = event.chars().take(name::MAX_NAME).flat_map(char::escape_debug).collect();
        Error::new(code::EVENT_INVALID, format!("`{shown}` is not an event's name: {error}"))
    })
}

pub(super) fn check_tenant(event: &str, tenant: &str) -> Result<(), Error> {
    text(event, "tenant", tenant, name::MAX_TENANT)
}

/// The tenant that the publisher states: it may give one to an event that has none, and cannot change another. Neither
/// is named: the message may reach either.
pub(super) fn stated_tenant(event: &NewEvent, stated: &str) -> Result<(), Error> {
    check_tenant(&event.name, stated)?;
    match &event.tenant {
        Some(own) if own != stated => {
            Err(invalid(&event.name, "is published for one tenant and its payload resolves to another".to_owned()))
        }
        _ => Ok(()),
    }
}

pub(super) fn check_ttl(event: &str, ttl: impl IntoDuration) -> Result<Duration, Error> {
    let parsed = ttl
        .into_duration()
        .map_err(|error| invalid(event, format!("has a `ttl` of {ttl:?}, which is refused: {error}")))?;
    if parsed.is_zero() {
        return Err(invalid(event, "has a `ttl` of zero; it must be longer".to_owned()));
    }
    Ok(parsed)
}

fn text(event: &str, field: &str, text: &str, limit: usize) -> Result<(), Error> {
    if text.trim().is_empty() {
        return Err(invalid(event, format!("has a blank {field}; use 1 to {limit} bytes of text")));
    }
    if text.len() > limit {
        return Err(invalid(event, format!("has a {field} of {} bytes, the limit is {limit}", text.len())));
    }
    if text.as_bytes().contains(&0) {
        return Err(invalid(event, format!("has a {field} that holds NUL")));
    }
    Ok(())
}

fn invalid(event: &str, what: String) -> Error {
    Error::new(code::EVENT_INVALID, format!("the event `{event}` {what}"))
}
