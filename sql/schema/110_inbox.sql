-- What waits for an agent: results of its children, messages from people. Delivered once, at the next iteration boundary.

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
  constraint kind_is_known check (kind in ('message', 'child_result')),
  constraint child_results_name_the_child check ((kind = 'child_result') = (source_work_item_id is not null)),
  constraint content_is_not_blank check (content ~ '\S'),
  constraint content_is_at_most_64_kib check (octet_length(content) <= 65536),
  constraint consumed_items_say_by_what check ((consumed_at is not null) = (coalesce(turn_id, tool_call_id) is not null))
);

create index inbox_turn on inbox (turn_id) where turn_id is not null;
create index inbox_waiting on inbox (work_item_id, created_at) where consumed_at is null;
create index inbox_messages on inbox (work_item_id, created_at) where kind = 'message';
create unique index inbox_child_results on inbox (source_work_item_id) where kind = 'child_result';

comment on table inbox is
  'What waits for the agent of a work item, and where it was delivered: results of children, written in the transaction that ends the child, and messages from people. No foreign key to work_items: a child that ends must not wait for its parent''s row.';
comment on column inbox.content is 'What its agent is told.';
comment on column inbox.kind is 'message: a person or a client said it. child_result: a child ended.';
comment on column inbox.source_work_item_id is 'The child whose result it is; null: it is a message.';
comment on column inbox.consumed_at is 'When it was delivered; null: it waits.';
comment on column inbox.is_interrupt is 'True: ends the item''s wait for its children.';
comment on column inbox.turn_id is 'The turn whose request delivered the message.';
comment on column inbox.tool_call_id is 'The await_child_work call whose result delivered it.';
