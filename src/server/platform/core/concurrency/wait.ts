/**
 * Resolves after the time, or as soon as one of the signals aborts. Waits in real time: the injected clock decides when
 * something is due, not how long to wait.
 */
export function wait(milliseconds: number, ...signals: readonly (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    // Not AbortSignal.any: signals that live as long as the server would keep each combination.
    const end = () => {
      clearTimeout(timer);
      for (const signal of signals) signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, Math.max(0, milliseconds));
    for (const signal of signals) signal?.addEventListener("abort", end, { once: true });
    if (signals.some((signal) => signal?.aborted)) end();
  });
}
