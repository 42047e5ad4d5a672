-- A heartbeat says of which version its worker is.

drop function if exists lease_renew(text, uuid[], uuid[], text, integer, uuid, integer);

@functions@
