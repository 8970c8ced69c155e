/** Freezes a value with everything in it, so that nobody changes what others share. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== "object" || value === null || Buffer.isBuffer(value) || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
  return value;
}
