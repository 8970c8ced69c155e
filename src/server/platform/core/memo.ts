/**
 * A function that computes its result once for each argument. Only for results that depend on nothing but the argument,
 * which never changes: whatever belongs to one server is a part (`running.ts`).
 */
export function memo<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const cache = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    const cached = cache.get(of) ?? { value: compute(of) };
    cache.set(of, cached);
    return cached.value;
  };
}
