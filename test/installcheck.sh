#!/usr/bin/env bash
# The pgTAP files against the extension as `make install` put it: on the server that PG* names or, where none answers,
# on a throwaway cluster of the PostgreSQL that pg_config belongs to. Needs pg_prove and pgTAP from Debian.
set -euo pipefail
cd "$(dirname "$0")/.."

bindir=$("${PG_CONFIG:-pg_config}" --bindir)
database=work_ledger_installcheck_$$
cluster=

run_as_server() { if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi; }

finish() {
  psql -qd postgres -c "drop database if exists $database" || true
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
psql -q -v ON_ERROR_STOP=1 -d "$database" <<SQL
create extension pgtap;
create schema ledger;
create extension work_ledger schema ledger;
alter database $database set search_path to ledger, public;
select 'PostgreSQL ' || current_setting('server_version') || ', work_ledger ' || ledger.work_ledger_version();
SQL
pg_prove --dbname "$database" --recurse --ext .sql test/sql
