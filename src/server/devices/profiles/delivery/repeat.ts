/** Hosts or rows per transaction. */
export const BATCH_SIZE = 500;

/** Repeats a step until it finds nothing more to do. */
export async function repeat(signal: AbortSignal | undefined, step: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    if (signal?.aborted) return total;
    const done = await step();
    total += done;
    if (done < BATCH_SIZE) return total;
  }
}
