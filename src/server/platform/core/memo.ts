/**
 * A function that computes its result once for each argument. Only for results that depend on nothing but the argument,
 * which never changes: whatever belongs to one server is a part (`running.ts`).
 */
export function memo<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const known = new WeakMap<K, { readonly value: V }>();
  return (of) => {
    const found = known.get(of) ?? { value: compute(of) };
    known.set(of, found);
    return found.value;
  };
}
