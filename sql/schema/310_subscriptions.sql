-- Subscriptions of agents: the end of work, a change of a file, a text in what others record. Only the subscriber reads these rows, when it looks for
-- news; code that ends work, changes files or records something does not read them.

create table subscriptions (
  id uuid primary key default _uuidv7(),
  work_item_id uuid not null references work_items (id),
  kind text not null,
  target text not null,
  is_always boolean not null default false,
  created_at timestamptz not null default _now(),
  told_at timestamptz,
  constraint one_of_a_kind unique (work_item_id, kind, target),
  constraint kind_is_known check (kind in ('end', 'path', 'text')),
  constraint target_is_short check (octet_length(target) between 1 and 1000)
);

comment on table subscriptions is 'What the agent of a work item wants to be told of with the news of its next iterations, until its item is over; see notify_me().';
comment on column subscriptions.kind is 'end: the work item in target ends. path: somebody else changes that file. text: somebody else records a plan, decision, finding or error that has it.';
comment on column subscriptions.target is 'A work item, a path without leading ./, or a text.';
comment on column subscriptions.is_always is 'False: it is over once it was told of something.';
comment on column subscriptions.told_at is 'When a request that was answered, or the hook of a session, told of it last; null: none has.';
