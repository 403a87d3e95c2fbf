SELECT
    w.id,
    w.name,
    w.queues::text,
    w.kinds,
    w.started_at,
    w.lease_until,
    (SELECT pg_catalog.count(*) FROM {schema}.running AS r WHERE r.worker = w.id) AS running
FROM {schema}.workers AS w
WHERE w.lease_until > pg_catalog.clock_timestamp()
ORDER BY w.id
