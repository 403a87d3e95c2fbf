//! The schema that the migrations make is the one that is committed.

use super::driver;
use crate::support::Db;
use expect_test::expect_file;

/// One line per thing, from the catalogs: what `pg_dump` prints differs from version to version.
const LINES: &str = "
    WITH space AS (SELECT oid FROM pg_namespace WHERE nspname = 'jobs'),
    tables AS (
        SELECT c.oid, c.relname, c.relkind, c.reloptions
        FROM pg_class AS c, space
        WHERE c.relnamespace = space.oid AND c.relkind IN ('r', 'p', 'v')
    )
    SELECT line FROM (
        SELECT 1, relname::text, 0, format('%s %s%s', CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, relname,
            coalesce(' WITH (' || array_to_string(reloptions, ', ') || ')', ''))
        FROM tables
        UNION ALL
        SELECT 1, t.relname, a.attnum::int4, format('    %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
            CASE WHEN l.collname IN ('C') THEN ' COLLATE \"C\"' ELSE '' END,
            CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
            coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), ''))
        FROM tables AS t
        JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
        LEFT JOIN pg_attrdef AS d ON d.adrelid = t.oid AND d.adnum = a.attnum
        UNION ALL
        SELECT 2, i.indexname::text, 0, i.indexdef FROM pg_indexes AS i WHERE i.schemaname = 'jobs'
        UNION ALL
        SELECT 3, s.sequencename::text, 0, format('SEQUENCE %s MAXVALUE %s', s.sequencename, s.max_value)
        FROM pg_sequences AS s WHERE s.schemaname = 'jobs'
        UNION ALL
        SELECT 4, p.proname::text, 0, format('FUNCTION %s(%s) RETURNS %s%s BODY %s', p.proname,
            pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
            coalesce(' SET ' || array_to_string(p.proconfig, ', '), ''), md5(p.prosrc))
        FROM pg_proc AS p, space WHERE p.pronamespace = space.oid
    ) AS lines (part, name, place, line)
    ORDER BY part, name COLLATE \"C\", place";

#[tokio::test]
async fn the_migrations_make_the_committed_schema() {
    let db = Db::new();
    let driver = driver(&db).await;
    let lines: Vec<String> = sqlx::query_scalar(LINES).fetch_all(driver.pool()).await.expect("the catalogs answer");
    expect_file!["../../jobs-runtime/migrations/schema.sql"].assert_eq(&format!(
        "-- The schema that the migrations make, as the catalogs tell it. Written by a test: UPDATE_EXPECT=1.\n{}\n",
        lines.join("\n")
    ));
}
