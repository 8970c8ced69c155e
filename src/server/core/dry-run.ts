/** Ends a dry run: its transaction is rolled back by a throw that is not a failure. */
export class DryRun extends Error {}

export function unlessDry(error: unknown): void {
  if (!(error instanceof DryRun)) throw error;
}
