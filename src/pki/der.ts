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
/** Elements that are looked at. A message with ten certificates has some thousands. */
const ELEMENTS_MAX = 20_000;

/** What is left of the elements that may be looked at in one message. */
interface Allowance {
  elements: number;
}

/** Parses bytes that consist of exactly one element. */
export function readDer(bytes: Buffer): Element {
  const element = readAt(bytes, 0, bytes.length, { depth: 0, allowance: { elements: ELEMENTS_MAX } });
  if (element.end !== bytes.length) throw new BadDer("bytes follow the element");
  return element;
}

interface Place {
  readonly depth: number;
  readonly allowance: Allowance;
}

const inside = ({ depth, allowance }: Place): Place => ({ depth: depth + 1, allowance });

/** Slices and parses only what is looked at: most of a certificate is not. */
class ParsedElement implements Element {
  readonly tag: number;
  readonly #bytes: Buffer;
  readonly #start: number;
  /** Where the content begins and ends, and the whole element ends. */
  readonly #from: number;
  readonly #to: number;
  readonly end: number;
  readonly #place: Place;
  #children: readonly Element[] | undefined;

  constructor(tag: number, bytes: Buffer, start: number, from: number, to: number, end: number, place: Place) {
    this.tag = tag;
    this.#bytes = bytes;
    this.#start = start;
    this.#from = from;
    this.#to = to;
    this.end = end;
    this.#place = place;
  }

  get raw(): Buffer {
    return this.#bytes.subarray(this.#start, this.end);
  }

  get content(): Buffer {
    return this.#bytes.subarray(this.#from, this.#to);
  }

  get children(): readonly Element[] {
    if (this.#children) return this.#children;
    if ((this.tag & 0x20) === 0) throw new BadDer("a primitive element contains no others");
    const elements: ParsedElement[] = [];
    for (let at = this.#from; at < this.#to; at = elements.at(-1)!.end)
      elements.push(readAt(this.#bytes, at, this.#to, inside(this.#place)));
    this.#children = elements;
    return elements;
  }
}

/** The element at `start`, which ends before `limit`. */
function readAt(bytes: Buffer, start: number, limit: number, place: Place): ParsedElement {
  if (place.depth > DEPTH_MAX) throw new BadDer("nested too deeply");
  if (place.allowance.elements-- === 0) throw new BadDer("too many elements");
  if (start + 2 > limit) throw new BadDer("cut short");
  const tag = bytes[start]!;
  const first = bytes[start + 1]!;
  if ((tag & 0x1f) === 0x1f) throw new BadDer("tag numbers above 30 are not supported");
  if (first === 0x80) {
    if ((tag & 0x20) === 0) throw new BadDer("indefinite length of a primitive element");
    const to = endOfContents(bytes, start + 2, limit, place);
    return new ParsedElement(tag, bytes, start, start + 2, to, to + 2, place);
  }
  let from = start + 2;
  let length = first;
  if (first > 0x80) {
    const count = first & 0x7f;
    if (count > 4 || from + count > limit) throw new BadDer("bad length");
    length = bytes.readUIntBE(from, count);
    from += count;
  }
  const end = from + length;
  if (end > limit) throw new BadDer("cut short");
  return new ParsedElement(tag, bytes, start, from, end, end, place);
}

/** Where the end-of-contents octets of an element of indefinite length are. */
function endOfContents(bytes: Buffer, from: number, limit: number, place: Place): number {
  let at = from;
  while (at + 2 <= limit) {
    if (bytes[at] === 0 && bytes[at + 1] === 0) return at;
    at = readAt(bytes, at, limit, inside(place)).end;
  }
  throw new BadDer("cut short");
}

export const tags = { integer: 2, bits: 3, octets: 4, null: 5, oid: 6, sequence: 0x30, set: 0x31 } as const;

/** The child element at the index. Throws if it is missing or has another tag. */
export function at(element: Element, index: number, tag?: number): Element {
  const child = element.children[index];
  if (!child) throw new BadDer("an element is missing");
  if (tag !== undefined && child.tag !== tag) throw new BadDer(`expected tag ${tag} but found ${child.tag}`);
  return child;
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
export const stringOf = ({ tag, content }: Element): string =>
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
