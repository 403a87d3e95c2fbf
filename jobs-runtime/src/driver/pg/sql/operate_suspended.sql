-- $1 job
SELECT stage
FROM {schema}.waiting
WHERE id = $1
    AND suspended
FOR UPDATE
