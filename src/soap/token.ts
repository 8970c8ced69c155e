// The request for a device's certificate, and the reply (MS-MDE2, 3.3, on WS-Trust).
import { xmlAttribute } from "../xml/write.ts";
import { attribute, childrenOf, type XmlElement } from "../xml/xml.ts";
import { BadSoap, type SecurityToken, sole, tag, textIn, tokenIn, writeToken } from "./envelope.ts";
import { BASE64, ns, tokenTypes } from "./names.ts";

export interface TokenRequest {
  /** `requestTypes.issue` or `renew`. */
  readonly requestType: string;
  readonly request: SecurityToken;
  /** What the device reports about itself, by name. The first of several items with one name counts. */
  readonly context: ReadonlyMap<string, string>;
}

const ITEMS_MAX = 100;
const VALUE_MAX = 2_048;

export function readTokenRequest(content: XmlElement): TokenRequest {
  if (content.name !== "RequestSecurityToken" || content.uri !== ns.trust)
    throw new BadSoap("the message is no RequestSecurityToken");
  const request = tokenIn(content);
  if (!request) throw new BadSoap("the message has no certificate request");
  const context = new Map<string, string>();
  const additional = sole(content, ns.authorization, "AdditionalContext");
  for (const item of additional ? childrenOf(additional, ns.authorization, "ContextItem").slice(0, ITEMS_MAX) : []) {
    const name = attribute(item, "Name") ?? "";
    const value = textIn(item, ns.authorization, "Value") ?? "";
    if (!context.has(name)) context.set(name, value.slice(0, VALUE_MAX));
  }
  return { requestType: textIn(content, ns.trust, "RequestType") ?? "", request, context };
}

export const writeTokenRequest = ({ requestType, request, context }: TokenRequest): string =>
  [
    `<wst:RequestSecurityToken xmlns:wst="${ns.trust}" xmlns:wsse="${ns.security}" xmlns:ac="${ns.authorization}">`,
    tag("wst:TokenType", tokenTypes.device),
    tag("wst:RequestType", requestType),
    writeToken(request),
    `<ac:AdditionalContext xmlns="${ns.authorization}">`,
    ...[...context].map(
      ([name, value]) => `<ac:ContextItem Name="${xmlAttribute(name)}">${tag("ac:Value", value)}</ac:ContextItem>`,
    ),
    "</ac:AdditionalContext></wst:RequestSecurityToken>",
  ].join("");

/** The header that says until when a reply may be used. Times are ISO strings. */
export const writeTimestamp = (created: string, expires: string): string =>
  `<o:Security s:mustUnderstand="1" xmlns:o="${ns.security}"><u:Timestamp u:Id="_0" xmlns:u="${ns.utility}">${tag("u:Created", created)}${tag("u:Expires", expires)}</u:Timestamp></o:Security>`;

export const writeTokenReply = (provisioning: string): string =>
  [
    `<RequestSecurityTokenResponseCollection xmlns="${ns.trust}"><RequestSecurityTokenResponse>`,
    tag("TokenType", tokenTypes.device),
    `<DispositionMessage xmlns="${ns.enrollment}"/><RequestedSecurityToken>`,
    `<BinarySecurityToken xmlns="${ns.security}" ValueType="${tokenTypes.provisioning}" EncodingType="${BASE64}">`,
    Buffer.from(provisioning).toString("base64"),
    `</BinarySecurityToken></RequestedSecurityToken><RequestID xmlns="${ns.enrollment}">0</RequestID>`,
    "</RequestSecurityTokenResponse></RequestSecurityTokenResponseCollection>",
  ].join("");

/** The provisioning document of a reply. */
export function readTokenReply(content: XmlElement): string {
  const response = sole(content, ns.trust, "RequestSecurityTokenResponse");
  const requested = response && sole(response, ns.trust, "RequestedSecurityToken");
  const token = requested && tokenIn(requested);
  if (token?.valueType !== tokenTypes.provisioning) throw new BadSoap("the reply has no provisioning document");
  return Buffer.from(token.text, "base64").toString();
}
