-- $1 job, $2 name, $3 key
DELETE FROM {schema}.steps
WHERE job = $1
    AND role = 0
    AND name = $2
    AND key = $3
