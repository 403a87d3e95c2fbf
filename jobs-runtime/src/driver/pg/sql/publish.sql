-- $1 ids, $2 names, $3 keys, $4 tenants, $5 payloads, $6 seconds to keep, $7 whether queues are told with the commit
SELECT
    event,
    published,
    expires,
    untold
FROM {schema}.publish_events(
    $1::uuid[],
    $2::text[],
    $3::text[],
    $4::text[],
    $5::text[],
    $6::float8[],
    $7::boolean
)
