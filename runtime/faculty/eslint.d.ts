// The types of toml-eslint-parser name one of eslint's, which is not here: nobody uses what it stands in.

declare module 'eslint' {
  export namespace SourceCode {
    type VisitorKeys = Record<string, readonly string[] | undefined>;
  }
}
