// What a shell completes: the commands, their options, and the words that an option takes, from the program itself.

import type { Command, Option } from 'commander';

type Words = { command: string; description: string; aliases: readonly string[]; options: readonly Option[] };

export type Shell = 'bash' | 'zsh' | 'fish';

export function completion(program: Command, shell: Shell): string {
  const all = program
    .createHelp()
    .visibleCommands(program)
    .map((one): Words => ({
      command: one.name(),
      description: one.description(),
      aliases: one.aliases(),
      options: one.options.filter(({ hidden }) => !hidden),
    }));
  return { bash, zsh, fish }[shell](all);
}

const names = ({ command, aliases }: Words): string[] => [command, ...aliases];
const flags = (words: Words): string[] => words.options.flatMap((option) => (option.long ? [option.long] : []));
const choices = (words: Words): [flag: string, choices: readonly string[]][] =>
  words.options.flatMap((option) => (option.long && option.argChoices ? [[option.long, option.argChoices]] : []));

function bash(all: readonly Words[]): string {
  const cases = all.flatMap((words) => [
    ...choices(words).map(
      ([flag, list]) =>
        `    ${names(words)
          .map((name) => `${name}:${flag}`)
          .join('|')}) COMPREPLY=($(compgen -W '${list.join(' ')}' -- "$word")); return ;;`,
    ),
    `    ${names(words)
      .map((name) => `${name}:*`)
      .join('|')}) words='${flags(words).join(' ')}' ;;`,
  ]);
  return `# work-ledger --completion bash
_work_ledger() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words
  if [ "$COMP_CWORD" = 1 ]; then
    COMPREPLY=($(compgen -W '${all.flatMap(names).join(' ')}' -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}:$before" in
${cases.join('\n')}
  esac
  if [[ $word == -* ]]; then COMPREPLY=($(compgen -W "$words" -- "$word")); else COMPREPLY=($(compgen -f -- "$word")); fi
}
complete -o filenames -F _work_ledger work-ledger`;
}

/** Within single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", `'\\''`);

function zsh(all: readonly Words[]): string {
  const plain = (text: string): string => quoted(text.replaceAll(/[[\]:]/g, ' '));
  const cases = all.map((words) => {
    const options = words.options.map(
      (option) =>
        `'${option.long}[${plain(option.description)}]${option.required || option.optional ? `:value:${option.argChoices ? `(${option.argChoices.join(' ')})` : '_files'}` : ''}'`,
    );
    return `    ${names(words).join('|')}) _arguments ${options.join(' ')} '*:argument:_files' ;;`;
  });
  return `#compdef work-ledger
_work_ledger() {
  if (( CURRENT == 2 )); then
    local commands=(${all.flatMap((words) => names(words).map((name) => `'${name}:${plain(words.description)}'`)).join(' ')})
    _describe command commands
    return
  fi
  local called=$words[2]
  shift words
  (( CURRENT-- ))
  case $called in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _work_ledger ]; then _work_ledger "$@"; else compdef _work_ledger work-ledger; fi`;
}

function fish(all: readonly Words[]): string {
  return all
    .flatMap((words) => [
      ...names(words).map((name) => `complete -c work-ledger -n __fish_use_subcommand -a ${name} -d '${quoted(words.description)}'`),
      ...words.options.map(
        (option) =>
          `complete -c work-ledger -n '__fish_seen_subcommand_from ${names(words).join(' ')}' -l ${option.long?.slice(2)}${option.required ? ' -r' : ''}${option.argChoices ? ` -f -a '${option.argChoices.join(' ')}'` : ''} -d '${quoted(option.description)}'`,
      ),
    ])
    .join('\n');
}
