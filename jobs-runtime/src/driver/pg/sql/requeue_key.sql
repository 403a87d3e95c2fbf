-- $1 key, $2 job, $3 hold
SELECT holder
FROM {schema}.take_keys(ARRAY[$1::bytea], ARRAY[$2::uuid], ARRAY[$3::int2], ARRAY[NULL::float8], ARRAY[false])
WHERE holder <> job
