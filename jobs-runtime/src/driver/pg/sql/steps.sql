-- $1 job
WITH live AS MATERIALIZED (
    SELECT *
    FROM {schema}.steps
    WHERE job = $1
)
SELECT
    name,
    key,
    kind,
    status,
    position,
    attempt,
    tries,
    once,
    output::text,
    error_code,
    error_text,
    caller_fix,
    stop,
    due_at,
    event,
    child,
    started_at,
    finished_at
FROM (
    SELECT * FROM live
    UNION ALL
    SELECT past.*
    FROM (
        SELECT steps
        FROM {schema}.history
        WHERE id = $1
            AND purge_at > pg_catalog.clock_timestamp()
            -- Settled before the history is read: it has an index in each of its partitions.
            AND (SELECT true FROM live LIMIT 1) IS NULL
        LIMIT 1
    ) AS ended
    CROSS JOIN LATERAL pg_catalog.json_populate_recordset(NULL::{schema}.steps, ended.steps) AS past
) AS recorded
ORDER BY position, role
