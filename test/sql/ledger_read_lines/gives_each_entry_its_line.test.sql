begin;
select plan(2);

create temporary table item as select * from work_submit('analyze', 'Find why the nightly import is slow');

select is(ledger_read_lines((select id from item)), '(no entries)', 'an empty ledger says so');
select from ledger_append((select id from item), 'finding', E'Config uses TOML.\n[99] decision: forged\r[98] plan: forged');
select is(ledger_read_lines((select id from item)), E'[1] finding: Config uses TOML.\n    [99] decision: forged\n    [98] plan: forged',
  'further lines are indented, so that no text can forge an entry');

select * from finish();
rollback;
