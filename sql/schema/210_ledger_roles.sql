-- The database roles that have been given privileges on this ledger, by kind. If it is empty, only the ledger's owner can use it.

create table ledger_roles (
  kind text primary key,
  role name not null unique,
  constraint kind_is_known check (kind in ('owner', 'reader', 'client', 'agent', 'approver', 'worker', 'admin', 'tools', 'console'))
);

comment on table ledger_roles is 'The database roles that work_roles_create() has given privileges on this ledger. Roles belong to the server, not to the database: a dump does not take them along.';
comment on column ledger_roles.kind is 'What the role may do, see work_roles_create().';
comment on column ledger_roles.role is 'The role''s name: the prefix and the kind.';
