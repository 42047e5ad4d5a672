-- work_because() links what stands in an answer and in its request to where the request has it from; nothing else is claimed.
begin;
select plan(14);

select agent('{"tools": ["read_file", "edit_file", "recall_block"], "elide_budget": 0, "keep_budget": 0, "ledger_nudge_interval": 0, "keep_auto": 0}');
select submit('Another item');
select ledger_append(item(), 'finding', 'The nightly import holds a row lock on the session table');
create temporary table other as select item() as id;
select submit('Fix what makes the weekly report so slow');
select play('[[["read_file", {"path": "src/import.ts"}, "// Chunks are read one after the other on purpose\nimport x"]]]');
select from work_message(item(), 'Please do not touch the retry logic at all, nor considerably complicated retryable circumstances');
select play('[["They are read one after the other on purpose, and I shall not touch the retry logic at all. The nightly import holds a row lock on the session table. To fix what makes the weekly report so slow I edit considerably complicated retryable circumstances now.",
  ["edit_file", {"path": "src/import.ts", "old": "// Chunks are read one after the other on purpose", "new": "a short one"}, "edited"]]]');
create temporary table asked as select turn_id, (select k.id from tool_calls k where k.turn_id = r.turn_id) as call_id from request r where n = 2;

select is((select b.quote from asked a, work_because(a.turn_id, a.call_id) b where b.kind = 'quote'), '// Chunks are read one after the other on purpose', 'the text of a call is found whole');
select is((select b.says from asked a, work_because(a.turn_id, a.call_id) b where b.kind = 'quote'), 'read_file src/import.ts', 'which file was read is said');
select is((select b.call_id from asked a, work_because(a.turn_id, a.call_id) b where b.kind = 'quote'),
  (select k.id from tool_calls k where k.tool_name = 'read_file' and k.work_item_id = item()), 'and by which call');
select is((select count(*) from asked a, work_because(a.turn_id) b where b.kind = 'quote' and b.part = 'message' and b.quote like '%touch the retry logic at%'), 1::bigint, 'words of a person');
select is((select b.work_item_id from asked a, work_because(a.turn_id) b where b.kind = 'quote' and b.entry_seq is not null), (select id from other), 'what another item was told to it by');
select is((select b.entry_seq from asked a, work_because(a.turn_id) b where b.kind = 'quote' and b.entry_seq is not null), 1, 'and which entry');
select ok((select bool_and(p.n > 0) from asked a, work_because(a.turn_id) b, lateral (select count(*) as n from context_parts(a.turn_id) c where c.part = b.part and strpos(c.content, b.quote) > 0) p
            where b.kind = 'quote'), 'each quote stands in its part exactly so');
select is((select b.turn_id from asked a, work_because(a.turn_id) b where b.kind = 'fork'), (select turn_id from request where n = 1), 'to say it otherwise a fork goes on before it was said');
select is_empty($$ select b.quote from asked a, work_because(a.turn_id) b where b.kind = 'quote' and (char_length(b.quote) < 24 or b.quote !~ '(\S+\s+){4}\S') $$,
  'what is shorter than five words is none');
select results_eq($$ select b.part, b.parts from asked a, work_because(a.turn_id) b where b.kind = 'held' order by 1 $$,
  $$ select c.part, count(*) from asked a, context_parts(a.turn_id) c group by 1 order by 1 $$, 'what it held is counted');

select play('[["As I said, I do not touch the retry logic at all.", ["read_file", {"path": "c.ts"}, "c"]]]');
select is((select b.turn_id from work_because((select turn_id from request where n = 3)) b where b.kind = 'fork'), (select turn_id from request where n = 1),
  'also where the answer came turns later');
select play('[[["step", "Read and edited"], ["read_file", {"path": "b.ts"}, "b"]], [["recall_block", {"n": 1}]], ["Done with all that was asked of me here."]]');
select is((select b.says from work_because((select turn_id from request order by n desc limit 1)) b where b.kind = 'cut' and b.says like 'blocks 1 %'),
  (select format('blocks 1 to 1 left the context in iteration %s, and were recalled', e.iteration) from elisions e where e.work_item_id = item() and e.first_block = 1), 'what had been cut, and was recalled');
select throws_ok('select * from work_because(gen_random_uuid())', 'WL001', null, 'of what is not there it is refused');
select throws_ok('select * from work_because((select turn_id from asked), gen_random_uuid())', 'WL001', null, 'so is a call of another turn');
select * from finish();
rollback;
