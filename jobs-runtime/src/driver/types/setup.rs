//! What a driver can do, and its schema.

/// What a driver may or may not be able to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// Enqueue in the caller's transaction.
    Transactions,
    /// Unique keys.
    UniqueKeys,
    /// Hand out transactions that are bound to the run's tenant (`ctx.tx()`).
    TenantTransactions,
}

/// Whether the schema may be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Migrate {
    /// Apply what is missing.
    ApplyAll,
    /// Change nothing; refuse a schema that is not the one this code needs.
    VerifyOnly,
}

/// What a migration did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migrated {
    /// The schema's version now.
    pub version: u32,
    /// How many migrations this call applied.
    pub applied: u32,
}
