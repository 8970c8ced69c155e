// Faults of enrollment (MS-MDE2, 3.3.1): why a device is refused.

import { xmlText } from "../xml/write.ts";
import { type Envelope, sole, textIn, writeEnvelope } from "./envelope.ts";
import { actions, ns } from "./names.ts";

export type FaultCode =
  | "MessageFormat"
  | "Authentication"
  | "Authorization"
  | "CertificateRequest"
  | "EnrollmentServer"
  | "InternalServiceFault"
  | "InvalidSecurity";

export const writeFault = (code: FaultCode, reason: string, relatesTo: string): string =>
  writeEnvelope({
    action: actions.fault,
    relatesTo,
    body: [
      "<s:Fault><s:Code><s:Value>s:Receiver</s:Value><s:Subcode>",
      `<s:Value>${code === "InvalidSecurity" ? "a" : "s"}:${code}</s:Value></s:Subcode></s:Code>`,
      `<s:Reason><s:Text xml:lang="en-US">${xmlText(reason)}</s:Text></s:Reason></s:Fault>`,
    ].join(""),
  });

/** The fault that the message is, or null. */
export function faultIn({
  content,
}: Pick<Envelope, "content">): { readonly code: string; readonly reason: string } | null {
  if (content.name !== "Fault" || content.uri !== ns.soap) return null;
  const code = sole(content, ns.soap, "Code");
  const subcode = code && sole(code, ns.soap, "Subcode");
  const reason = sole(content, ns.soap, "Reason");
  return {
    code: (subcode && textIn(subcode, ns.soap, "Value"))?.replace(/^\w+:/, "") ?? "",
    reason: (reason && textIn(reason, ns.soap, "Text")) ?? "",
  };
}
