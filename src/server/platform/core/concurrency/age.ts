// Agents give up on a request after 16 s (docs/protocols/agent.md, Replies). Work that has waited for most of that time
// is refused with `Overdue` instead of being processed.

export const MAX_AGE_MS = 10_000;

/** The work waited longer than MAX_AGE_MS and was not started. */
export class Overdue extends Error {
  constructor() {
    super(`the request waited for more than ${MAX_AGE_MS / 1000} s`);
  }
}

export function assertTimely(since: number): void {
  if (performance.now() - since > MAX_AGE_MS) throw new Overdue();
}
