-- The slots whose last day has begun but whose jobs have not left yet; `at_once` says that the day is today and has more
-- than ten minutes left, and that the role may truncate.
WITH today AS (
    SELECT
        floor(extract(epoch FROM clock_timestamp()) / 86400)::int4 AS day,
        extract(epoch FROM clock_timestamp())::int8 % 86400 < 85800 AS has_time
),
last_days AS (
    SELECT
        s.slot,
        s.purged_day,
        today.day - ((today.day - s.slot) % 32) AS last_day,
        today.day,
        today.has_time
    FROM {schema}.history_slots AS s
    CROSS JOIN today
)
SELECT
    slot,
    last_day,
    last_day = day
        AND has_time
        AND has_table_privilege('{schema}.history_' || lpad(slot::text, 2, '0'), 'TRUNCATE') AS at_once
FROM last_days
WHERE purged_day < last_day
ORDER BY last_day
