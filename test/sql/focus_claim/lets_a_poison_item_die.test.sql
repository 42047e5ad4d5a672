begin;
select plan(3);

set local work_ledger.now = '2026-11-20 12:00:00+00';
select agent();
select submit();
select claim(p_worker => 'worker-1');

do $$ begin
  for n in 1..3 loop
    perform set_config('work_ledger.now', (timestamptz '2026-11-20 12:00:00+00' + n * interval '1 minute')::text, true);
    perform focus_claim(item(), 'worker-1');
  end loop;
end $$;
select is((select state from work_items), 'dead', 'an iteration that kills its worker max_attempts times is the end');
select alike((select state_reason from work_items), '%died 3 times in iteration 1%', 'with its reason');
select is((select outcome from foci), 'crashed', 'the focus ended so');

select * from finish();
rollback;
