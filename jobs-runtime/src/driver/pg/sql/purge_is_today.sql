-- $1 day
SELECT floor(extract(epoch FROM clock_timestamp()) / 86400)::int4 = $1
