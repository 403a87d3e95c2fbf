SELECT id
FROM {schema}.workers
WHERE lease_until <= clock_timestamp()
ORDER BY id
LIMIT 100
FOR UPDATE SKIP LOCKED
