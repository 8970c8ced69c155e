// The tokens with which users have called this server lately. They only decide whether a request is looked at while its
// address has no budget for strangers; whether a token is valid is looked up for each request.
import { part } from "../running.ts";

const TOKENS_MAX = 20_000;

class TokensInUse {
  readonly #hashes = new Set<string>();

  add(hash: string): void {
    this.#hashes.delete(hash);
    this.#hashes.add(hash);
    if (this.#hashes.size <= TOKENS_MAX) return;
    for (const oldest of this.#hashes) if (this.#hashes.delete(oldest)) return;
  }

  has(hash: string): boolean {
    return this.#hashes.has(hash);
  }
}

export const tokensInUse = part("tokens in use", () => new TokensInUse());
