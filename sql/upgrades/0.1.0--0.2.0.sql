-- Entries, turns and items are chained by hashes: those of work items made from now on. Nobody can vouch for what was recorded
-- before, so earlier items have no chain (fences.salt and work_ledger.link stay null). A heartbeat says of which version its worker is.

alter table fences add column salt uuid;
alter table foci add column offered json;
alter table turns add column erased_hash bytea;
alter table turns add column reserved_input_tokens bigint;
update turns t
   set reserved_input_tokens = t.reserved_tokens - (c.config ->> 'max_tokens')::bigint
  from turn_configs c
 where c.content_hash = t.config_hash and t.status in ('pending', 'streaming') and t.reserved_tokens is not null;
alter table elisions add column standing json;
alter table work_ledger add column link bytea;
alter table work_ledger alter column link set default '';

create table seals (
  work_item_id uuid not null,
  n integer not null,
  turn_id uuid,
  message_count integer not null default 0,
  call_count integer not null default 0,
  ledger_count integer not null,
  link bytea not null,
  created_at timestamptz not null default _now(),
  words bytea,
  primary key (work_item_id, n)
);

create table ledger_chain (
  is_only boolean primary key default true,
  is_on boolean not null,
  updated_at timestamptz not null default _now(),
  constraint there_is_one_row check (is_only)
);

create table installed_code (
  kind text not null,
  name text not null,
  digest text not null,
  server integer not null,
  primary key (kind, name),
  constraint kind_is_known check (kind in ('function', 'trigger', 'view'))
);

-- What functions lock instead of advisory locks, which any login could take.
create table locks (
  purpose text,
  place smallint,
  primary key (purpose, place)
);
insert into locks
select p, 0 from unnest('{sweep,retention,hint,faculties,abilities,roles}'::text[]) p
union all
select p, n from unnest('{slots,spawns,trees,branches,conversations,checkpoints}'::text[]) p cross join generate_series(0, 63) n;

-- Who decides in a name of their own.
create table people (
  id uuid primary key default _uuidv7(),
  name text not null,
  token_hash bytea not null unique,
  created_at timestamptz not null default _now(),
  revoked_at timestamptz,
  constraint name_is_not_blank check (name ~ '\S')
);
create unique index people_current on people (name) where revoked_at is null;
alter table people enable row level security;
alter table approvals add column person text;
alter table models add column takes jsonb;
alter table models add constraint takes_is_an_object check (jsonb_typeof(takes) = 'object');
alter table elisions add column thinking_depth integer;
alter table models add column cache_write_1h numeric not null default 2;
alter table models add constraint cache_write_1h_is_a_multiple check (cache_write_1h between 0 and 100);
alter table turn_configs add column cache_ttl text generated always as (coalesce(config #>> '{cache_control,ttl}', '5m')) stored;
alter table work_usage add column hour_write_tokens bigint not null default 0;
alter table inbox add column person text;
create table linked_digests (
  name text not null,
  read_as text not null,
  version text not null,
  digest text not null,
  heard_at timestamptz not null default _now(),
  primary key (name, read_as)
);
alter table linked_digests enable row level security;

comment on table linked_digests is 'What each linked ledger said when it answered last, told for an hour where it does not answer; see awareness_digest_linked().';
comment on column linked_digests.name is 'The link, see v_ledger_links.';
comment on column linked_digests.read_as is 'The role whose user mapping it was read with: nobody else is told.';
comment on column linked_digests.version is 'The version of that ledger.';
comment on column linked_digests.digest is 'Its digest: words of other agents.';
comment on column linked_digests.heard_at is 'When it said so.';

-- Where a clock is set back, see _clock_set_back().
alter table sweep_walks drop constraint walk_is_known;
alter table sweep_walks add constraint walk_is_known check (walk in ('due', 'waiting', 'jobs', 'clock'));

comment on column awareness_shown.seq is 'The ledger entry; 0: the item was over; -1: it was not over; -2: it works on the file in path; -3: it was queued.';

-- Where work may be driven: at the hosts of its faculty, and at the Docker daemon that has its files.
alter table work_items add column workspace_daemon text;
alter table work_items add column workspace_host text;
alter table work_items add column is_stranded boolean not null default false;
alter table workers add column daemon text;

-- Who named a directory of the workers' hosts. Of faculties nobody knows: they may use what lies within the workers' own roots, until they are saved again.
alter table work_items add column workspace_dir_by name;
alter table faculties add column saved_by name;
update work_items set workspace_dir_by = submitted_by where workspace_dir is not null;

create index faculties_hosts on faculties (name) where is_current and config -> 'hosts' <> '[]';

-- SQL functions of users run as a role of their own, and find what they name where they always do: in their own schema, and in those that
-- sessions of this database begin with.
alter table ledger_roles drop constraint kind_is_known;
alter table ledger_roles add constraint kind_is_known
  check (kind in ('owner', 'reader', 'client', 'agent', 'approver', 'worker', 'admin', 'tools', 'console'));
alter table abilities add column search_path name[];
do $do$
declare
  v_path text := current_setting('search_path');
  v_schemas name[];
begin
  perform set_config('search_path', coalesce((
    select substr(c, length('search_path=') + 1)
      from pg_db_role_setting s
      join pg_database d on d.oid = s.setdatabase
     cross join unnest(s.setconfig) c
     where d.datname = current_database() and s.setrole = 0 and starts_with(c, 'search_path=')), 'public'), true);
  v_schemas := pg_catalog.current_schemas(false);
  perform pg_catalog.set_config('search_path', v_path, true);
  update abilities a
     set search_path = array(
           select n.nspname
             from (select s.name, s.n from unnest(v_schemas) with ordinality as s(name, n)
                    union all
                   select (parse_ident(a.function_name))[1], 1000) u
             join pg_namespace n on n.nspname = u.name
            where n.nspname !~ '^pg_(toast_)?temp'
            group by n.nspname
            order by min(u.n))
   where a.implementation = 'sql' and not a.is_builtin;
end
$do$;
alter table abilities add constraint functions_of_users_have_a_path check ((implementation = 'sql' and not is_builtin) = (search_path is not null));
drop function if exists ability_register(text, text, json, text, text, regprocedure, json, json, text);

create type context_state as (
  item work_items,
  focus foci,
  engage jsonb,
  head turns,
  cuts elisions[],
  shown turns[]
);

create type iteration_flags as (
  last turns,
  head turns,
  is_head boolean,
  is_watched boolean,
  is_limited boolean,
  is_cooling boolean,
  is_written_to boolean,
  is_continued boolean,
  retracted_at timestamptz,
  registry text,
  written_iteration integer,
  call_count integer,
  open_count integer,
  waiting_count integer,
  done_call_id uuid,
  failed_check_id uuid,
  has_news boolean,
  boundary text,
  word_chars integer,
  result_chars integer,
  raw_chars integer
);

create index seals_turn on seals (turn_id) where turn_id is not null;
drop index turns_completed, turns_answered, session_history_label;
create index turns_completed on turns (work_item_id, completed_at) where completed_at is not null;
create index turns_answered on turns (completed_at) where completed_at is not null;
alter table session_history drop constraint session_history_pkey, add primary key (session_label, id);
create index foci_session on foci (session_label);

-- What digests tell of: decisions, and work that waits; and whether anything is new.
drop index work_items_running, work_items_root_running;
create index work_items_running on work_items (started_at desc) where state = 'running';
create index work_items_root_running on work_items (started_at desc) where state = 'running' and parent_id is null;
create index work_items_waiting on work_items (started_at desc) where state = 'waiting';
create index work_items_root_waiting on work_items (started_at desc) where state = 'waiting' and parent_id is null;
create index work_items_changed on work_items ((coalesce(resolved_at, started_at, created_at)));
create index work_ledger_decisions on work_ledger (created_at desc) where entry_type = 'decision';
create index work_ledger_root_decisions on work_ledger (created_at desc) where entry_type = 'decision' and not is_child_work;
create index work_ledger_told on work_ledger (created_at, work_item_id)
  where entry_type in ('plan', 'decision', 'finding', 'error') and not is_inherited;

-- An item that is to pause is driven, and paused when its lease ends; it was when the next iteration was claimed.
update work_items w
   set state = 'paused', is_pausing = false, slot_faculty = null
 where w.is_pausing and w.resolved_at is null and not exists (select from fences e where e.work_item_id = w.id and e.lease_hash is not null);
alter table work_items add constraint only_driven_items_are_to_pause check (not is_pausing or state in ('claimed', 'running'));

-- With them hashes of erased words could be told from others; the chain keeps its salts in fences.
drop table content_salts;
drop function if exists _salted_hash(uuid, text[]);
drop function if exists _replay_names(text[], turns, turns[], integer);
drop function if exists _block_stub(turns[], integer, integer);
drop function if exists _newest_keep(uuid);
drop function if exists _summary_attempt(uuid);
drop function if exists lease_renew(text, uuid[], uuid[], text, integer, uuid, integer);
drop function if exists _jobs_tidy();
drop function if exists _import_known(uuid, turns, text[]);
drop function if exists _job_task(uuid);
drop function if exists _job_waiting(text);
drop function if exists _branch_lock(uuid);
drop function if exists _erase_gate(uuid);
drop function if exists _compaction_due(work_items, foci, jsonb, turns, turns, elisions[], text, boolean);
drop function if exists _compaction_ladder(work_items, foci, jsonb, turns, elisions[], text, boolean, text, integer, bigint);
drop function if exists _compaction_begun(work_items, foci, jsonb, text, integer);
drop function if exists _ledger_cut(work_items, foci, turns, elisions, turns[], integer, text, numeric);
drop function if exists _compaction_cut(work_items, foci, turns, elisions, turns[], integer, text, text, integer, text);
drop function if exists _floor_cut(work_items, foci, turns, elisions, turns[], text, text, integer);
drop function if exists _strategy_cut(work_items, foci, jsonb, turns, elisions[], turns[], integer, text, integer, text[]);
drop function if exists _selective_cut(work_items, foci, turns, elisions, turns[], integer);
drop function if exists _approval_settle(tool_calls, approvals);
drop function if exists _without_slot(work_items, text, text, timestamptz);
drop function if exists _budget_reserve(work_items, foci, jsonb, turns);
drop function if exists _lease_end(work_items);
drop function if exists _lease_drop(work_items, jsonb);
drop function if exists _enqueue_forgotten(timestamptz, text[], uuid[], interval);
drop function if exists _worked_by(uuid);
drop function if exists _warm_up();
drop function if exists _focus_widen(foci, turns, integer);
drop function if exists _response_store(turns, json, boolean);
drop function if exists _iteration_begin(work_items, foci, jsonb, uuid);
drop function if exists _went_on(work_items, foci, jsonb, uuid);
drop function if exists _messages(uuid, elisions[], text);
drop function if exists ledger_append(uuid, text, text, jsonb, uuid, text, text[]);
drop function if exists _ledger_format(uuid, integer, integer, integer, boolean);
drop function if exists _branch_message(turns);
drop function if exists _next_steps(work_items, text[], text[], text[], text);
drop function if exists _awareness_tell(work_items, foci, jsonb, turns);
drop function if exists _awareness_settings(jsonb);
drop function if exists journal_session_open(text, text);
drop function if exists _awareness_items(uuid, jsonb, uuid, timestamptz, timestamptz);
drop function if exists _awareness_told(uuid, jsonb, uuid, timestamptz);
drop function if exists _items_of(text, boolean, uuid, uuid, timestamptz, integer);
drop function if exists _entries_of(text, boolean, uuid, uuid, timestamptz, integer);
drop function if exists _context_next(work_items, foci, jsonb);
drop function if exists _elision_due(work_items, foci, jsonb, turns, elisions[], text[]);
drop function if exists _engine_message(turns);
drop function if exists _entries_made(uuid[]);
drop function if exists _exchange_sizes(uuid);
drop function if exists _next_block(turns, uuid);
drop function if exists _next_tokens(jsonb, turns, turns, elisions, text, bigint);
drop function if exists _nudge(work_items, foci, turns, integer, uuid);
drop function if exists _retractions_tell(work_items, foci, turns);
drop function if exists _said_done(turns, integer);
drop function if exists _tokens_new(uuid[]);
drop function if exists _touch_rules_of(text);
drop function if exists _touches_of(text, json, text);
drop function if exists _turns_since(turns, uuid);
drop function if exists _calibrate(turns);
drop function if exists _turn_create(work_items, foci, jsonb, uuid);
drop function if exists context_compact(uuid, text);
drop function if exists model_save(text, integer, numeric);
drop function if exists _price(text, bigint, bigint, bigint, bigint);
drop function if exists _relative_prices(text);
drop function if exists _budget_room(budgets, text, bigint);
drop function if exists _cache_seconds(numeric);
drop function if exists _turn_config(foci, jsonb, text);
drop function if exists _config_of(foci, jsonb, text);
drop function if exists _message_parts(uuid, elisions[], text, uuid);
drop function if exists _with_breakpoint(text);
drop function if exists _told(uuid, boolean);
drop function if exists _told_in(uuid, boolean);
drop trigger if exists search_retracted on work_ledger;

@functions@

-- What stays as 0.1.0 made it.
insert into installed_code (kind, name, digest, server)
select c.kind, c.name, c.digest, current_setting('server_version_num')::integer / 10000
  from _code_now() c
 where c.kind = 'function' and split_part(c.name, '(', 1) in (
         '_now', '_ledger_entry_types', '_trust_classes', '_budget_resources', '_work_sources', '_search_sources', '_search_text')
    or c.kind = 'trigger' and c.name in ('check_compaction on turns', 'check_head on sessions', 'check_turn on turns')
    on conflict do nothing;
