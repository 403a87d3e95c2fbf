-- The transaction that may have recorded the step has locked the row of its run, if it is open still.
-- $1 job, $2 attempt, $3 token
SELECT id
FROM {schema}.running
WHERE id = $1
    AND attempt = $2
    AND token = $3
FOR NO KEY UPDATE
