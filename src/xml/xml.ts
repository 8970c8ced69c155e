// A strict XML parser with size limits and without custom entities. The result is a small tree with resolved
// namespaces instead of prefixes.
import { SaxesParser, type SaxesTagNS } from "saxes";

export interface XmlElement {
  readonly name: string;
  readonly uri: string;
  /** By local name. Attributes with a namespace are `{uri}name`. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text directly inside the element. */
  readonly text: string;
  /** Where the element's content begins and ends in the text that was parsed. */
  readonly content: { readonly from: number; readonly to: number };
}

/** The text is not acceptable XML. The message contains nothing confidential. */
export class XmlProblem extends Error {}

interface XmlBounds {
  /**
   * The maximum number of elements, attributes, comments, processing instructions and CDATA sections together. The
   * text between them may have this many references, times `REFERENCES_PER_PART`.
   */
  readonly most: number;
  /** Whether comments, processing instructions and CDATA are accepted. Otherwise they are an error. */
  readonly lenient: boolean;
}

const MAX_DEPTH = 64;
/** Markup that is sent as text consists of references: `&lt;` and `&gt;` of each tag, and `&quot;` of attributes. */
const REFERENCES_PER_PART = 5;

interface Building extends XmlElement {
  readonly children: Building[];
  text: string;
  content: { from: number; to: number };
}

/** Parses a text, whatever encoding its declaration names: `decodeXml` has decoded it. */
export function parseXml(text: string, bounds: XmlBounds): XmlElement {
  if (hasMoreReferences(text, bounds.most * REFERENCES_PER_PART)) throw new XmlProblem("it has too many references");
  return new TreeBuilder(text, bounds).build();
}

function stop(reason: string): never {
  throw new XmlProblem(reason);
}

class TreeBuilder {
  readonly #text: string;
  readonly #most: number;
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #open: Building[] = [];
  #root: Building | null = null;
  #count = 0;

  constructor(text: string, { most, lenient }: XmlBounds) {
    this.#text = text;
    this.#most = most;
    const parser = this.#parser;
    parser.on("error", () => stop("it is not well-formed"));
    parser.on("doctype", () => stop("it has a DOCTYPE"));
    parser.on("xmldecl", ({ version }) => {
      if (version !== "1.0") stop("it is not XML 1.0");
    });
    if (lenient) {
      parser.on("comment", () => this.#countPart());
      parser.on("processinginstruction", () => this.#countPart());
      parser.on("cdata", (part) => {
        this.#countPart();
        this.#append(part);
      });
    } else {
      parser.on("comment", () => stop("it has a comment"));
      parser.on("processinginstruction", () => stop("it has a processing instruction"));
      parser.on("cdata", () => stop("it has a CDATA section"));
    }
    parser.on("text", (part) => this.#append(part));
    // Counted as they are read, because an element with endless attributes would never be complete.
    parser.on("attribute", () => this.#countPart());
    parser.on("opentag", (tag) => this.#begin(tag));
    parser.on("closetag", (tag) => this.#end(tag));
  }

  build(): XmlElement {
    this.#parser.write(this.#text).close();
    return this.#root ?? stop("it is empty");
  }

  #countPart(): void {
    if (++this.#count > this.#most) stop("it has too many parts");
  }

  #append(part: string): void {
    const element = this.#open.at(-1);
    if (element) element.text += part;
  }

  #begin(tag: SaxesTagNS): void {
    this.#countPart();
    const attributes = Object.values(tag.attributes);
    if (this.#open.length === MAX_DEPTH) stop("it is nested too deeply");
    const { position } = this.#parser;
    const element: Building = {
      name: tag.local,
      uri: tag.uri,
      attributes: new Map(
        attributes
          .filter(({ uri }) => uri !== "http://www.w3.org/2000/xmlns/")
          .map(({ uri, local, value }) => [uri === "" ? local : `{${uri}}${local}`, value]),
      ),
      children: [],
      text: "",
      content: { from: position, to: position },
    };
    this.#open.at(-1)?.children.push(element);
    this.#root ??= element;
    this.#open.push(element);
  }

  #end({ isSelfClosing }: SaxesTagNS): void {
    const { content } = this.#open.pop()!;
    if (!isSelfClosing) content.to = this.#text.lastIndexOf("</", this.#parser.position - 1);
  }
}

/**
 * Whether the text has more references than that. The parser has no event for them, and each costs as much as an
 * element.
 */
export function hasMoreReferences(text: string, most: number): boolean {
  let count = 0;
  for (let at = text.indexOf("&"); at !== -1; at = text.indexOf("&", at + 1)) if (++count > most) return true;
  return false;
}

export const attribute = (element: XmlElement, name: string): string | null => element.attributes.get(name) ?? null;

export const childrenOf = (element: XmlElement, uri: string, name: string): XmlElement[] =>
  element.children.filter((child) => child.uri === uri && child.name === name);

/** The element and all its descendants, in document order. */
export function* everyElement(element: XmlElement): Generator<XmlElement> {
  yield element;
  for (const child of element.children) yield* everyElement(child);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
export const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!);
