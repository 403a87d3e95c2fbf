-- $1 name, $2 key, $3 tenant, $4 taken ids, $5 the end of the wait, or NULL
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
    AND key = $2
    AND published_at < coalesce($5::timestamptz, 'infinity')
    AND (tenant IS NULL OR tenant = $3)
    AND expires_at > clock_timestamp()
    AND id <> ALL ($4::uuid[])
ORDER BY published_at, id
LIMIT 1
