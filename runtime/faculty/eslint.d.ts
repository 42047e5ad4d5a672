// The types of toml-eslint-parser refer to an eslint type, and eslint is not installed; the part that needs it is not used here.

declare module 'eslint' {
  export namespace SourceCode {
    type VisitorKeys = Record<string, readonly string[] | undefined>;
  }
}
