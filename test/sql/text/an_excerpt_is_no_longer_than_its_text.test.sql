-- What is too long is shown by head, tail and a handle; what has room is shown as it is.
begin;
select plan(3);

select is(_excerpt('short', 200), 'short', 'a text that has room is itself');
select is(_excerpt(repeat('x', 200), 200), repeat('x', 200), 'a text that just has room is itself');
select alike(_excerpt(repeat('x', 201), 200), repeat('x', 100) || '%1 of 201 characters are not shown here%' || repeat('x', 100), 'a text that has no room has head, tail and a handle');

select * from finish();
rollback;
