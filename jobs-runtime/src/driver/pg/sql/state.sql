SELECT {schema}.state_of($1)
