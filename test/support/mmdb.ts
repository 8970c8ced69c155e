// Writes a database in MaxMind's format (MaxMind DB File Format Specification 2.0), with records of 24 bits.

type Value = string | number | readonly Value[] | { readonly [key: string]: Value } | Uint;
/** An unsigned integer; a plain number is written as a double. */
class Uint {
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}
const uint = (value: number) => new Uint(value);

function control(type: number, size: number): Buffer {
  const low = Math.min(size, 29);
  const more = size < 29 ? [] : [size - 29];
  if (size >= 29 + 256) throw new Error("too long for this writer");
  return Buffer.from(type <= 7 ? [(type << 5) | low, ...more] : [low, type - 7, ...more]);
}

function encode(value: Value): Buffer {
  if (typeof value === "string") {
    const bytes = Buffer.from(value);
    return Buffer.concat([control(2, bytes.length), bytes]);
  }
  if (typeof value === "number") {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return Buffer.concat([control(3, 8), bytes]);
  }
  if (value instanceof Uint) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value.value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const entries = Object.entries(value as Record<string, Value>);
  return Buffer.concat([control(7, entries.length), ...entries.flatMap(([key, item]) => [encode(key), encode(item)])]);
}

interface Node {
  readonly sides: [Node | number | null, Node | number | null];
}
const node = (): Node => ({ sides: [null, null] });

/** The bits of an IPv4 network, in a tree of IPv6 addresses or in a separate one. */
function bitsOf(cidr: string, version: 4 | 6): number[] {
  const [address = "", length = "32"] = cidr.split("/");
  const bits = address.split(".").flatMap((part) => [...Number(part).toString(2).padStart(8, "0")].map(Number));
  return [...(version === 6 ? new Array<number>(96).fill(0) : []), ...bits.slice(0, Number(length))];
}

/** A database of IPv4 networks and their data. */
export function mmdb(networks: Record<string, Value>, { type = "Test-City", version = 6 as 4 | 6 } = {}): Buffer {
  const root = node();
  const data: Buffer[] = [];
  let offset = 0;
  for (const [cidr, value] of Object.entries(networks)) {
    const bits = bitsOf(cidr, version);
    let at = root;
    for (const bit of bits.slice(0, -1)) {
      const next = at.sides[bit];
      const below = typeof next === "object" && next !== null ? next : node();
      at.sides[bit] = below;
      at = below;
    }
    at.sides[bits.at(-1)!] = offset;
    data.push(encode(value));
    offset += data.at(-1)!.length;
  }
  const nodes: Node[] = [];
  const number = new Map<Node, number>();
  const walk = (one: Node): void => {
    number.set(one, nodes.push(one) - 1);
    for (const side of one.sides) if (typeof side === "object" && side !== null) walk(side);
  };
  walk(root);
  const tree = Buffer.alloc(nodes.length * 6);
  nodes.forEach((one, i) => {
    one.sides.forEach((side, right) => {
      const record =
        side === null ? nodes.length : typeof side === "number" ? nodes.length + 16 + side : number.get(side)!;
      tree.writeUIntBE(record, i * 6 + right * 3, 3);
    });
  });
  const metadata = encode({
    binary_format_major_version: uint(2),
    binary_format_minor_version: uint(0),
    build_epoch: uint(1_767_225_600),
    database_type: type,
    description: { en: "made by a test" },
    ip_version: uint(version),
    languages: ["en"],
    node_count: uint(nodes.length),
    record_size: uint(24),
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...data, Buffer.from("\xab\xcd\xefMaxMind.com", "latin1"), metadata]);
}
