// Values of property lists, what may go wrong with them, and how members of dictionaries are read.

export type PlistValue = string | number | bigint | boolean | Date | Buffer | readonly PlistValue[] | PlistDict;
/** Dictionaries that were read have no prototype. */
export type PlistDict = { readonly [key: string]: PlistValue };

/** The bytes are not an acceptable property list. The message says why and contains nothing of the list's values. */
export class BadPlist extends Error {}

export interface PlistLimits {
  /** Bytes of the list itself, and of what it would be without shared values. */
  readonly bytes: number;
  /** Arrays and dictionaries inside each other. */
  readonly depth: number;
  /** Values, keys, comments and the like together, and references in texts. */
  readonly count: number;
}

export const plistLimits: PlistLimits = { bytes: 2 * 1024 * 1024, depth: 64, count: 200_000 };

const INTEGER_MIN = -(2n ** 63n);
const INTEGER_MAX = 2n ** 64n - 1n;

/** A number if it is exact as one. */
export function integer(value: bigint): number | bigint {
  if (value < INTEGER_MIN || value > INTEGER_MAX)
    throw new BadPlist("the property list has an integer of more than 64 bits");
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** Adds a member to a dictionary that is being read. */
export function addMember(dict: Record<string, PlistValue>, key: string, value: PlistValue): void {
  // Would become the prototype where somebody copies the members into an ordinary object.
  if (key === "__proto__") throw new BadPlist("the property list has a key named __proto__");
  if (key in dict) throw new BadPlist("the property list has a dictionary with the same key twice");
  dict[key] = value;
}

export const isDict = (value: PlistValue | undefined): value is PlistDict =>
  typeof value === "object" && !Array.isArray(value) && !(value instanceof Date) && !Buffer.isBuffer(value);

// The member with this key, or null if there is none or it has another type.

const member = (dict: PlistDict, key: string): PlistValue | undefined =>
  Object.hasOwn(dict, key) ? dict[key] : undefined;

export function stringIn(dict: PlistDict, key: string): string | null {
  const value = member(dict, key);
  return typeof value === "string" ? value : null;
}

export function numberIn(dict: PlistDict, key: string): number | null {
  const value = member(dict, key);
  return typeof value === "number" ? value : null;
}

export function booleanIn(dict: PlistDict, key: string): boolean | null {
  const value = member(dict, key);
  return typeof value === "boolean" ? value : null;
}

export function bytesIn(dict: PlistDict, key: string): Buffer | null {
  const value = member(dict, key);
  return Buffer.isBuffer(value) ? value : null;
}

export function dictIn(dict: PlistDict, key: string): PlistDict | null {
  const value = member(dict, key);
  return isDict(value) ? value : null;
}

export function arrayIn(dict: PlistDict, key: string): readonly PlistValue[] | null {
  const value = member(dict, key);
  return Array.isArray(value) ? value : null;
}

/** The dictionaries in the array with this key; none if there is no such array. */
export const dictsIn = (dict: PlistDict, key: string): PlistDict[] => (arrayIn(dict, key) ?? []).filter(isDict);
