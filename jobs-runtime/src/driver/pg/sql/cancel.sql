-- $1 job, $2 whether its steps are undone, $3 seconds to keep, $4 code, $5 text and $6 stop of the failure that it unwinds from
SELECT {schema}.cancel_run($1, $2, $3, $4, $5, $6)
