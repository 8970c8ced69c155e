// Property lists in XML, as Apple's PropertyList-1.0.dtd and plist(5) describe them.
import { SaxesParser } from "saxes";
import { decodeXml } from "../xml/decode.ts";
import { hasMoreReferences, XmlProblem } from "../xml/xml.ts";
import { addMember, BadPlist, integer, type PlistLimits, type PlistValue } from "./value.ts";

/** An array or a dictionary that is not complete. */
interface Open {
  readonly array: PlistValue[] | null;
  readonly dict: Record<string, PlistValue> | null;
  /** The key that waits for its value. */
  key: string | null;
}

/** The only DOCTYPE that is accepted: it refers to Apple's DTD, which nobody reads, and declares nothing itself. */
const APPLE_DOCTYPE =
  /^\s*plist\s+PUBLIC\s+"-\/\/Apple(?: Computer)?\/\/DTD PLIST 1\.0\/\/EN"\s+"https?:\/\/www\.apple\.com\/DTDs\/PropertyList-1\.0\.dtd"\s*$/;

export function readXml(bytes: Buffer, limits: PlistLimits): PlistValue {
  const text = decodedXml(bytes);
  if (hasMoreReferences(text, limits.count)) stop("has too many references");
  const reading = new Reading(limits);
  const parser = new SaxesParser();
  parser.on("error", () => stop("is not well-formed XML"));
  parser.on("xmldecl", ({ version }) => {
    if (version !== "1.0") stop("is not XML 1.0");
  });
  parser.on("doctype", (text) => {
    if (!APPLE_DOCTYPE.test(text)) stop("has a DOCTYPE other than Apple's");
  });
  // Counted as they are read, because an element with endless attributes would never be complete.
  parser.on("attribute", () => reading.count());
  parser.on("opentag", ({ name }) => reading.open(name));
  parser.on("closetag", ({ name }) => reading.close(name));
  parser.on("text", (part) => reading.append(part));
  parser.on("cdata", (part) => {
    reading.count();
    reading.append(part);
  });
  parser.on("comment", () => reading.count());
  parser.on("processinginstruction", () => reading.count());
  parser.write(text).close();
  return reading.value();
}

function decodedXml(bytes: Buffer): string {
  try {
    return decodeXml(bytes);
  } catch (error) {
    if (error instanceof XmlProblem) throw new BadPlist(`the property list cannot be read: ${error.message}`);
    throw error;
  }
}

class Reading {
  readonly #limits: PlistLimits;
  readonly #open: Open[] = [];
  #isInside = false;
  #count = 0;
  /** The element that contains text and no others. */
  #scalar: string | null = null;
  #text = "";
  #value: PlistValue | undefined;

  constructor(limits: PlistLimits) {
    this.#limits = limits;
  }

  count(): void {
    if (++this.#count > this.#limits.count) stop("has too many values");
  }

  open(name: string): void {
    if (this.#scalar !== null) stop("has an element inside a simple value");
    if (!this.#isInside) {
      if (name !== "plist") stop("does not begin with the element plist");
      this.#isInside = true;
      return;
    }
    this.count();
    if (name === "dict" || name === "array") {
      if (this.#open.length === this.#limits.depth) stop("is nested too deeply");
      this.#open.push(
        name === "dict"
          ? { dict: Object.create(null) as Record<string, PlistValue>, array: null, key: null }
          : { array: [], dict: null, key: null },
      );
    } else if (name === "key" || Object.hasOwn(scalars, name)) {
      this.#scalar = name;
      this.#text = "";
    } else stop("has an element that property lists do not have");
  }

  append(text: string): void {
    if (this.#scalar !== null) this.#text += text;
    else if (text.trim() !== "") stop("has text outside of its values");
  }

  close(name: string): void {
    if (name === "plist") return;
    if (this.#scalar === null) {
      const { dict, array, key } = this.#open.pop()!;
      if (key !== null) stop("has a key without a value");
      this.#add(dict ?? array!);
      return;
    }
    this.#scalar = null;
    if (name === "key") this.#addKey();
    else this.#add(scalars[name]!(this.#text));
  }

  #addKey(): void {
    const parent = this.#open.at(-1);
    if (!parent?.dict) stop("has a key outside of a dictionary");
    else if (parent.key !== null) stop("has a key without a value");
    else parent.key = this.#text;
  }

  #add(value: PlistValue): void {
    const parent = this.#open.at(-1);
    if (!parent) {
      if (this.#value !== undefined) stop("has more than one value");
      this.#value = value;
    } else if (parent.array) parent.array.push(value);
    else if (parent.key === null) stop("has a dictionary with a value without a key");
    else {
      addMember(parent.dict!, parent.key, value);
      parent.key = null;
    }
  }

  value(): PlistValue {
    return this.#value ?? stop("is empty");
  }
}

const scalars: Record<string, (text: string) => PlistValue> = {
  string: (text) => text,
  integer: (text) => {
    const match = /^\s*([+-]?)(\d{1,20}|0[xX][0-9a-fA-F]{1,16})\s*$/.exec(text);
    if (!match) return stop("has an integer that is not one");
    return integer(match[1] === "-" ? -BigInt(match[2]!) : BigInt(match[2]!));
  },
  real: (text) => {
    const word = text.trim().toLowerCase();
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/.test(word)) return Number(word);
    return notFinite.get(word) ?? stop("has a real number that is not one");
  },
  date: (text) => {
    const dateText = /^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\s*$/.exec(text)?.[1];
    const date = new Date(dateText ?? Number.NaN);
    // JavaScript takes 30 February for 2 March.
    if (!dateText || Number.isNaN(date.getTime()) || iso(date) !== dateText) return stop("has a date that is not one");
    return date;
  },
  data: (text) => base64(text) ?? stop("has data that is not base64"),
  true: (text) => (text.trim() === "" ? true : stop("has text inside true or false")),
  false: (text) => (text.trim() === "" ? false : stop("has text inside true or false")),
};

const notFinite = new Map([
  ["nan", Number.NaN],
  ...["inf", "+inf", "infinity", "+infinity"].map((name) => [name, Number.POSITIVE_INFINITY] as const),
  ...["-inf", "-infinity"].map((name) => [name, Number.NEGATIVE_INFINITY] as const),
]);

/** Padded base64 with line breaks, or null. `Buffer.from` alone ignores characters that do not belong there. */
function base64(text: string): Buffer | null {
  const plain = text.replace(/[\s]+/g, "");
  const end = plain.endsWith("==") ? -2 : plain.endsWith("=") ? -1 : plain.length;
  return plain.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(plain.slice(0, end)) ? Buffer.from(plain, "base64") : null;
}

/** Property lists have no fractions of seconds. */
export const iso = (date: Date): string => `${date.toISOString().slice(0, -5)}Z`;

function stop(reason: string): never {
  throw new BadPlist(`the property list ${reason}`);
}
