// SOAP 1.2 messages with WS-Addressing: what both sides read and write.

import { decodeXml } from "../xml/decode.ts";
import { xmlText } from "../xml/write.ts";
import { attribute, childrenOf, parseXml, type XmlElement, XmlProblem } from "../xml/xml.ts";
import { BASE64, ns } from "./names.ts";

/** The bytes are not a message. The reason can be shown to users. */
export class BadSoap extends Error {}

export interface SecurityToken {
  readonly valueType: string;
  /** The token as it was sent; base64. */
  readonly text: string;
}

export interface Envelope {
  readonly action: string;
  readonly messageId: string;
  readonly relatesTo: string;
  readonly token: SecurityToken | null;
  /** The only element of the body. */
  readonly content: XmlElement;
}

const MAX_ELEMENTS = 1_000;
const TEXT_MAX = 2_048;

export function readEnvelope(bytes: Uint8Array): Envelope {
  const root = parsed(bytes);
  if (root.name !== "Envelope" || root.uri !== ns.soap) stop("does not begin with an Envelope of SOAP 1.2");
  const header = sole(root, ns.soap, "Header");
  const [content, another] = (sole(root, ns.soap, "Body") ?? stop("has no Body")).children;
  if (!content || another) stop("has no single element in its Body");
  const text = (name: string) => (header && textIn(header, ns.addressing, name)) ?? "";
  const security = header && sole(header, ns.security, "Security");
  return {
    action: text("Action"),
    messageId: text("MessageID"),
    relatesTo: text("RelatesTo"),
    token: security && tokenIn(security),
    content: content as XmlElement,
  };
}

function parsed(bytes: Uint8Array): XmlElement {
  try {
    return parseXml(decodeXml(bytes), { most: MAX_ELEMENTS, lenient: true });
  } catch (error) {
    if (error instanceof XmlProblem) throw new BadSoap(`the message is not accepted: ${error.message}`);
    throw error;
  }
}

export function tokenIn(parent: XmlElement): SecurityToken | null {
  const token = sole(parent, ns.security, "BinarySecurityToken");
  return token && { valueType: attribute(token, "ValueType") ?? "", text: token.text };
}

/** The only child with this name, or null. */
export function sole(element: XmlElement, uri: string, name: string): XmlElement | null {
  const [match, another] = childrenOf(element, uri, name);
  if (another) stop(`has several elements ${name}`);
  return match ?? null;
}

/** The text of the only child with this name, or null. */
export function textIn(element: XmlElement, uri: string, name: string): string | null {
  const text = sole(element, uri, name)?.text.trim() ?? null;
  if (text !== null && text.length > TEXT_MAX) stop(`has a ${name} that is too long`);
  return text;
}

function stop(reason: string): never {
  throw new BadSoap(`the message ${reason}`);
}

export interface WrittenEnvelope {
  readonly action: string;
  readonly messageId?: string;
  /** The `MessageID` that is answered. */
  readonly relatesTo?: string;
  readonly to?: string;
  readonly token?: SecurityToken;
  /** More of the header, as XML. */
  readonly header?: string;
  /** The content of the body, as XML. */
  readonly body: string;
}

export const tag = (name: string, text: string): string => `<${name}>${xmlText(text)}</${name}>`;

export const writeEnvelope = ({
  action,
  messageId,
  relatesTo,
  to,
  token,
  header = "",
  body,
}: WrittenEnvelope): string =>
  [
    `<s:Envelope xmlns:s="${ns.soap}" xmlns:a="${ns.addressing}"><s:Header>`,
    `<a:Action s:mustUnderstand="1">${xmlText(action)}</a:Action>`,
    messageId === undefined ? "" : tag("a:MessageID", messageId),
    relatesTo === undefined ? "" : tag("a:RelatesTo", relatesTo),
    to === undefined ? "" : `<a:To s:mustUnderstand="1">${xmlText(to)}</a:To>`,
    token === undefined
      ? ""
      : `<wsse:Security s:mustUnderstand="1" xmlns:wsse="${ns.security}">${writeToken(token)}</wsse:Security>`,
    header,
    `</s:Header><s:Body>${body}</s:Body></s:Envelope>`,
  ].join("");

export const writeToken = ({ valueType, text }: SecurityToken): string =>
  `<wsse:BinarySecurityToken ValueType="${valueType}" EncodingType="${BASE64}">${xmlText(text)}</wsse:BinarySecurityToken>`;
