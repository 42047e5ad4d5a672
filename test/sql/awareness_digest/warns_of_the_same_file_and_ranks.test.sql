begin;
select plan(13);

select tool('edit_file', 'unsafe', 'moderate');
select tool('read_file');
create function pg_temp.faculty(p_name text, p_directory text, p_more jsonb default '{}') returns void language sql as $$
  select faculty_save(jsonb_build_object('name', p_name, 'accepts', array[p_name], 'awareness', '{"refresh_every": 1, "include_child_work": true}'::jsonb || p_more,
    'engage', jsonb_build_object('ledger_nudge_interval', 0, 'workspace', 'host', 'workspace_dir', p_directory, 'tools', array['edit_file', 'read_file'])));
$$;
select pg_temp.faculty('here', '/project'), pg_temp.faculty('beside', '/project'), pg_temp.faculty('elsewhere', '/other'),
       pg_temp.faculty('relevant', '/third', '{"rank_by": "relevance", "max_recent_findings": 2}');
create temporary table item as select name, work_submit(name, 'Work ' || name) as w from unnest(array['here', 'beside', 'elsewhere']) name;
create function pg_temp.touch(p_name text, p_tool text, p_path text) returns text language plpgsql as $$
declare
  v_id uuid := (select (w).id from item where name = p_name);
  v_lease uuid := (focus_claim(v_id, 'w') ->> 'lease')::uuid;
  v_stage json := iteration_begin(v_id, v_lease);
begin
  perform turn_record(v_id, v_lease, (v_stage ->> 'turn_id')::uuid, json_build_object('stop_reason', 'tool_use', 'content', json_build_array(
    json_build_object('type', 'tool_use', 'id', 'a', 'name', p_tool, 'input', json_build_object('path', p_path)))));
  perform tool_call_settle(v_id, v_lease, k.id, 'done') from tool_calls k where k.turn_id = (v_stage ->> 'turn_id')::uuid;
  perform iteration_finish(v_id, v_lease);
  return (select string_agg(m.m[1], '|') from regexp_matches(v_stage ->> 'request', 'Also at work on your files:\\n(.*?)\\n(?:\\n|</data)', 'g') m(m));
end
$$;

select is(pg_temp.touch('here', 'edit_file', 'src/a.js'), null, 'nothing before anybody named a file');
select is(pg_temp.touch('elsewhere', 'edit_file', 'src/a.js'), null, 'the same name elsewhere is another file');
select is(pg_temp.touch('beside', 'read_file', './src/a.js'), null, 'at its start an agent has no file yet');
select is(pg_temp.touch('here', 'read_file', 'src/b.js'), '- src/a.js: [Beside/beside] Work beside', 'who changes a file hears of who reads it');
select is(pg_temp.touch('beside', 'read_file', 'src/b.js'), '- src/a.js: [Here/here] Work here', 'and the other way round');
select is(pg_temp.touch('here', 'read_file', 'src/c.js'), '- src/a.js: [Beside/beside] Work beside', 'said once: it is the old one still in the request; who both read do not matter');
select is(pg_temp.touch('beside', 'edit_file', 'src/b.js'), '- src/a.js: [Here/here] Work here', 'now one changes it');
select is((select array_agg(content order by content) from v_awareness_shown where kind = 'same file' and reader_id = (select (w).id from item where name = 'here')), array['src/a.js'], 'who was told of which file is a query');
select alike(pg_temp.touch('here', 'read_file', 'src/c.js'), '%- src/b.js: [Beside/beside]%', 'a new file is news');
select alike(awareness_digest((select (w).id from item where name = 'here')), E'== AWARENESS ==\n\nAlso at work on your files:\n- src/a.js: [Beside/beside] Work beside\n- src/b.js: %', 'in the digest it comes first');
select from work_cancel((select (w).id from item where name = 'beside'));
select unalike(awareness_digest((select (w).id from item where name = 'here')), '%on your files%', 'until the other one is over');

create temporary table other as select * from work_submit('by hand', 'Other work');
select from other, unnest(array['The invoices round wrongly', 'Cats sleep', 'The importer is slow', 'Dogs bark', 'Birds sing']) f, ledger_append(other.id, 'finding', f);
create temporary table me as select * from work_submit('relevant', 'Make importing of invoices quicker');
select matches(awareness_digest((select id from me)), E'Recent findings:\n- The (importer|invoices).*\n- The (importer|invoices)[^\n]*$', 'ranked by the words of the item');
select pg_temp.faculty('relevant', '/third', '{"max_recent_findings": 2}');
select matches(awareness_digest((select id from me)), E'Recent findings:\n- Birds sing.*\n- Dogs bark[^\n]*$', 'or by time');

select * from finish();
rollback;
