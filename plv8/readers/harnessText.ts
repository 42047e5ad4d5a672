// Texts that programs write in a place where others speak: so small that a hook reads them, too.

/** How the tools of several versions of Codex report a failure. */
export const codexFailure =
  /^(?:[^]{0,200}\n)?(?:Process exited with code|Exit code:) (?!0\b)|"exit_code":\s*(?!0\b)\d|^[^\n]{0,200}verification failed/;

/** What hooks of Gemini CLI say to the model, before or after what a person wrote. */
export const hookText = /<hook_context>[^]*?<\/hook_context>\s*/g;

/** A prompt to Gemini CLI as a person wrote it. */
export const withoutHooks = (prompt: string): string => prompt.replace(hookText, '').trimEnd();
