-- A session for another program has what the next request would hold: the task, stubs in place of closed blocks, then calls and results as they were.
begin;
select plan(9);

select agent('{"tools": ["look"], "ledger_nudge_interval": 0, "elide_budget": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');
select play('[[["look", "saw a"], ["finding", "The index is missing"]], [["step", "Looked"]], [["look", "saw b"]], [["step", "Looked again"]], [["look", "saw c"]], [["step", "Looked more"]], [["look", "saw d"]], [["look", "saw e"]], ["Done."]]');
create temporary table line as select n, record, record #>> '{message,role}' as role, record #> '{message,content}' as content, left_out from session_export(item()::text, 'claude-code', '/work');
create temporary table block as
  select l.n, l.role, b.value as block from line l, json_array_elements(case json_typeof(l.content) when 'string' then json_build_array(json_build_object('type', 'text', 'text', l.content)) else l.content end) b where l.record is not null;
create temporary table held as
  select row_number() over (order by m.n, b.n) as n, b.value as block
    from json_array_elements(_messages((select head_turn_id from sessions where label = item()::text), _elision_chain((select t.elision_id from sessions s join turns t on t.id = s.head_turn_id where label = item()::text)), '')::json) with ordinality as m(value, n),
         json_array_elements(m.value -> 'content') with ordinality as b(value, n);

select is((select string_agg(block ->> 'text', '|' order by n) from block where block ->> 'type' = 'text' and block ->> 'text' not like '[work-ledger] A call%'), (select string_agg(block ->> 'text', '|' order by n) from held where block ->> 'type' = 'text'), 'it says what the next request would say');
select alike((select string_agg(block ->> 'text', '|' order by n) from block), '%completed step 1: Looked%', 'closed blocks are their stubs');
select unalike((select string_agg(record::text, '|') from line), '%saw a%', 'and what was cut stays out');
select is((select count(*) from line where record::text like '%cache_control%'), 0::bigint, 'no mark of a cache is carried');
select is((select array_agg(r.record ->> 'parentUuid' order by r.n) from line r where r.record is not null), (select array_agg(lag order by n) from (select n, lag(record ->> 'uuid') over (order by n) from line where record is not null) x), 'each record hangs on the one before it');
select is((select count(*) from line where record is not null and (record ->> 'timestamp' is null or record ->> 'sessionId' !~ '^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$' or record ->> 'cwd' <> '/work')), 0::bigint, 'each has a time, the id of the session and the directory');
select is((select array_agg(distinct record ->> 'isMeta') from line where role = 'user' and record::text like '%completed step 1%'), array['true'], 'what no person said is marked');
select is((select record::jsonb - 'uuid' from session_export(item()::text, 'claude-code', '/work') where n = 1), (select record::jsonb - 'uuid' from line where n = 1), 'the same session has the same id');
select is((select count(*) from session_export(item()::text, 'codex') where record is not null and (record ->> 'timestamp' is null or record ->> 'type' not in ('session_meta', 'response_item', 'event_msg'))), 0::bigint, 'each line for Codex has a time and a type that it knows');

select * from finish();
rollback;
