-- What failed is tried again: no attempt that starts is the one that it failed in.
-- $1 job
UPDATE {schema}.steps
SET attempt = 0
WHERE job = $1
