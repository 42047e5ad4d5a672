-- What a compaction keeps is what the policy says, from what was known then.
begin;
select plan(7);

select tool('Edit', 'unsafe');
select agent('{"tools": ["Read", "Edit"], "truncate_closed_blocks": false, "keep_auto": 0, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

-- Six files are read; a step that names two comes beside the first of six edits, and one that names another at the very end.
select play(format('[[["Read", {"file_path": "/src/f%s.ts"}, "%s"], ["finding", "f%s"]]]', n, repeat(format('line of f%s ', n), 300), n)::jsonb) from generate_series(1, 6) n;
select play(format('[[["Edit", {"file_path": "/src/f%s.ts", "old_string": "a", "new_string": "b"}, "%s"]%s]]', n - 6, repeat(format('edit of f%s ', n - 6), 50),
                   case n when 7 then ', ["ledger_append", {"entry_type": "step", "content": "Read", "keep": ["/src/f4.ts", "/src/f5.ts"]}]'
                          when 12 then ', ["ledger_append", {"entry_type": "step", "content": "Edited", "keep": ["/src/f6.ts"]}]' end)::jsonb) from generate_series(7, 12) n;
create function pg_temp.kept(p_policy jsonb, p_iteration integer) returns text language sql as $$
  select string_agg(t, E'\n')
    from (select session_label as label from foci) s, _replay_requests(s.label, '{"compact_every": 4, "compact_keep_recent": 4}' || p_policy) r, unnest(r.new_texts) t
   where r.iteration = p_iteration and t like '%Kept from closed blocks%'
$$;

select is(pg_temp.kept('{}', 5), null, 'the faculty keeps nothing that it read');
select ok(pg_temp.kept('{"keep_auto": 2000}', 5) like '%you read it recently%# /src/f2.ts%line of f2%', 'the ledger in place of old turns: the policy keeps what was read');
select ok(pg_temp.kept('{"keep_auto": 2000, "compact_strategy": "sliding_window"}', 5) like '%you read it recently%# /src/f2.ts%line of f2%', 'so does a sliding window');
select ok(pg_temp.kept('{}', 9) like all (array['%# /src/f4.ts%line of f4%', '%# /src/f5.ts%line of f5%']), 'what the newest step until then named is kept');
select unalike(pg_temp.kept('{}', 9), '%# /src/f6.ts%', 'what is named only later is not');
select ok(pg_temp.kept('{"keep_budget": 2000}', 9) like '%line of f4%no room for them: /src/f5.ts%', 'as far as the policy has room');
select ok(pg_temp.kept('{"keep": {"ahead": 2}, "compact_strategy": "sliding_window"}', 9) like '%# /src/f2.ts%line of f2%# /src/f3.ts%line of f3%', 'what the next calls change is named at a compaction, too');

select * from finish();
rollback;
