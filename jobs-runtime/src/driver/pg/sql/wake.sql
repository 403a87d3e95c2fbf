-- $1 the run behind which it begins, $2 limit
SELECT woken, last
FROM {schema}.sweep_waits($1, $2)
