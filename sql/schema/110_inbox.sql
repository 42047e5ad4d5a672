-- Messages that wait for an agent: results of its children, messages from people and from other agents. Delivered once, at the next iteration boundary.

create table inbox (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null,
  kind text not null,
  source_work_item_id uuid,
  content text not null,
  is_interrupt boolean not null default false,
  turn_id uuid references turns (id),
  tool_call_id uuid references tool_calls (id),
  created_at timestamptz not null default _now(),
  consumed_at timestamptz,
  constraint kind_is_known check (kind in ('message', 'child_result', 'agent_message')),
  constraint agents_are_named check ((kind = 'message') = (source_work_item_id is null)),
  constraint content_is_not_blank check (content ~ '\S'),
  constraint content_is_at_most_64_kib check (octet_length(content) <= 65536),
  constraint delivered_items_are_consumed check (consumed_at is not null or coalesce(turn_id, tool_call_id) is null)
);

create index inbox_turn on inbox (turn_id) where turn_id is not null;
create index inbox_waiting on inbox (work_item_id, created_at) where consumed_at is null;
create index inbox_messages on inbox (work_item_id, created_at) where kind <> 'child_result';
create index inbox_told on inbox (source_work_item_id, work_item_id, created_at) where kind = 'agent_message';
create unique index inbox_child_results on inbox (source_work_item_id) where kind = 'child_result';

comment on table inbox is
  'What waits for the agent of a work item, and where it was delivered: results of children, written in the transaction that ends the child, and messages from people and other agents. No foreign key to work_items: a child that ends, and an agent that tells another something, must not wait for that one''s row.';
comment on column inbox.content is 'What its agent is told.';
comment on column inbox.kind is 'message: a person or a client said it. child_result: a child ended. agent_message: another agent said it, with tell_agent().';
comment on column inbox.source_work_item_id is 'The child whose result it is, or the work item whose agent said it; null: a person or a client did.';
comment on column inbox.consumed_at is 'When it was delivered; null: it waits.';
comment on column inbox.is_interrupt is 'True: ends the item''s wait for its children.';
comment on column inbox.turn_id is 'The turn whose request delivered it; null: it waits, a call did, or the program that drives the item took it.';
comment on column inbox.tool_call_id is 'The await_child_work call whose result delivered it.';
