-- $1 job
UPDATE {schema}.steps
SET tries = 0
WHERE job = $1
    AND role IN (1, 2)
