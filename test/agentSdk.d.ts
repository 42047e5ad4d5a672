// What the example and the docs use of the Claude Agent SDK, which is not installed here.
export declare function query(asked: { prompt: string; options: object }): AsyncIterable<{ type: string; session_id: string }>;
