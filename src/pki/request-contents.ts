// Everything that a certificate request (PKCS #10, RFC 2986) asks for, so that a caller can refuse what it does not know.
// A part that this code cannot read is an error, never left out.
import { at, BadDer, type Element, octetsOf, oidOf, readDer, stringOf, tags } from "./der.ts";

export interface SubjectAttribute {
  readonly type: string;
  readonly value: string;
}

export interface RequestedExtension {
  readonly type: string;
  /** DER of the extension's value. */
  readonly value: Buffer;
}

export interface RequestContents {
  readonly subject: readonly SubjectAttribute[];
  /** Types of the attributes besides the extension request. */
  readonly attributes: readonly string[];
  readonly extensions: readonly RequestedExtension[];
}

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const STRINGS: ReadonlySet<number> = new Set([0x0c, 0x13, 0x16, 0x1e]);

/** Throws `BadDer`. The signature is not verified here. */
export function readContents(der: Buffer): RequestContents {
  const content = at(readDer(der), 0, tags.sequence);
  const subject = at(content, 1, tags.sequence).children.flatMap(relativeName);
  const all = content.children.slice(3).flatMap((part) => {
    if (part.tag !== 0xa0) throw new BadDer("the request has an unknown part");
    return part.children.map((attribute) => ({
      type: oidOf(at(attribute, 0)),
      values: at(attribute, 1, tags.set).children,
    }));
  });
  const requests = all.filter(({ type }) => type === EXTENSION_REQUEST);
  const attributes = all.filter(({ type }) => type !== EXTENSION_REQUEST).map(({ type }) => type);
  const lists = requests.flatMap(({ values }) => values);
  if (lists.length > 1) throw new BadDer("the request has more than one list of extensions");
  const extensions = lists.flatMap(({ children }) => children).map(extensionIn);
  if (new Set(extensions.map(({ type }) => type)).size !== extensions.length)
    throw new BadDer("an extension occurs twice");
  return { subject, attributes, extensions };
}

const relativeName = (set: Element): SubjectAttribute[] =>
  set.children.map((field) => {
    const value = at(field, 1);
    if (field.children.length !== 2) throw new BadDer("a field of the subject has too many parts");
    if (!STRINGS.has(value.tag)) throw new BadDer("a value of the subject is not a text");
    return { type: oidOf(at(field, 0)), value: stringOf(value) };
  });

/** Extension ::= SEQUENCE { type, critical BOOLEAN DEFAULT FALSE, value OCTET STRING } (RFC 5280, 4.1). */
function extensionIn(whole: Element): RequestedExtension {
  const { children } = whole;
  if (children.length < 2 || children.length > 3) throw new BadDer("an extension has too few or too many parts");
  return { type: oidOf(at(whole, 0)), value: octetsOf(at(whole, children.length - 1, 4)) };
}
