-- $1 job
SELECT {schema}.wake_runs(ARRAY[$1::uuid])
