// Garbage that outlives a request for a moment: by default, V8 lets a small heap grow to several times its size before it
// looks for it, so that a batch for 10,000 hosts would take hundreds of megabytes that nothing uses.
import { getHeapStatistics, setFlagsFromString } from "node:v8";

/** By how many percent a small heap may grow until it is collected. */
const GROWTH_PERCENT = 80;
/** In larger heaps, each collection takes longer, and V8 decides itself. */
const SMALL_HEAP = 512 * 1024 * 1024;
const CHECK_MS = 10_000;

export const growthPercentOf = (usedBytes: number): number => (usedBytes < SMALL_HEAP ? GROWTH_PERCENT : 0);

/** V8 reads the setting at the end of each collection. Returns what ends this. */
export function limitHeapGrowth(): () => void {
  let current = 0;
  const set = (percent: number) => {
    if (percent === current) return;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
    current = percent;
  };
  const check = () => set(growthPercentOf(getHeapStatistics().used_heap_size));
  check();
  const timer = setInterval(check, CHECK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    set(0);
  };
}
