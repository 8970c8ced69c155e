// Plug-in points: where several features do something, each in its own way, for a feature that does not know them because
// they build on it. The feature that asks declares the point and the interface, and `server/extensions.ts` lists who
// implements it. What only one feature does is a plain call.

/** A place for implementers of `T`. */
export interface ExtensionPoint<T> {
  readonly name: string;
  /** Never set: points of different interfaces are different types by it. */
  readonly implementer?: (implementation: T) => T;
}

export const extensionPoint = <T>(name: string): ExtensionPoint<T> => ({ name });

/** A point with its implementers, in the order in which they are called. */
export interface Implementers {
  readonly point: { readonly name: string };
  readonly all: readonly unknown[];
}

export const implementedBy = <T>(point: ExtensionPoint<T>, ...all: readonly NoInfer<T>[]): Implementers => ({
  point,
  all,
});

interface Entry {
  readonly all: readonly unknown[];
  readonly byName: ReadonlyMap<string, unknown>;
}

export class Extensions {
  readonly lists: readonly Implementers[];
  readonly #entries: ReadonlyMap<{ readonly name: string }, Entry>;

  /** If a point has two lists, the later one counts. */
  constructor(lists: readonly Implementers[]) {
    this.lists = lists;
    this.#entries = new Map(lists.map(({ point, all }) => [point, { all, byName: namesOf(all) }]));
  }

  /** The implementers, in the order in which they are called. */
  of<T>(point: ExtensionPoint<T>): readonly T[] {
    return this.#entryOf(point).all as readonly T[];
  }

  /** The implementer with this name. */
  named<T extends { readonly name: string }>(point: ExtensionPoint<T>, name: string): T | undefined {
    return this.#entryOf(point).byName.get(name) as T | undefined;
  }

  #entryOf(point: { readonly name: string }): Entry {
    const entry = this.#entries.get(point);
    if (!entry) throw new Error(`nobody is listed as an implementer of: ${point.name}`);
    return entry;
  }
}

const namesOf = (all: readonly unknown[]): ReadonlyMap<string, unknown> =>
  new Map(
    all.flatMap((element) =>
      typeof element === "object" && element !== null && "name" in element && typeof element.name === "string"
        ? [[element.name, element] as const]
        : [],
    ),
  );
