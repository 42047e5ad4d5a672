-- An agent by hand, in psql: you are the model. What a worker does is these seven calls.
\set ON_ERROR_STOP on

-- 1. What kind of agent: here one with the ledger's own tools alone.
select name from faculty_save('{"name": "by-hand", "accepts": ["by-hand"], "engage": {"model": "claude-sonnet-5-5"}}');

-- 2. Work for it.
select id as item from work_submit('by-hand', 'Which index is never used?') \gset

-- 3. Take it for five minutes; the answer has the first request, as the model would get it.
select b #>> '{claim,lease}' as lease, b #>> '{begin,turn_id}' as turn, jsonb_pretty(b::jsonb #> '{begin,request,messages}') as messages
  from focus_begin(:'item', 'by-hand', 300) b \gset
\echo :messages

-- 4. The model answers with a call of a tool. It is stored, and handed back to be run.
select s ->> 'kind' as kind, s #>> '{calls,0,id}' as call
  from iteration_step(:'item', :'lease', 1, 0, :'turn',
    '{"id": "msg_1", "model": "claude-sonnet-5-5", "stop_reason": "tool_use", "usage": {"input_tokens": 900, "output_tokens": 60},
      "content": [{"type": "tool_use", "id": "toolu_1", "name": "ledger_append",
                   "input": {"entry_type": "finding", "content": "orders(created_at) is never used"}}]}') s \gset

-- 5. Run it. The result and what it wrote commit together.
select tool_call_execute(:'item', :'lease', :'call');

-- 6. Its calls have ended: the next iteration begins, with a request that has the result.
select s #>> '{next,turn_id}' as turn, s ->> 'iteration' as iteration from iteration_step(:'item', :'lease', 1, 1, :'turn') s \gset

-- 7. The model ends its turn with words: the work is done.
select s ->> 'kind' as kind
  from iteration_step(:'item', :'lease', :'iteration', 2, :'turn',
    '{"id": "msg_2", "model": "claude-sonnet-5-5", "stop_reason": "end_turn", "usage": {"input_tokens": 1000, "output_tokens": 20},
      "content": [{"type": "text", "text": "The index on orders(created_at) is never used."}]}') s;

select state, outcome_data ->> 'summary' as summary from work_items where id = :'item';
select ledger_read_formatted(:'item');
