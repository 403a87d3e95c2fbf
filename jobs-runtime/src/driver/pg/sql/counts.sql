WITH live AS (
    SELECT queue, kind, 1::int2 AS state, pg_catalog.count(*) AS jobs FROM {schema}.ready GROUP BY queue, kind
    UNION ALL
    SELECT queue, kind, 2::int2, pg_catalog.count(*) FROM {schema}.running GROUP BY queue, kind
    UNION ALL
    SELECT queue, kind, CASE WHEN suspended THEN 3::int2 ELSE 0::int2 END, pg_catalog.count(*)
    FROM {schema}.waiting
    GROUP BY queue, kind, suspended
    UNION ALL
    SELECT queue, kind, 5::int2, pg_catalog.count(*) FROM {schema}.dead GROUP BY queue, kind
),
-- Workers of one program serve the same.
programs AS (
    SELECT DISTINCT queues::text AS queues, kinds
    FROM {schema}.workers
    WHERE lease_until > pg_catalog.clock_timestamp()
),
served AS (
    SELECT DISTINCT queue ->> 0 AS queue, kind
    FROM programs,
        pg_catalog.json_array_elements(queues::json) AS queue,
        pg_catalog.unnest(kinds) AS kind
)
SELECT
    queue,
    kind,
    state,
    jobs,
    (queue, kind) IN (SELECT queue, kind FROM served) AS has_worker
FROM live
ORDER BY queue, kind, state
