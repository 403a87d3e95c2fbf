-- $1 job, $2 channel
WITH asked AS (
    UPDATE {schema}.running
    SET cancel_requested = true
    WHERE id = $1
    RETURNING worker
)
SELECT pg_catalog.pg_notify($2, pg_catalog.concat('c', worker, ':', $1))
FROM asked
