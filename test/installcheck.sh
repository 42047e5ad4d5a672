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
find test/sql -name '*.test.sql' | sort | xargs pg_prove --dbname "$database" --ext .sql

# A dump restores with its rows: one row at least in every table, the same rows afterwards.
psql -q -v ON_ERROR_STOP=1 -d "$database" >/dev/null <<'SQL'
select ability_register('look', 'Looks.', '{"type": "object"}', 'pure', 'safe', p_touches => '[{"key": "at", "action": "read"}]');
select ability_register('erase', 'Erases.', '{"type": "object"}', 'unsafe', 'dangerous');
select faculty_save('{"name": "worker", "accepts": ["analyze"], "orient": {"command": "true"}, "budget": {"calls": 100}, "engage": {"tools": ["look", "erase"], "require_approval": "dangerous", "elide_budget": 0, "compact_keep_recent": 0}}');
select ledger_append((work_submit('other', 'Something else')).id, 'finding', 'Found elsewhere');
select ledger_data_schema_save('note', '{"type": "object"}');
select session_alias('also', (session_create('main')).label);
select id from work_submit('analyze', 'Find why the nightly import is slow') \gset
select lease_renew('worker-1', '{}', '{}');
do $do$
declare
  v_item uuid := (select id from work_items where work_type = 'analyze');
  v_lease uuid;
  v_turn uuid;
  v_call json;
begin
  for v_n in 1..3 loop -- the step of the second response closes the block of the first
    v_lease := (focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
    perform iteration_begin(v_item, v_lease);
    perform hook_record(v_item, v_lease, h.id, '{"exit_code": 0}') from hook_runs h where v_n = 1;
    v_turn := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
    perform turn_record(v_item, v_lease, v_turn, format('{"content": [
      {"type": "tool_use", "id": "a", "name": "look", "input": {"at": "a.ts"}},
      {"type": "tool_use", "id": "b", "name": "ledger_append", "input": {"entry_type": "%s", "content": "Looked"}}], "stop_reason": "tool_use"}',
      case v_n when 2 then 'step' else 'note' end)::json);
    perform tool_call_settle(v_item, v_lease, k.id, repeat('seen ', 20000)) from tool_calls k where k.turn_id = v_turn and tool_name = 'look';
    perform tool_call_execute(v_item, v_lease, k.id) from tool_calls k where k.turn_id = v_turn and tool_name = 'ledger_append';
    perform iteration_finish(v_item, v_lease);
  end loop;
  v_lease := (focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
  perform work_complete((spawn_child_work(v_item, 'analyze', 'A part of it', p_lease => v_lease)).id, 'Found');
  perform turn_workspace_set(v_turn, 'commit 3f2a'), journal_log(v_item, 'user_feedback', '{"message": "good"}'), checkpoint_create(v_item);
  perform message_lints_save(id, '[{"message": "unused"}]') from messages limit 1;
  perform session_import('{"format": "codex", "sessionId": "s", "exchanges": [], "raw": [{"line": 1, "reason": "event", "content": "{}"}]}');
  perform iteration_release(v_item, v_lease);
  perform model_save('claude-sonnet-5-5', 200000), context_compact(v_item);
  v_lease := (focus_claim(v_item, 'worker-1') ->> 'lease')::uuid;
  v_turn := (iteration_begin(v_item, v_lease) ->> 'turn_id')::uuid;
  perform turn_record(v_item, v_lease, v_turn, '{"content": [{"type": "tool_use", "id": "c", "name": "erase", "input": {}}], "stop_reason": "tool_use"}');
end
$do$;
select count(*) from work_metrics_take();
select trace_take(id) from foci order by id limit 1;
select ledger_append((work_submit('other', 'Something secret')).id, 'note', 'The key is sk-' || 'ant-api03-' || repeat('aB3_', 10));
select ledger_retract(work_item_id, seq, 'It was another key') from work_ledger where content ~ 'The key is';
select retention_policy_save('3650 days'), work_retention_run(), work_sweep();
insert into retention_runs (root_id, error) select id, 'the export failed' from work_items where work_type = 'analyze' limit 1;
select ledger_chain_save(true);
select id from work_submit('other', 'Something that goes') \gset
select work_complete(:'id', 'Gone');
select count(*) from work_erase(:'id', 'It was to go');
SQL
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
