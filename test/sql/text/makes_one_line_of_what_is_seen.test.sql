-- What others wrote becomes one line of what is seen: no line of its own, nothing invisible.
begin;
select plan(4);

select is(_one_line(E'  a\n\t\u2028b\u0085 c ', 100), 'a b c', 'white space of any kind is one blank');
-- One of each: soft hyphen, joiner, Arabic letter mark, Hangul fillers, Mongolian selector, zero width, directions, variants, tags.
select is(_one_line(E'a\u00AD\u034F\u061C\u115F\u1160\u180B\u200B\u200E\u202E\u2066\u3164\uFE00\uFE0F\uFEFF\uFFA0\U000E0001\U000E0061\U000E0100\U000E01EFb', 100), 'a b', 'what nobody sees is not there');
select is(_one_line(E'ᄀ 가 ㅤ', 100), 'ᄀ 가', 'what is seen stays, Hangul too');
select is(_one_line(repeat('x', 11), 10), repeat('x', 9) || '…', 'a long line is cut');

select * from finish();
rollback;
