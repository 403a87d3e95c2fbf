-- $1 job, $2 the code of what does not fit
SELECT
FROM {schema}.waiting
WHERE id = $1
    AND suspended
    AND park_code = $2
