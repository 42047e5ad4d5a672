// Texts that programs write in someone else's role. In a small file of its own because a hook loads it too.

/** How the tools of several versions of Codex report a failure. */
export const codexFailure =
  /^(?:[^]{0,200}\n)?(?:Process exited with code|Exit code:) (?!0\b)|"exit_code":\s*(?!0\b)\d|^[^\n]{0,200}verification failed/;

/** What hooks of Gemini CLI tell the model, before or after what a person wrote. */
export const hookText = /<hook_context>[^]*?<\/hook_context>\s*/g;

/** A prompt to Gemini CLI as the person wrote it. */
export const withoutHooks = (prompt: string): string => prompt.replace(hookText, '').trimEnd();
