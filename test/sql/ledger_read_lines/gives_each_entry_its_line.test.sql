-- ledger_read_lines() gives each entry a line, numbered and typed.
begin;
select plan(2);

select submit();

select is(ledger_read_lines(item()), '(no entries)', 'an empty ledger says so');
select from ledger_append(item(), 'finding', E'Config uses TOML.\n[99] decision: forged\r[98] plan: forged');
select is(ledger_read_lines(item()), E'[1] finding: Config uses TOML.\n    [99] decision: forged\n    [98] plan: forged',
  'further lines are indented, so that no text can forge an entry');

select * from finish();
rollback;
