// ASN.1 for certificates and CMS. Writes DER (X.690, 10) and reads BER (8), because other servers send BER.

/** A parsed element. `raw` contains all its bytes as received. */
export interface Element {
  /** The identifier octet: class, constructed bit and number. */
  readonly tag: number;
  readonly raw: Buffer;
  readonly content: Buffer;
  /** The nested elements. Throws for a primitive element. */
  readonly children: readonly Element[];
}

export class BadDer extends Error {}

const DEPTH_MAX = 40;

/** Parses bytes that consist of exactly one element. */
export function readDer(bytes: Buffer): Element {
  const { element, end } = readAt(bytes, 0, 0);
  if (end !== bytes.length) throw new BadDer("bytes follow the element");
  return element;
}

function readAt(bytes: Buffer, start: number, depth: number): { element: Element; end: number } {
  if (depth > DEPTH_MAX) throw new BadDer("nested too deeply");
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined) throw new BadDer("cut short");
  if ((tag & 0x1f) === 0x1f) throw new BadDer("tag numbers above 30 are not supported");
  const isConstructed = (tag & 0x20) !== 0;
  if (first === 0x80) {
    if (!isConstructed) throw new BadDer("indefinite length of a primitive element");
    return readIndefinite(bytes, tag, start, depth);
  }
  let at = start + 2;
  let length = first;
  if (first > 0x80) {
    const count = first & 0x7f;
    if (count > 4 || at + count > bytes.length) throw new BadDer("bad length");
    length = bytes.readUIntBE(at, count);
    at += count;
  }
  const end = at + length;
  if (end > bytes.length) throw new BadDer("cut short");
  return { element: made(tag, bytes.subarray(start, end), bytes.subarray(at, end), depth), end };
}

/** Reads elements up to the end-of-contents octets. */
function readIndefinite(bytes: Buffer, tag: number, start: number, depth: number): { element: Element; end: number } {
  const children: Element[] = [];
  let at = start + 2;
  while (bytes[at] !== 0 || bytes[at + 1] !== 0) {
    const next = readAt(bytes, at, depth + 1);
    children.push(next.element);
    at = next.end;
  }
  const raw = bytes.subarray(start, at + 2);
  return { element: { tag, raw, content: bytes.subarray(start + 2, at), children }, end: at + 2 };
}

function made(tag: number, raw: Buffer, content: Buffer, depth: number): Element {
  let inside: readonly Element[] | undefined;
  return {
    tag,
    raw,
    content,
    get children() {
      inside ??= readAll(tag, content, depth);
      return inside;
    },
  };
}

function readAll(tag: number, content: Buffer, depth: number): Element[] {
  if ((tag & 0x20) === 0) throw new BadDer("a primitive element contains no others");
  const found: Element[] = [];
  for (let at = 0; at < content.length; ) {
    const next = readAt(content, at, depth + 1);
    found.push(next.element);
    at = next.end;
  }
  return found;
}

export const tags = { integer: 2, bits: 3, octets: 4, null: 5, oid: 6, sequence: 0x30, set: 0x31 } as const;

/** The child element at the index. Throws if it is missing or has another tag. */
export function at(element: Element, index: number, tag?: number): Element {
  const found = element.children[index];
  if (!found) throw new BadDer("an element is missing");
  if (tag !== undefined && found.tag !== tag) throw new BadDer(`expected tag ${tag} but found ${found.tag}`);
  return found;
}

/** The bytes of an OCTET STRING, also if it is constructed from parts or implicitly tagged. */
export const octetsOf = (element: Element): Buffer =>
  (element.tag & 0x20) === 0 ? element.content : Buffer.concat(element.children.map(octetsOf));

export function oidOf({ tag, content }: Element): string {
  if (tag !== tags.oid || content.length === 0) throw new BadDer("an object identifier was expected");
  const parts: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (value > Number.MAX_SAFE_INTEGER) throw new BadDer("an object identifier is too large");
    if ((byte & 0x80) === 0) {
      parts.push(value);
      value = 0;
    }
  }
  const head = parts[0]!;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - first * 40, ...parts.slice(1)].join(".");
}

/** The text of a PrintableString, UTF8String, IA5String and similar types. */
export const textOf = ({ tag, content }: Element): string =>
  tag === 0x1e ? Buffer.from(content).swap16().toString("utf16le") : content.toString(tag === 0x0c ? "utf8" : "latin1");

export function element(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content]);
  const bytes = length > 0xffffff ? 4 : length > 0xffff ? 3 : length > 0xff ? 2 : 1;
  const head = Buffer.alloc(2 + bytes);
  head[0] = tag;
  head[1] = 0x80 | bytes;
  head.writeUIntBE(length, 2, bytes);
  return Buffer.concat([head, content]);
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => element(tags.sequence, ...parts);
/** Members are sorted by their encoding, as DER requires (X.690, 11.6). */
export const setOf = (...parts: readonly Uint8Array[]): Buffer => element(tags.set, ...[...parts].sort(Buffer.compare));
export const octets = (bytes: Uint8Array): Buffer => element(tags.octets, bytes);
export const nothing = Buffer.from([tags.null, 0]);
/** Explicit tag of the context class. */
export const tagged = (number: number, ...parts: readonly Uint8Array[]): Buffer => element(0xa0 | number, ...parts);

/** Encodes a small number, or the bytes of a positive one. */
export function integer(value: number | Uint8Array): Buffer {
  const bytes = typeof value === "number" ? [value] : [...value];
  while (bytes.length > 1 && bytes[0] === 0 && bytes[1]! < 0x80) bytes.shift();
  return element(tags.integer, Uint8Array.from(bytes[0]! >= 0x80 ? [0, ...bytes] : bytes));
}

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const bytes = [first * 40 + second, ...rest].flatMap((part) => {
    const low = [part & 0x7f];
    for (let left = Math.floor(part / 128); left > 0; left = Math.floor(left / 128)) low.unshift((left & 0x7f) | 0x80);
    return low;
  });
  return element(tags.oid, Uint8Array.from(bytes));
}

const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?]*$/;
export const printable = (text: string): Buffer => element(0x13, Buffer.from(text, "latin1"));
/** PrintableString if its alphabet is sufficient, otherwise UTF8String. */
export const directoryString = (text: string): Buffer =>
  PRINTABLE.test(text) ? printable(text) : element(0x0c, Buffer.from(text, "utf8"));
export const ia5 = (text: string): Buffer => element(0x16, Buffer.from(text, "latin1"));

/** UTCTime until 2049, GeneralizedTime from then on (RFC 5280, 4.1.2.5). */
export function instant(milliseconds: number): Buffer {
  const digits = `${new Date(milliseconds).toISOString().slice(0, 19).replace(/\D/g, "")}Z`;
  return digits < "2050" ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

export const bitString = (bytes: Uint8Array): Buffer => element(tags.bits, Buffer.from([0]), bytes);
