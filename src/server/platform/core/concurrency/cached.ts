/** Caches a value until `forget`. A load that is in progress during `forget` is not cached. */
export class CachedValue<T> {
  readonly #load: () => Promise<T>;
  #value: T | undefined;
  #loading: Promise<T> | null = null;

  constructor(load: () => Promise<T>) {
    this.#load = load;
  }

  get now(): T | undefined {
    return this.#value;
  }

  async get(): Promise<T> {
    if (this.#value !== undefined) return this.#value;
    if (this.#loading) return this.#loading;
    const loading = this.#load();
    this.#loading = loading;
    try {
      const value = await loading;
      if (this.#loading === loading) this.#value = value;
      return value;
    } finally {
      if (this.#loading === loading) this.#loading = null;
    }
  }

  forget(): void {
    this.#value = undefined;
    this.#loading = null;
  }
}
