-- Touches: the rules that determine from a call's input what it touches, and the results, stored with each call.

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
  work_item_id uuid,
  kind text not null,
  target text not null,
  action text not null,
  primary key (tool_call_id, ordinal),
  constraint kind_is_known check (kind in ('path', 'url', 'record')),
  constraint action_is_known check (action in ('read', 'create', 'modify', 'delete', 'search'))
);

create index touches_target on touches (work_item_id, kind, target);
create index touches_changed on touches (target) where kind = 'path' and action in ('create', 'modify', 'delete');

comment on table touch_rules is 'Which part of a tool''s input names a file, a URL or a record, and what a call does to it. The rules for the tools of well-known agents come with Work Ledger; those that ability_register() adds replace all others for that name.';
comment on column touch_rules.position is 'Order among the rules of the tool.';
comment on column touch_rules.kind is 'path, url or record.';
comment on column touch_rules.action is 'read, create, modify, delete or search; null: the input says it.';
comment on column touch_rules.tool_name is 'The tool''s name as in calls; of a built-in rule in lower case, and it matches any case.';
comment on column touch_rules.is_builtin is 'True: comes with Work Ledger (not dumped: the extension brings it).';
comment on column touch_rules.place is 'Where in the input the target is: a string, a number or a list of them.';
comment on column touch_rules.form is 'name: the target itself. patch: a patch in the format of apply_patch, which names its files and what it does to each. command: a shell command, which may contain such a patch.';
comment on column touch_rules.is_of_servers is 'True: the name of an MCP server may precede the tool''s: mcp__files__read_file, files:read_file, files_read_file.';
comment on table touches is 'What each call touches, read from its input or from the input as a before_tool hook rewrote it. Written with the call. Action create: the target is written whole; search: it is searched or listed.';
comment on column touches.ordinal is 'Position among what the call touches, from 0.';
comment on column touches.kind is 'path, url or record.';
comment on column touches.action is 'read, create, modify, delete or search.';
comment on column touches.target is 'A path without leading ./, a URL or a key; at most 600 characters.';
