#!/usr/bin/env bash
# The pgTAP files, or those that are named, against the extension as `make install` put it: on the server that PG* names or, where none answers,
# on a throwaway cluster of the PostgreSQL that pg_config belongs to. Needs prove (of Perl) and Debian's pgTAP.
set -euo pipefail
cd "$(dirname "$0")/.."

bindir=$("${PG_CONFIG:-pg_config}" --bindir)
database=work_ledger_installcheck_$$
cluster=
said=$(mktemp -d)

run_as_server() { if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi; }

finish() {
  rm -rf "$said"
  psql -qd postgres -c "drop database if exists $database" -c "drop database if exists ${database}_restored" || true
  if [ -n "$cluster" ]; then
    run_as_server "$bindir/pg_ctl" -D "$cluster/data" -m immediate stop >/dev/null || true
    rm -rf "$cluster"
  fi
}

if ! psql -qd postgres -c 'select 1' >/dev/null 2>&1; then
  cluster=$(mktemp -d)
  [ "$(id -u)" = 0 ] && chown postgres "$cluster"
  run_as_server "$bindir/initdb" -D "$cluster/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >/dev/null
  run_as_server "$bindir/pg_ctl" -D "$cluster/data" -w -l "$cluster/log" \
    -o "-c listen_addresses='' -c unix_socket_directories='$cluster' -c fsync=off" start >/dev/null
  export PGHOST=$cluster PGUSER=postgres
fi
trap finish EXIT

psql -qd postgres -c "create database $database"
graphile-worker --schema-only --connection "postgresql:///$database" >/dev/null
psql -q -v ON_ERROR_STOP=1 -d "$database" <<SQL
create extension pgtap;
create table sessions (of text); -- what an application may have
create extension work_ledger;
set search_path to work_ledger, public;
\i test/sql/_fixtures.sql
alter database $database set search_path to work_ledger, work_test, public;
select 'PostgreSQL ' || current_setting('server_version') || ', work_ledger ' || work_ledger_version();
SQL
# As in test/sql.test.ts each file rolls back what it did and the next is played on the same connection, which knows the functions already; those
# that ask about the server have one of their own. What a file says goes to a file of its name, empty until it is played, for prove to read.
mapfile -t files < <({ [ $# = 0 ] && find test/sql -name '*.test.sql' || printf '%s\n' "$@"; } | sort)
declare -A is_alone
while read -r file; do is_alone[$file]=1; done < <(node test/ofServer.ts "${files[@]}")
for file in "${files[@]}"; do
  mkdir -p "$said/${file%/*}" && : >"$said/$file"
  before='reset session authorization; reset all; deallocate all; select pg_advisory_unlock_all(); unlisten *;' after=
  [ -z "${is_alone[$file]:-}" ] || before='\connect' after='\connect'
  printf '%s\n' '\o /dev/null' "$before" "\o $said/$file" "\i $file" '\o /dev/null' 'rollback;' "$after"
done | psql -qXAt -d "$database" 2> >(grep -v 'no transaction in progress' >&2)
(cd "$said" && prove --exec cat --recurse --ext .sql test)

server=$(psql -qAt -d "$database" -c "select current_setting('server_version_num')::int / 10000") dumps=$(pg_dump --version | sed -E 's/[^0-9]*([0-9]+).*/\1/')
if ((dumps < server)); then
  echo "skipped - a dump restores with its rows: pg_dump $dumps refuses a server of version $server"
  exit 0
fi

# A dump restores with its rows: one row at least in every table, the same rows afterwards.
psql -q -v ON_ERROR_STOP=1 -d "$database" -f test/everyTable.sql -c "select ledger_chain_save(true), person_add('Ann')" >/dev/null
rows() { # database
  psql -qAt -d "$1" -c "select relname from pg_class where relnamespace = 'work_ledger'::regnamespace and relkind = 'r' and relpersistence = 'p' order by 1" |
    while read -r table; do psql -qAt -d "$1" -c "select '$table', replace(t::text, E'\n', ' ') from work_ledger.$table t where (to_jsonb(t) ->> 'is_builtin') is distinct from 'true' order by 2"; done
}
psql -qd postgres -c "create database ${database}_restored"
pg_dump "$database" | psql -q -v ON_ERROR_STOP=1 -d "${database}_restored" >/dev/null
psql -qd postgres -c "alter database ${database}_restored set search_path to work_ledger, public"
before=$(rows "$database") after=$(rows "${database}_restored")
tables=$(cut -d'|' -f1 <<<"$before" | sort -u | wc -l)
all=$(psql -qAt -d "$database" -c "select count(*) from pg_class where relnamespace = 'work_ledger'::regnamespace and relkind = 'r' and relpersistence = 'p'
  and relname not in ('erasing', 'ledger_roles')") # the one is empty but within an erasing transaction; roles belong to the server
diff <(echo "$before") <(echo "$after") || { echo 'not ok - a dump restores with its rows'; exit 1; }
for checked in "$database" "${database}_restored"; do
  psql -qAt -d "$checked" -c 'select place, problem from work_ledger.ledger_verify()' | { ! grep .; } || { echo "not ok - the chains hold in $checked"; exit 1; }
done
[ "$tables" = "$all" ] || { echo "not ok - $tables of $all tables had rows to restore:"; cut -d'|' -f1 <<<"$before" | sort -u; exit 1; }
psql -qAt -d "${database}_restored" -c "select seq from work_submit('analyze', 'After the restore') w, ledger_append(w.id, 'note', 'goes on')" | grep -qx 1 ||
  { echo 'not ok - the restored ledger goes on'; exit 1; }
echo "ok - a dump of $all tables restores with its rows, its chains hold, and the ledger goes on"
