-- What calls touch: the rules by which a call's input says it, and what each call said when it was stored.

create table touch_rules (
  tool_name text not null,
  is_builtin boolean not null default false,
  position integer not null,
  place jsonpath not null,
  form text not null default 'name',
  kind text not null default 'path',
  action text,
  is_of_servers boolean not null default false,
  primary key (tool_name, is_builtin, position),
  constraint form_is_known check (form in ('name', 'patch', 'command')),
  constraint kind_is_known check (kind in ('path', 'url', 'record')),
  constraint action_is_known check (action in ('read', 'create', 'modify', 'delete', 'search')),
  constraint patches_say_what_they_do check ((action is null) = (form in ('patch', 'command'))),
  constraint patches_are_of_files check (form = 'name' or kind = 'path')
);

create table touches (
  tool_call_id uuid not null references tool_calls (id),
  ordinal integer not null,
  work_item_id uuid references work_items (id),
  kind text not null,
  target text not null,
  action text not null,
  primary key (tool_call_id, ordinal),
  constraint kind_is_known check (kind in ('path', 'url', 'record')),
  constraint action_is_known check (action in ('read', 'create', 'modify', 'delete', 'search'))
);

create index touches_target on touches (work_item_id, kind, target);

comment on table touch_rules is 'Which part of a tool''s input names a file, a URL or a record, and what a call does to it. Those of the tools of known agents come with Work Ledger; ability_register() adds a user''s, which stand for all others of that name.';
comment on column touch_rules.tool_name is 'As calls name it; of a built-in rule in lower case, for any case.';
comment on column touch_rules.is_builtin is 'Comes with Work Ledger (not dumped: the extension brings it).';
comment on column touch_rules.place is 'Where in the input it stands: a text, a number or a list of them.';
comment on column touch_rules.form is 'name: the target itself. patch: a patch in the format of apply_patch, which says what it does to each file. command: a shell''s, which may hold such a patch.';
comment on column touch_rules.is_of_servers is 'The name of an MCP server may stand before it: mcp__files__read_file, files:read_file, files_read_file.';
comment on table touches is 'What each call touches, as its input says, or what a before_tool hook made of that. Written with the call. create: the target is written whole; search: it is looked through or listed.';
comment on column touches.target is 'A path without leading ./, a URL or a key; at most 600 characters.';
