-- $1 job
SELECT stage
FROM {schema}.dead
WHERE id = $1
FOR UPDATE
