-- $1 slot, $2 day
SELECT slot
FROM {schema}.history_slots
WHERE slot = $1
    AND purged_day < $2
FOR UPDATE SKIP LOCKED
