-- Where a step names nothing to keep, the files that were read last stay word for word, up to keep_auto.
begin;
select plan(12);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play(format('[
  [["read_file", {"path": "a.ts"}, "content of a"], ["read_file", {"path": "b.ts"}, "content of b"]],
  [["edit_file", {"path": "b.ts", "old_string": "x", "new_string": "y"}, "Edited."], ["read_file", {"path": "c.ts"}, "content of c"]],
  [["read_file", {"path": "huge.ts"}, "%s"], ["read_file", {"path": "gone.ts"}, "failed: no such file"]],
  [["step", "Read"], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]', repeat('huge ', 5000))::jsonb);
select matches(kept(5), 'you read it recently.*content of c.*content of a', 'files that were read and not changed since are kept, newest first');
select unalike(kept(5), '%content of b%', 'a file that was changed since is not kept');
select unalike(kept(5), '%huge%', 'a file larger than keep_auto is not kept');
select unalike(kept(5), '%gone.ts%', 'a file that could not be read is not kept');
select ok((select kept_tokens between 1 and 4000 from elisions), 'the cut says how much it keeps');
select is((select tokens_kept from elisions) > 0, true, 'the cut says how much stays in any case');

select play('[
  [["read_file", {"path": "a.ts"}, "a again"]],
  [["step", "Read a"], ["read_file", {"path": "c.ts"}, "c again"]],
  [["bash", {"command": "true"}, "ok"]]]');
select matches(kept(8), 'a again', 'of a file the newest reading is kept');
select unalike(kept(8), '%c again%', 'what is still shown is not said twice');
select unalike(kept(8), '%content of c%', 'an older reading of what is still shown is not kept');

select agent('{"tools": ["read_file", "bash"], "elide_budget": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix another');
select play('[
  [["read_file", {"path": "a.ts"}, "content of a"]],
  [["step", "Read"], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is(kept(11), null, 'keep_auto = 0 keeps nothing');
select is(rebuilt(), 11::bigint, 'every request is rebuilt to the byte');
select is((select kept from elisions e join item i on e.work_item_id = i.id)::text, null, 'the cut notes nothing kept where keep_auto = 0');

select * from finish();
rollback;
