-- $1 job, $2 name, $3 key
SELECT pg_catalog.count(*)
FROM {schema}.steps
WHERE job = $1
    AND role = 0
    AND name = $2
    AND key = $3
    AND status = 4
