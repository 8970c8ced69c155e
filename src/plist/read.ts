import { isBinary, readBinary } from "./binary.ts";
import { readFlat } from "./flat.ts";
import { BadPlist, isDict, type PlistDict, type PlistLimits, type PlistValue, plistLimits } from "./value.ts";
import { readXml } from "./xml.ts";

/** Reads a property list in XML or in the binary format. Throws `BadPlist`. */
export function readPlist(bytes: Buffer, limits: Partial<PlistLimits> = {}): PlistValue {
  const all = { ...plistLimits, ...limits };
  if (bytes.length > all.bytes) throw new BadPlist(`the property list is larger than ${all.bytes} bytes`);
  if (isBinary(bytes)) return readBinary(bytes, all);
  // Lists that `readFlat` accepts are too small for any limits but those of tests.
  return (isUsual(all) ? readFlat(bytes) : null) ?? readXml(bytes, all);
}

const isUsual = ({ depth, count }: PlistLimits): boolean => depth === plistLimits.depth && count === plistLimits.count;

/** `readPlist` for a list that has to be a dictionary. */
export function readPlistDict(bytes: Buffer, limits: Partial<PlistLimits> = {}): PlistDict {
  const value = readPlist(bytes, limits);
  if (!isDict(value)) throw new BadPlist("the property list is not a dictionary");
  return value;
}
