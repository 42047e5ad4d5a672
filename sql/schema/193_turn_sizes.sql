-- The size of each request by part, added up when its turn is created: from the sums of the previous turn and the exchange since then, so that neither
-- storing nor drawing them grows with the conversation. Also has the skip pointers along a conversation.

create table turn_sizes (
  turn_id uuid primary key references turns (id),
  call_number integer not null,
  leap_turn_id uuid not null references turns (id),
  said bigint not null,
  task integer not null default 0,
  digest integer not null default 0,
  stubs integer not null default 0,
  kept integer not null default 0,
  closed integer not null default 0,
  words integer not null default 0,
  results integer not null default 0,
  people integer not null default 0,
  engine integer not null default 0
);

comment on table turn_sizes is 'Characters of each turn''s request, by part, without system prompt and tools, which are in its configuration. Of a compaction all parts are 0. Written with the turn; read by context_timeline(). They stay when work is erased: sizes are numbers, not words.';
comment on column turn_sizes.task is 'The task: the conversation''s first message.';
comment on column turn_sizes.digest is 'What was told of other work.';
comment on column turn_sizes.stubs is 'What stands for closed blocks that have left.';
comment on column turn_sizes.kept is 'Results of those blocks that stay word for word.';
comment on column turn_sizes.call_number is 'The how manieth model call of the conversation the turn is, from 1; compactions have the number of the call before them.';
comment on column turn_sizes.leap_turn_id is 'An ancestor far above, so that any ancestor is found in a number of steps that is logarithmic in the depth (a skew-binary jump pointer); of a root, itself.';
comment on column turn_sizes.said is 'Everything that was said in the conversation up to and including this request, whether it still shows it or not.';
comment on column turn_sizes.closed is 'Responses and results of closed blocks that are still shown whole.';
comment on column turn_sizes.words is 'Responses of the open block.';
comment on column turn_sizes.results is 'Results of the open block.';
comment on column turn_sizes.people is 'What people said since the task.';
comment on column turn_sizes.engine is 'Everything else that was said to the model: results of children, reminders, output of hooks.';
