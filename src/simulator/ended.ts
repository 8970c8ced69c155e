/** Resolves after this time, or when the signal aborts. */
export function ended(seconds: number | undefined, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", finish);
      resolve();
    };
    const timer = seconds === undefined ? undefined : setTimeout(finish, seconds * 1000);
    if (signal?.aborted) finish();
    else signal?.addEventListener("abort", finish);
  });
}
