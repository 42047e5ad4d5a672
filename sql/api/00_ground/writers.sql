-- Decides who may write to which work: its submitter, and those who may write to all work. A tool may write only under the lease of its item.

create or replace function _check_submitter(p_work_item_id uuid)
  returns void
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_fence fences;
begin
  select * into v_fence from fences where work_item_id = p_work_item_id;
  if not found then
    perform _raise_not_found('work item', p_work_item_id);
  elsif v_fence.submitted_by = session_user or _writes_for_all()
    or v_fence.lease_hash = sha256(uuid_send(nullif(current_setting('work_ledger.lease', true), '')::uuid)) then
    return;
  end if;
  raise exception using
    errcode = 'insufficient_privilege',
    message = format('work item %s was submitted by %s', p_work_item_id, v_fence.submitted_by),
    hint = 'Only its submitter and roles that may write to all work can write to it: see work_roles_create().';
end
$$;

comment on function _check_submitter(uuid) is
  'Refuses whoever is logged in, unless they submitted the work item, may write to all items, or hold its lease (setting work_ledger.lease). Raises WL001, 42501.';

create or replace function _works_for_all()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select has_function_privilege(session_user, '_works_for_all()', 'execute');
$$;

comment on function _works_for_all() is 'Whether whoever is logged in may write to work that others submitted: who was granted this function. Those are the owner, administrators and workers.';

create or replace function _writes_for_all()
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select _works_for_all() and not _in_tool();
$$;

comment on function _writes_for_all() is '_works_for_all(), but not of what a user''s tool does: that has the lease of the item whose call it is, whoever runs it.';

create or replace function _in_tool()
  returns boolean
  language plpgsql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
declare
  v_stack text;
begin
  -- Checks the call stack, since a tool could change a setting but not the stack. A stack that merely looks like a tool's has fewer rights, not
  -- more. The names are quoted if quote_all_identifiers was on when the session ran its first tool.
  get diagnostics v_stack = pg_context;
  return strpos(replace(v_stack, '"', ''), '_tool_run(text,text,jsonb)') > 0 and exists (select from ledger_roles);
end
$$;

comment on function _in_tool() is 'Whether a user''s SQL tool calls, in a ledger with roles.';

create or replace function _administers(p_role name)
  returns boolean
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select exists (
    select from pg_roles r
     where r.rolname = p_role
       and (pg_has_role(r.oid, (select c.relowner from pg_class c where c.oid = 'work_items'::regclass), 'member')
            or exists (select from ledger_roles l join pg_roles a on a.rolname = l.role where l.kind = 'admin' and pg_has_role(r.oid, a.oid, 'member'))));
$$;

comment on function _administers(name) is 'Whether a role is the ledger''s owner, an administrator or a member of one of them. False for null, and for a role that is not there.';

create or replace function _role(p_kind text)
  returns name
  language sql
  stable
  set search_path = pg_catalog, @extschema@, pg_temp
as $$
  select l.role from ledger_roles l join pg_roles r on r.rolname = l.role where l.kind = p_kind;
$$;

comment on function _role(text) is 'The name of this ledger''s role of a kind; null: it has none, or it is not on this server, as after restoring a dump of another one.';
