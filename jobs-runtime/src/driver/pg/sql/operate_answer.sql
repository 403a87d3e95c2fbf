-- $1 job, $2 name, $3 key, $4 status, $5 output, $6 error code, $7 error text, $8 stop
UPDATE {schema}.steps
SET status = $4,
    finished_at = pg_catalog.statement_timestamp(),
    output = $5::json,
    error_code = $6,
    error_text = $7,
    caller_fix = NULL,
    stop = $8
WHERE job = $1
    AND role = 0
    AND name = $2
    AND key = $3
