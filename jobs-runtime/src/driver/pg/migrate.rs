//! Creates, upgrades and checks the schema. Upstream: `migrations/*.sql`. Downstream: nothing.

use super::{Pg, ask::Ask, fault};
use crate::{
    driver::{Migrate, Migrated},
    error::{Error, code},
};
use sqlx::{PgConnection, Postgres, SqlStr, Transaction, raw_sql};

/// The migrations in order. A version is a place in this list, counted from 1; what was released never changes.
const MIGRATIONS: &[(&str, &str)] = &[
    ("core", include_str!("../../../migrations/0001_core.sql")),
    ("steps", include_str!("../../../migrations/0002_steps.sql")),
    ("events", include_str!("../../../migrations/0003_events.sql")),
    ("outlines", include_str!("../../../migrations/0004_outlines.sql")),
];

const READ: &str = include_str!("sql/migrate_version.sql");
const RECORD: &str = include_str!("sql/migrate_record.sql");
const LEDGER: &str = include_str!("sql/migrate_ledger.sql");
const LOCK: &str = include_str!("sql/migrate_lock.sql");
const EXISTS: &str = include_str!("sql/migrate_schema_exists.sql");

pub(super) async fn migrate(pg: &Pg, mode: Migrate) -> Result<Migrated, Error> {
    let newest = MIGRATIONS.len() as u32;
    // No lock and no privilege is needed where nothing is to be done.
    let version = find_version(pg).await?.unwrap_or(0);
    refuse_newer(pg, version)?;
    match mode {
        _ if version == newest => Ok(Migrated { version, applied: 0 }),
        Migrate::ApplyAll => apply(pg).await,
        Migrate::VerifyOnly if version == 0 => {
            Err(Error::new(code::SCHEMA_MISSING, format!("schema `{}` holds no tables of ours", pg.schema.name())))
        }
        Migrate::VerifyOnly => Err(Error::new(
            code::SCHEMA_OLDER,
            format!("schema `{}` is at version {version}, this code needs {newest}", pg.schema.name()),
        )),
    }
}

/// The version of the schema; `None` if it has no ledger.
async fn find_version(pg: &Pg) -> Result<Option<u32>, Error> {
    let read = sqlx::query_scalar::<_, i32>(pg.schema.fill(READ));
    match read.fetch_one_on(pg.callers()).await {
        Ok(version) => Ok(Some(version.unsigned_abs())),
        Err(error) if matches!(fault::sql_state(&error).as_deref(), Some("42P01" | "3F000")) => Ok(None),
        Err(error) => Err(fault::store("read the schema's version")(error)),
    }
}

fn refuse_newer(pg: &Pg, version: u32) -> Result<(), Error> {
    let newest = MIGRATIONS.len() as u32;
    if version <= newest {
        return Ok(());
    }
    let detail = format!("schema `{}` is at version {version}, this code knows {newest}", pg.schema.name());
    Err(Error::new(code::SCHEMA_NEWER, detail))
}

async fn apply(pg: &Pg) -> Result<Migrated, Error> {
    let mut tx = pg.pool.begin().await.map_err(fault::store("begin a migration"))?;
    lock(pg, &mut tx).await?;
    let from = prepare_ledger(pg, &mut tx).await?;
    refuse_newer(pg, from)?;
    for (index, (name, sql)) in MIGRATIONS.iter().enumerate().skip(from as usize) {
        run(pg, &mut tx, sql).await?;
        pg.query(&pg.schema.fill(RECORD))
            .bind(index as i32 + 1)
            .bind(*name)
            .execute(&mut *tx)
            .await
            .map_err(fault::store("record a migration"))?;
    }
    tx.commit().await.map_err(fault::store("commit a migration"))?;
    let version = MIGRATIONS.len() as u32;
    Ok(Migrated { version, applied: version - from })
}

/// Lets one process migrate at a time. The lock ends with the transaction, so that no pooler can leak it.
async fn lock(pg: &Pg, tx: &mut Transaction<'_, Postgres>) -> Result<(), Error> {
    run(pg, tx, "SET LOCAL search_path = pg_catalog; SET LOCAL lock_timeout = '120s'").await?;
    pg.query(&SqlStr::from_static(LOCK))
        .bind(pg.schema.name())
        .execute(&mut **tx)
        .await
        .map_err(fault::store("lock the schema for a migration"))?;
    run(pg, tx, "SET LOCAL lock_timeout = '10s'").await
}

async fn prepare_ledger(pg: &Pg, tx: &mut Transaction<'_, Postgres>) -> Result<u32, Error> {
    // `CREATE SCHEMA IF NOT EXISTS` asks for the privilege to create even where the schema exists.
    let exists: bool = pg
        .scalar(&SqlStr::from_static(EXISTS))
        .bind(pg.schema.name())
        .fetch_one(&mut **tx)
        .await
        .map_err(fault::store("look for the schema"))?;
    if !exists {
        run(pg, tx, "CREATE SCHEMA {schema}").await?;
    }
    run(pg, tx, LEDGER).await?;
    let version: i32 = pg
        .scalar(&pg.schema.fill(READ))
        .fetch_one(&mut **tx)
        .await
        .map_err(fault::store("read the schema's version"))?;
    Ok(version.unsigned_abs())
}

async fn run(pg: &Pg, connection: &mut PgConnection, sql: &str) -> Result<(), Error> {
    raw_sql(pg.schema.fill(sql)).execute(connection).await.map(drop).map_err(|error| {
        let denied = fault::sql_state(&error).as_deref() == Some("42501");
        let error = fault::store("change the schema")(error);
        if denied { error.with_fix("run the migrations as a role that may create schemas and tables") } else { error }
    })
}
