SELECT nextval('{schema}.token_blocks')
