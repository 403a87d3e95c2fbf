-- $1 worker
WITH renewed AS (
    UPDATE {schema}.workers
    SET lease_until = clock_timestamp() + lease
    WHERE id = $1
        AND lease_until > clock_timestamp()
    RETURNING id
)
SELECT
    ARRAY(
        SELECT running.id
        FROM {schema}.running
        WHERE worker = $1
            AND (cancel_requested OR roll_back)
            AND NOT roll_back
    ) AS cancel,
    ARRAY(
        SELECT running.id
        FROM {schema}.running
        WHERE worker = $1
            AND (cancel_requested OR roll_back)
            AND roll_back
    ) AS roll_back
FROM renewed
