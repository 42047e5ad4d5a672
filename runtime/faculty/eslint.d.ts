// The types of toml-eslint-parser refer to one of eslint's, which is not installed; the part that refers to it is not used here.

declare module 'eslint' {
  export namespace SourceCode {
    type VisitorKeys = Record<string, readonly string[] | undefined>;
  }
}
