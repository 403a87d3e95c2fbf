-- $1 job
WITH gone AS (
    DELETE FROM {schema}.steps
    WHERE job = $1
        AND role <> 3
)
INSERT INTO {schema}.steps AS s (
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
VALUES (
    $1,
    pg_catalog.statement_timestamp(),
    pg_catalog.statement_timestamp(),
    0,
    0,
    1,
    3,
    11,
    4,
    false,
    '',
    ''
)
ON CONFLICT (job, role, name, key) DO UPDATE
SET finished_at = excluded.finished_at,
    tries = s.tries + 1
