-- $1 name, $2 lease in seconds, $3 queues, $4 kinds, $5 versions
INSERT INTO {schema}.workers (
    id,
    lease_until,
    lease,
    started_at,
    name,
    queues,
    kinds,
    versions
)
SELECT
    nextval('{schema}.worker_ids'),
    statement_timestamp() + $2 * interval '1 second',
    $2 * interval '1 second',
    statement_timestamp(),
    $1,
    $3::json,
    $4,
    $5
RETURNING id
