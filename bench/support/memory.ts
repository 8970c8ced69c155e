import type { BenchServer } from "./serve.ts";

/** Measures the peak of the server's resident memory above its current value. */
export function watchMemory(server: BenchServer) {
  const before = server.usage().rss;
  let peak = before;
  const timer = setInterval(() => {
    peak = Math.max(peak, server.usage().rss);
  }, 20);
  return {
    before,
    peak: () => peak - before,
    stop() {
      clearInterval(timer);
      return peak - before;
    },
  };
}
