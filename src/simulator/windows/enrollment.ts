// How a Windows device enrolls (MS-MDE2): discovery, the rules for certificates, and a certificate with its settings.
import type { KeyObject } from "node:crypto";
import { parseName } from "../../pki/names.ts";
import { makeRequest } from "../../pki/request.ts";
import { readDiscovered, writeDiscover, writeGetPolicies } from "../../soap/discovery.ts";
import { type Envelope, readEnvelope, type SecurityToken, writeEnvelope } from "../../soap/envelope.ts";
import { faultIn } from "../../soap/fault.ts";
import { actions, requestTypes, tokenTypes, valueTypes } from "../../soap/names.ts";
import { type Characteristic, find, parameterOf, readProvisioning } from "../../soap/provisioning.ts";
import { readTokenReply, writeTokenRequest } from "../../soap/token.ts";

export interface PostReply {
  readonly status: number;
  readonly body: Buffer;
}

/** Sends a message. Throws if there is no reply. */
export type Post = (url: string, type: string, body: string) => Promise<PostReply>;

const SOAP = "application/soap+xml; charset=utf-8";

interface Call {
  readonly action: string;
  readonly body: string;
  readonly token?: SecurityToken;
}

/** The reply to a message of enrollment, which may be a fault. */
export async function soapCall(post: Post, url: string, { action, body, token }: Call): Promise<Envelope> {
  const text = writeEnvelope({ action, messageId: "urn:uuid:1", to: url, body, ...(token && { token }) });
  const reply = await post(url, SOAP, text);
  if (reply.status !== 200) throw new Error(`status ${reply.status}: ${reply.body.toString("utf8", 0, 160)}`);
  return readEnvelope(reply.body);
}

/** A token of the server: the key of an agent, or what its sign-in page gives. */
export const userToken = (text: string): SecurityToken => ({
  valueType: tokenTypes.user,
  text: Buffer.from(text).toString("base64"),
});

/** What a device says of itself when it enrolls. */
export interface EnrollmentFacts {
  readonly DeviceID: string;
  readonly HWDevID: string;
  readonly [name: string]: string;
}

/** A certificate request as Windows writes it, with a subject that other software would not. */
export const requestFor = (key: KeyObject): SecurityToken => ({
  valueType: valueTypes.pkcs10,
  text: makeRequest(parseName("/CN=B1C43CD0-1624-5FBB-8E54-34CF17DFD3A1!00"), key)
    .toString("base64")
    .replace(/.{64}/g, "$&\r\n"),
});

interface EnrollmentRequest {
  readonly token: SecurityToken | undefined;
  readonly facts: Readonly<Record<string, string>>;
  readonly request: SecurityToken;
  readonly requestType?: string;
}

type EnrollmentReply =
  | { readonly fault: { readonly code: string; readonly reason: string }; readonly document: null }
  | { readonly fault: null; readonly document: readonly Characteristic[] };

/** The reply to the request: a provisioning document, or a fault. */
export async function requestDocument(
  post: Post,
  url: string,
  enrollment: EnrollmentRequest,
): Promise<EnrollmentReply> {
  const { token, facts, request, requestType = requestTypes.issue } = enrollment;
  const reply = await soapCall(post, url, {
    action: actions.requestToken,
    body: writeTokenRequest({ requestType, request, context: new Map(Object.entries(facts)) }),
    ...(token && { token }),
  });
  const fault = faultIn(reply);
  return fault ? { fault, document: null } : { fault: null, document: readProvisioning(readTokenReply(reply.content)) };
}

export interface Account {
  readonly deviceId: string;
  readonly name: string;
  readonly secret: string;
  /** Base64. */
  readonly firstNonce: string;
}

/** What a device keeps of its provisioning document. */
export interface Enrollment {
  readonly account: Account;
  /** DER. */
  readonly certificate: Buffer;
  readonly managementUrl: string;
  readonly providerId: string;
}

export function enrollmentIn(document: readonly Characteristic[], facts: EnrollmentFacts): Enrollment {
  const application = required(document.find(({ type }) => type === "APPLICATION"));
  const account = required(
    application.inner.find((characteristic) => parameterOf(characteristic, "AAUTHLEVEL") === "APPSRV"),
  );
  const store = facts.EnrollmentType === "Device" ? "System" : "User";
  const certificateStore = required(required(find(document, "CertificateStore", "My", store)).inner[0]);
  return {
    account: {
      deviceId: facts.DeviceID,
      name: required(parameterOf(account, "AAUTHNAME")),
      secret: required(parameterOf(account, "AAUTHSECRET")),
      firstNonce: required(parameterOf(account, "AAUTHDATA")),
    },
    certificate: Buffer.from(required(parameterOf(certificateStore, "EncodedCertificate")), "base64"),
    managementUrl: required(parameterOf(application, "ADDR")),
    providerId: required(parameterOf(application, "PROVIDER-ID")),
  };
}

function required<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) throw new Error("the provisioning document is not complete");
  return value;
}

interface Enrolling {
  readonly discoveryUrl: string;
  readonly token: SecurityToken;
  readonly facts: EnrollmentFacts;
  readonly key: KeyObject;
}

/** The whole way of a device. Throws if the server refuses a step. */
export async function enrollDevice(post: Post, { discoveryUrl, token, facts, key }: Enrolling): Promise<Enrollment> {
  const discovered = await accepted(
    soapCall(post, discoveryUrl, {
      action: actions.discover,
      body: writeDiscover({
        email: "",
        version: "6.0",
        deviceType: "CIMClient_Windows",
        authPolicies: ["OnPremise", "Federated"],
      }),
    }),
  );
  const { policyUrl, enrollmentUrl } = readDiscovered(discovered.content);
  await accepted(soapCall(post, policyUrl, { action: actions.getPolicies, body: writeGetPolicies(), token }));
  const granted = await requestDocument(post, enrollmentUrl, { token, facts, request: requestFor(key) });
  if (granted.fault !== null) throw new Error(`refused (${granted.fault.code}): ${granted.fault.reason}`);
  return enrollmentIn(granted.document, facts);
}

async function accepted(reply: Promise<Envelope>): Promise<Envelope> {
  const envelope = await reply;
  const fault = faultIn(envelope);
  if (fault) throw new Error(`refused (${fault.code}): ${fault.reason}`);
  return envelope;
}
