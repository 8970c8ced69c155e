const SUB_BITS = 5;
const SUB = 1 << SUB_BITS;
const BUCKETS = SUB * 32;

/**
 * A log-linear latency histogram in microseconds with 32 steps per power of two. A quantile is at most about 3 % too
 * high.
 */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS);
  count = 0;
  maxMs = 0;

  record(ms: number): void {
    const value = Math.max(0, Math.min(0xffffffff, Math.round(ms * 1000)));
    this.#counts[bucketOf(value)]!++;
    this.count++;
    if (ms > this.maxMs) this.maxMs = ms;
  }

  /** Adds the values of another one. */
  add(other: Histogram): void {
    for (let bucket = 0; bucket < BUCKETS; bucket++) this.#counts[bucket]! += other.#counts[bucket]!;
    this.count += other.count;
    this.maxMs = Math.max(this.maxMs, other.maxMs);
  }

  /** The value in milliseconds below which the share `q` of the values lies. 0 without values. */
  quantile(q: number): number {
    if (this.count === 0) return 0;
    let remaining = Math.max(1, Math.ceil(this.count * q));
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      remaining -= this.#counts[bucket]!;
      if (remaining <= 0) return Math.min(upperEdge(bucket) / 1000, this.maxMs);
    }
    return this.maxMs;
  }

  reset(): void {
    this.#counts.fill(0);
    this.count = 0;
    this.maxMs = 0;
  }
}

function bucketOf(value: number): number {
  if (value < SUB) return value;
  const exponent = 31 - Math.clz32(value) - SUB_BITS;
  return (exponent + 1) * SUB + ((value >>> exponent) - SUB);
}

function upperEdge(bucket: number): number {
  if (bucket < SUB) return bucket;
  const exponent = Math.floor(bucket / SUB) - 1;
  return ((bucket % SUB) + SUB + 1) * 2 ** exponent - 1;
}
