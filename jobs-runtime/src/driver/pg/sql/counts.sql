WITH live AS (
    SELECT queue, kind, 1::int2 AS state, pg_catalog.count(*) AS jobs FROM {schema}.ready GROUP BY queue, kind
    UNION ALL
    SELECT queue, kind, 2::int2, pg_catalog.count(*) FROM {schema}.running GROUP BY queue, kind
    UNION ALL
    SELECT queue, kind, 0::int2, pg_catalog.count(*) FROM {schema}.waiting GROUP BY queue, kind
    UNION ALL
    SELECT queue, kind, 5::int2, pg_catalog.count(*) FROM {schema}.dead GROUP BY queue, kind
),
known AS (
    SELECT DISTINCT pg_catalog.unnest(kinds) AS kind
    FROM {schema}.workers
    WHERE lease_until > pg_catalog.clock_timestamp()
)
SELECT
    queue,
    kind,
    state,
    jobs,
    kind IN (SELECT kind FROM known) AS has_worker
FROM live
ORDER BY queue, kind, state
