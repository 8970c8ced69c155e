// What transports send and receive.

export interface TlsOptions {
  /** PEM certificates of the authorities to trust instead of the system's. */
  readonly ca?: string;
  readonly insecure?: boolean;
}

export interface SendInit {
  method: string;
  headers: Record<string, string>;
  body?: string | AsyncIterable<Uint8Array>;
  signal?: AbortSignal;
  /** Whether the body is a stream, without a time limit between its chunks. */
  streams?: boolean;
  /** Whether the reply may take minutes. */
  isSlow?: boolean;
}

export interface HttpReply {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
  /** The body in chunks, as an alternative to `text`; can be read once. */
  readonly body: AsyncIterable<Uint8Array> | null;
}
