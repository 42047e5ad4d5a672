#!/usr/bin/env bash
# psql alone, on Debian's PostgreSQL 15 with the extension's files (make install): README's quickstart, the roles of docs/operating.md.
# CLONE: where these are.
. "$(dirname "${BASH_SOURCE[0]}")/terminal.sh"
clone=$1

# What the machine has: a server, and a database of one's own.
export PATH=/usr/lib/postgresql/15/bin:$PATH PGDATA=$HOME/data PGHOST=$HOME PGDATABASE=mine
initdb --auth=trust --encoding=UTF8 >/dev/null && pg_ctl start -s -w -l "$HOME/log" -o "-k '$HOME' -c listen_addresses=''" >/dev/null || fail 'PostgreSQL does not start'
trap 'pg_ctl stop -s -m fast; closeTerminal' EXIT
createdb

type 'psql -c "create extension work_ledger"'
sees 'CREATE EXTENSION'
type 'psql -c "alter database mine set search_path to work_ledger, public"'
# FILE HEADING: the SQL below it.
sqlBelow() { sed -n "/^## $2\$/,/^## /p" "$clone/$1" | sed -n '/^```sql$/,/^```$/p' | grep -v '^```'; }
sqlBelow README.md 'From psql' >"$HOME/quickstart.sql"
[ "$(wc -l <"$HOME/quickstart.sql")" -ge 3 ] || fail 'README has no block of SQL below "From psql"'
while IFS= read -r statement; do
  type "psql -c \"${statement//ITEM/${id:-}}\""
  : "${id:=$(printed)}"
done <"$HOME/quickstart.sql"
sees ' FINDINGS: +\+' ' - The index on orders\(created_at\) is never used'
type "psql -c \"select state, outcome_data ->> 'summary' as outcome from work_complete('$id', 'The import used a sequential scan')\""
sees ' completed \| The import used a sequential scan'
type "psql -Atc \"select says from ledger_help('work_submit')\""
sees 'Adds a work item and returns its row: .*'
type 'psql -c "select description, doing, why from v_now"'
sees '\(0 rows\)'
type 'psql -c "create role app login"'
sqlBelow docs/operating.md Roles >roles.sql
type 'psql -f roles.sql'
sees 'GRANT ROLE'
misses ERROR
type "psql -U app -c \"select id, state from work_submit('analyze', 'As an ordinary role')\""
sees ' [-0-9a-f]+ \| queued'
