-- $1 job, $2 role, $3 name, $4 key
SELECT
    once,
    status
FROM {schema}.steps
WHERE job = $1
    AND role = $2
    AND name = $3
    AND key = $4
FOR UPDATE
