// XML as it is read here: strictly, without entities of its own, and no further than bounds allow. What comes out is a small tree that knows
// nothing of prefixes.
import { SaxesParser, type SaxesTagNS } from "saxes";

export interface XmlElement {
  readonly name: string;
  readonly uri: string;
  /** By local name; those with a namespace as `{uri}name`. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** What stands directly in it. */
  readonly text: string;
}

/** The text is no XML as it is taken here; the message may be told to anybody. */
export class XmlProblem extends Error {}

export interface XmlBounds {
  /** Elements and attributes together. */
  readonly most: number;
  /** Comments, processing instructions and CDATA are skipped or read; else they are a problem. */
  readonly lenient: boolean;
}

const MAX_DEPTH = 64;

interface Building extends XmlElement {
  readonly children: Building[];
  text: string;
}

export function parseXml(text: string, { most, lenient }: XmlBounds): XmlElement {
  const parser = new SaxesParser({ xmlns: true });
  const open: Building[] = [];
  let root: Building | null = null;
  let count = 0;
  const stop = (reason: string) => {
    throw new XmlProblem(reason);
  };
  parser.on("error", () => stop("it is not well-formed"));
  parser.on("doctype", () => stop("it has a DOCTYPE"));
  parser.on("xmldecl", ({ encoding, version }) => {
    if (version !== "1.0") stop("it is not XML 1.0");
    if (encoding !== undefined && encoding.toUpperCase() !== "UTF-8") stop("it is not in UTF-8");
  });
  if (!lenient) {
    parser.on("comment", () => stop("it has a comment"));
    parser.on("processinginstruction", () => stop("it has a processing instruction"));
    parser.on("cdata", () => stop("it has a CDATA section"));
  } else parser.on("cdata", (part) => void append(part));
  const append = (part: string) => {
    const at = open.at(-1);
    if (at) at.text += part;
  };
  parser.on("text", append);
  const counted = () => {
    if (++count > most) stop("it has too many parts");
  };
  // Told of as they are read: an element is not finished whose attributes have no end.
  parser.on("attribute", counted);
  parser.on("opentag", (tag: SaxesTagNS) => {
    counted();
    const attributes = Object.values(tag.attributes);
    if (open.length === MAX_DEPTH) stop("it is nested too deeply");
    const made: Building = {
      name: tag.local,
      uri: tag.uri,
      attributes: new Map(
        attributes
          .filter(({ uri }) => uri !== "http://www.w3.org/2000/xmlns/")
          .map(({ uri, local, value }) => [uri === "" ? local : `{${uri}}${local}`, value]),
      ),
      children: [],
      text: "",
    };
    open.at(-1)?.children.push(made);
    root ??= made;
    open.push(made);
  });
  parser.on("closetag", () => void open.pop());
  parser.write(text).close();
  return root ?? stop("it is empty");
}

/** Bytes as text; UTF-8 only. */
export function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new XmlProblem("it is not in UTF-8");
  }
}

export const attribute = (element: XmlElement, name: string): string | null => element.attributes.get(name) ?? null;

export const childrenOf = (element: XmlElement, uri: string, name: string): XmlElement[] =>
  element.children.filter((child) => child.uri === uri && child.name === name);

/** Every element below, and itself, in the order of the document. */
export function* everyElement(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of element.children) yield* everyElement(child);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (found) => entities[found]!);

export const ns = {
  assertion: "urn:oasis:names:tc:SAML:2.0:assertion",
  protocol: "urn:oasis:names:tc:SAML:2.0:protocol",
  metadata: "urn:oasis:names:tc:SAML:2.0:metadata",
  signature: "http://www.w3.org/2000/09/xmldsig#",
} as const;

const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** An instant of the document in milliseconds; null for what is none, or names no zone. */
export function instant(text: string): number | null {
  const at = instantForm.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
