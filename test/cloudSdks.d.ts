// What the docs use of Anthropic's client for Bedrock, which is not installed here.
export declare class AnthropicBedrock {
  constructor(options: { awsRegion: string });
  messages: { create(...request: never[]): unknown };
}
