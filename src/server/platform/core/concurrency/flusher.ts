// Writes what was collected in memory, at an interval and when the server stops.

export interface Flusher {
  /** Writes immediately what was collected. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** `write` never runs twice at the same time. If it fails, `failed` is called, and the interval goes on. */
export function startFlusher(interval: number, write: () => Promise<void>, failed: (error: unknown) => void): Flusher {
  let flushing: Promise<void> = Promise.resolve();
  const flush = (): Promise<void> => {
    flushing = flushing.then(write).catch(failed);
    return flushing;
  };
  const timer = setInterval(() => void flush(), interval);
  timer.unref();
  return {
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
