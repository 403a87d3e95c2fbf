-- $1 worker
SELECT
    id,
    attempt,
    token
FROM {schema}.running
WHERE worker = $1
ORDER BY id
