// Functions that are generated once at load from names that the code declares. V8 runs a literal with fixed names several
// times faster than a loop over a list of names.

const NAME = /^[a-z][a-z0-9_]*$/;

function checkNames(names: readonly string[]): void {
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong !== undefined) throw new Error(`${wrong} cannot be part of a generated function`);
}

/** A function that reads one property. */
export function propertyReader<T, K extends keyof T & string>(name: K): (source: T) => T[K] {
  checkNames([name]);
  return new Function("source", `return source.${name};`) as (source: T) => T[K];
}

/**
 * A function that creates objects with these keys, in this order. A key is copied from the source, with a fallback for
 * null, or left undefined for the caller to set: this changes no shape, as adding a key would.
 */
export function objectMaker<Source, Shape>(
  keys: readonly (readonly [name: keyof Shape & string, isCopied: boolean, fallback: unknown])[],
): (source: Source) => Shape {
  checkNames(keys.map(([name]) => name));
  const values = keys.map(([name, isCopied, fallback], place) =>
    isCopied ? `source.${name}${fallback === null ? "" : ` ?? fallbacks[${place}]`}` : "undefined",
  );
  const body = keys.map(([name], place) => `${name}: ${values[place]}`).join(", ");
  const fallbacks = keys.map(([, , fallback]) => fallback);
  const make = new Function("fallbacks", `return (source) => ({ ${body} });`) as (
    fallbacks: readonly unknown[],
  ) => (source: Source) => Shape;
  return make(fallbacks);
}
