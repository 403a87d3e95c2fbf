//! What can name a tenant in `#[job(tenant = …)]`. Upstream: the user's types. Downstream: `job`.

use std::{borrow::Cow, rc::Rc, sync::Arc};

/// A value that names a tenant: a text, a UUID, an integer, or an `Option` of one, where `None` is no tenant.
///
/// Implement it for an id type of your own.
///
/// # Examples
/// ```
/// use jobs_runtime::TenantId;
/// struct Org(u32);
/// impl TenantId for Org {
///     fn tenant(&self) -> Option<String> {
///         Some(format!("org-{}", self.0))
///     }
/// }
/// assert_eq!(Some(Org(7)).tenant().as_deref(), Some("org-7"));
/// assert_eq!("acme".tenant().as_deref(), Some("acme"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a tenant",
    label = "not a text, a UUID, an integer or an `Option` of one",
    note = "convert the value to a `String`, or implement `jobs::TenantId` for the type"
)]
pub trait TenantId {
    /// The tenant's text: 1 to 128 bytes, not blank, without NUL, checked when a job is enqueued.
    fn tenant(&self) -> Option<String>;
}

impl<T: TenantId + ?Sized> TenantId for &T {
    fn tenant(&self) -> Option<String> {
        (**self).tenant()
    }
}

impl<T: TenantId> TenantId for Option<T> {
    fn tenant(&self) -> Option<String> {
        self.as_ref().and_then(TenantId::tenant)
    }
}

macro_rules! tenant_by_display {
    ($($type:ty),*) => {
        $(impl TenantId for $type {
            fn tenant(&self) -> Option<String> {
                Some(self.to_string())
            }
        })*
    };
}

tenant_by_display!(
    str,
    String,
    Box<str>,
    Rc<str>,
    Arc<str>,
    Cow<'_, str>,
    uuid::Uuid,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize
);
