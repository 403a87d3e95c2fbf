-- $1 job, $2 name, $3 key, $4 status
INSERT INTO {schema}.steps (
    job,
    started_at,
    finished_at,
    position,
    attempt,
    tries,
    role,
    kind,
    status,
    once,
    name,
    key
)
SELECT
    $1,
    pg_catalog.statement_timestamp(),
    pg_catalog.statement_timestamp(),
    1 + pg_catalog.max(position),
    (SELECT attempt FROM {schema}.dead WHERE id = $1),
    0,
    1,
    9,
    $4,
    false,
    $2,
    $3
FROM {schema}.steps
WHERE job = $1
ON CONFLICT (job, role, name, key) DO UPDATE
SET finished_at = excluded.finished_at,
    status = excluded.status,
    error_code = NULL,
    error_text = NULL,
    caller_fix = NULL,
    stop = NULL
