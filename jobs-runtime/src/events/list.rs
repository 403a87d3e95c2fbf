//! What a program publishes and lists by its handle.

use super::{Event, Publish, PublishMany, check};
use crate::{client::Jobs, driver::EventRecord, error::Error, json::JsonText};
use std::fmt::Display;

impl Jobs {
    /// Publishes an event under a key of 1 to 200 bytes, as [`Event::publish`]. Refine the answer, then await it.
    pub fn publish<E: Event>(&self, event: &E, key: impl Display) -> Publish<'_> {
        Publish::new(self, check::record(event, key))
    }

    /// Publishes events, each under a key, in one round trip: all or nothing, answered in input order, at most 100,000.
    /// Refine the answer, then await it.
    pub fn publish_many<E: Event, K: Display>(&self, events: impl IntoIterator<Item = (K, E)>) -> PublishMany<'_> {
        PublishMany::new(self, events.into_iter().map(|(key, event)| check::record(&event, key)))
    }

    /// Publishes an event by its name, with its payload as JSON: for tools, and for callers in other languages. Nothing
    /// checks here that the payload fits the event's type: a wait that cannot read it fails.
    pub fn publish_dynamic(&self, name: &str, key: impl Display, payload: impl Into<JsonText>) -> Publish<'_> {
        Publish::new(self, check::named(name, key, &payload.into()))
    }

    /// Lists the events of a type that can still be found, newest first, at most 1,000: for diagnosis.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn events<E: Event>(&self) -> Result<Vec<EventRecord>, Error> {
        self.events_named(E::NAME).await
    }

    /// Lists the events of a name that can still be found, newest first, at most 1,000: for diagnosis.
    ///
    /// # Errors
    /// `X_EVENT_INVALID` if the text cannot be an event's name.
    pub async fn events_named(&self, name: &str) -> Result<Vec<EventRecord>, Error> {
        check::check_name(name)?;
        self.driver().events(name).await
    }
}
