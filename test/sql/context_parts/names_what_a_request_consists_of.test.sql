-- context_parts() names the parts of a request in their order, with their words, their size and where they are from.
begin;
select plan(9);

select agent('{"tools": ["read_file", "edit_file", "write_file", "web_fetch", "bash"], "elide_budget": 0, "keep_budget": 2000, "ledger_nudge_interval": 0, "keep_auto": 0}', '{"awareness": {"enabled": false}}');
select submit('Fix it');

select play('[[["read_file", {"path": "a.ts"}, "content of a"]]]');
select from work_message(item(), 'Only a.ts, please');
select play('[
  [["ledger_append", {"entry_type": "step", "content": "Read it", "keep": ["a.ts"]}], ["bash", {"command": "true"}, "ok"]],
  [["bash", {"command": "true"}, "ok"]]]');
select is((select string_agg(part, ' ' order by n) from context_parts((select turn_id from request where n = 1))), 'system tools task', 'the first request consists of system prompt, tools and task');
select is((select string_agg(part, ' ' order by n) from context_parts((select turn_id from request where n = 2))), 'system tools task response result message', 'what a request says besides comes last');
select is((select string_agg(part, ' ' order by n) from context_parts((select turn_id from request where n = 3))), 'system tools task stubs stubs stubs kept message response result result', 'after a cut stubs, where the agent stands and what is kept stand behind the task');
select is((select array[iteration, block] from context_parts((select turn_id from request where n = 3)) where part = 'response'), array[2, 2], 'a response has its iteration and its block');
select ok((select bool_and(tokens > 0 and content <> '') from context_parts((select turn_id from request where n = 3))), 'each part has its words and their size');
select is((select string_agg(distinct why, '; ' order by why) from context_parts((select turn_id from request where n = 3))), 'always there; its block is open; kept verbatim: named by a step; since iteration 3 in place of what left the context; what people say is shown in full', 'and says why it is there');
select is((select array_agg(distinct cache) from context_parts((select turn_id from request where n = 2))), array['new'], 'nothing was read from a cache');
select play('[[["bash", {"command": "true"}, "ok"]]]', p_more => '{"usage": {"input_tokens": 10, "cached_input_tokens": 90000, "cache_write_tokens": 10}}');
select is((select array_agg(distinct cache) from context_parts((select turn_id from request where n = 4))), array['read'], 'or all of it was');
select throws_ok($$ select context_parts(gen_random_uuid()) $$, 'WL001', null, 'a turn that is not there is an error');

select * from finish();
rollback;
