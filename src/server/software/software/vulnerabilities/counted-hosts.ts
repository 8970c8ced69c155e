const INITIAL_LENGTH = 1 << 14;
const FIELDS_PER_HOST = 4;

/** What was counted of a host. */
export interface CountedHost {
  /** The scope (../tables.ts). */
  readonly team: number;
  /** The operating system version; 0: none. */
  readonly system: number;
  /** The revision of the list of its software; 0: it has no list. */
  readonly revision: number;
  /** The software versions that have vulnerabilities. */
  readonly software: readonly number[];
}

/** What was counted of all hosts, by their ids. Kept as numbers of four bytes, because there may be 100,000 hosts. */
export class CountedHosts {
  #numbers = new Uint32Array(INITIAL_LENGTH);
  #length = 0;
  readonly #places = new Map<number, number>();

  set(id: number, { team, system, revision, software }: CountedHost): void {
    const end = this.#length + FIELDS_PER_HOST + software.length;
    if (end > this.#numbers.length) {
      const larger = new Uint32Array(Math.max(end, this.#numbers.length * 2));
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#places.set(id, this.#length);
    this.#numbers.set([team, system, revision, software.length], this.#length);
    this.#numbers.set(software, this.#length + FIELDS_PER_HOST);
    this.#length = end;
  }

  get(id: number): CountedHost | undefined {
    const at = this.#places.get(id);
    if (at === undefined) return undefined;
    const [team, system, revision, count] = this.#numbers.subarray(at, at + FIELDS_PER_HOST) as unknown as [
      number,
      number,
      number,
      number,
    ];
    const software = Array.from(this.#numbers.subarray(at + FIELDS_PER_HOST, at + FIELDS_PER_HOST + count));
    return { team, system, revision, software };
  }

  isSame(id: number, { team, system, revision }: Omit<CountedHost, "software">): boolean {
    const at = this.#places.get(id);
    if (at === undefined) return false;
    const numbers = this.#numbers;
    return numbers[at] === team && numbers[at + 1] === system && numbers[at + 2] === revision;
  }

  ids(): Iterable<number> {
    return this.#places.keys();
  }
}
