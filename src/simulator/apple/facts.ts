// What a simulated Apple device is: a pure function of the seed and its number.
import { mix, Random } from "../random.ts";

export const appleFamilies = ["macos", "ios", "ipados"] as const;
export type AppleFamily = (typeof appleFamilies)[number];

export interface DeviceFacts {
  readonly family: AppleFamily;
  readonly udid: string;
  readonly serial: string;
  readonly product: string;
  /** How the vendor's list of updates names the device. */
  readonly board: string;
  readonly name: string;
  readonly osVersion: string;
  readonly build: string;
  /** The push token that it sends. */
  readonly token: Buffer;
  readonly magic: string;
}

const models: Readonly<Record<AppleFamily, readonly string[]>> = {
  macos: ["MacBookPro18,3", "Mac14,2", "Mac15,6", "Macmini9,1"],
  ios: ["iPhone14,5", "iPhone15,2", "iPhone16,1"],
  ipados: ["iPad13,4", "iPad14,1"],
};
/** The boards of Macs, by which the vendor's list of updates names them. */
const boards: Readonly<Record<string, string>> = {
  "MacBookPro18,3": "J314sAP",
  "Mac14,2": "J413AP",
  "Mac15,6": "J514sAP",
  "Macmini9,1": "J274AP",
};
const releases: Readonly<Record<AppleFamily, readonly (readonly [version: string, build: string])[]>> = {
  macos: [
    ["14.7.1", "23H222"],
    ["15.1", "24B83"],
  ],
  ios: [
    ["17.7.1", "21H216"],
    ["18.1", "22B83"],
  ],
  ipados: [
    ["17.7.1", "21H216"],
    ["18.1", "22B83"],
  ],
};
const nouns: Readonly<Record<AppleFamily, string>> = { macos: "Mac", ios: "iPhone", ipados: "iPad" };

export function factsOf(seed: number, index: number, families: readonly AppleFamily[]): DeviceFacts {
  const random = new Random(mix(seed, index, 11));
  const family = random.pick(families);
  const [osVersion, build] = random.pick(releases[family]);
  const [udid, serial] = [random.uuid().toUpperCase(), `Z${random.hex(9).toUpperCase()}`];
  const product = random.pick(models[family]);
  return {
    family,
    udid,
    serial,
    product,
    board: boards[product] ?? product,
    name: `${nouns[family]} ${String(index + 1).padStart(5, "0")}`,
    osVersion,
    build,
    token: Buffer.from(random.hex(64), "hex"),
    magic: random.uuid().toUpperCase(),
  };
}
