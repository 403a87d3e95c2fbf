-- $1 name
SELECT
    id,
    name,
    key,
    tenant,
    payload::text AS payload,
    published_at,
    expires_at
FROM {schema}.events
WHERE name = $1
    AND expires_at > pg_catalog.clock_timestamp()
ORDER BY published_at DESC, id DESC
LIMIT 1000
