/** A stream that is read in parts of a chosen size. If it fails, what came before is the last part. */
export class DividedStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();
  #failure: { readonly error: unknown } | null = null;
  #isAtEnd = false;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#chunks = source[Symbol.asyncIterator]();
  }

  async hasMore(): Promise<boolean> {
    while (this.#rest.length === 0 && !this.#isAtEnd) {
      try {
        const { done, value } = await this.#chunks.next();
        if (done) this.#isAtEnd = true;
        else this.#rest = value;
      } catch (error) {
        this.#failure = { error };
        this.#isAtEnd = true;
      }
    }
    return this.#rest.length > 0;
  }

  /** The next bytes, at most as many. */
  async *take(most: number): AsyncGenerator<Uint8Array> {
    for (let left = most; left > 0 && (await this.hasMore()); ) {
      const chunk = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(chunk.length);
      left -= chunk.length;
      yield chunk;
    }
  }

  /** Throws what has ended the stream early. */
  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}

/** What a request brings. */
export interface Brought {
  readonly body: DividedStream;
  /** The announced digest of the whole upload, in hex; null if the request has none. */
  readonly sha256: string | null;
}
