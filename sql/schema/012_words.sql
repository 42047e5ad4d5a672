-- Word lists that several tables and functions use, each defined only here: a function for argument checks, a domain for columns. A domain's check is
-- prepared once per session, a column's in each statement (an insert took 9 µs with the domain, 22 µs with the function in a CHECK, 32 µs with the words
-- in it).

create function _ledger_entry_types() returns text[]
  language sql immutable parallel safe
  return array['plan', 'finding', 'decision', 'step', 'error', 'note'];

create domain ledger_entry_type as text
  constraint entry_type_is_known check (value = 'retraction' or value = any (_ledger_entry_types()));

-- The sources of an agent's knowledge, most trusted first.
create function _trust_classes() returns text[]
  language sql immutable parallel safe
  return array['user', 'own_test', 'file', 'other_agent', 'web'];

create function _budget_resources() returns text[]
  language sql immutable parallel safe
  return array['tokens', 'money', 'seconds', 'calls', 'children'];

create domain budget_resource as text
  constraint resource_is_known check (value = any (_budget_resources()));

create function _work_sources() returns text[]
  language sql immutable parallel safe
  return array['human', 'trigger', 'agent', 'webhook', 'cron', 'event'];

create domain work_source as text
  constraint source_is_known check (value = any (_work_sources()));

create domain message_source as text
  constraint source_is_known check (value = 'engine' or value = any (_work_sources()));

create function _search_sources() returns text[]
  language sql immutable parallel safe
  return array['ledger', 'journal', 'message', 'work', 'outcome'];

create domain search_source as text
  constraint source_is_known check (value = any (_search_sources()));

comment on function _ledger_entry_types() is 'The types of ledger entries that agents and clients append.';
comment on function _trust_classes() is 'What can feed an entry, the most trusted first: the task and what people said; commands of the agent''s own; files; other agents; anything from outside.';
comment on function _budget_resources() is 'The resources that a budget can limit.';
comment on function _work_sources() is 'Where a work item can come from.';
comment on function _search_sources() is 'Where ledger_search() finds something.';
comment on domain ledger_entry_type is 'Type of a ledger entry. retraction: written by ledger_retract().';
comment on domain budget_resource is 'Resource that a budget limits.';
comment on domain work_source is 'Where a work item comes from.';
comment on domain message_source is 'Who speaks in a user message: a source of work items, or the engine.';
comment on domain search_source is 'Where ledger_search() finds something.';
