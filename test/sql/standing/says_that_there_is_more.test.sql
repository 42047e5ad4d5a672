-- Of many steps, notes and children the newest stand in it, and that there are more.
begin;
select plan(4);

select agent();
select submit();
select ledger_append(item(), 'step', 'S' || n) from generate_series(1, 50) n;
select unalike(standing(item()), '%before)%', 'where all stand there nothing is left out');
select ledger_append(item(), 'step', 'S51'), ledger_append(item(), 'note', 'N' || n) from generate_series(1, 60) n;
select matches(standing(item()), E'Done:\n\\(at least \\d+ before\\)\n', 'of steps');
select matches(standing(item()), E'Notes:\n\\(at least 1 before\\)\n', 'of notes');
select is(_newest_lines('{c,b,a}', 2, null) || _newest_lines('{c,b,a}', 100, 2), E'(2 before)\nc(at least 1 before)\nb\nc', 'what is counted is known, or said to be more');

select * from finish();
rollback;
