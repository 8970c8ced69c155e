// Discovery (MS-MDE2, 3.1): a device asks where and how it enrolls.
import { xmlText } from "../xml/write.ts";
import { childrenOf, type XmlElement } from "../xml/xml.ts";
import { BadSoap, sole, tag, textIn } from "./envelope.ts";
import { ns } from "./names.ts";

export type AuthPolicy = "OnPremise" | "Federated" | "Certificate";

interface Discover {
  readonly email: string;
  readonly version: string;
  readonly deviceType: string;
  /** How the device can authenticate. */
  readonly authPolicies: readonly string[];
}

interface DiscoveredService {
  readonly authPolicy: AuthPolicy;
  readonly version: string;
  readonly policyUrl: string;
  readonly enrollmentUrl: string;
  /** Where users sign in; null unless `Federated`. */
  readonly authenticationUrl: string | null;
}

export function readDiscover(content: XmlElement): Discover {
  if (content.name !== "Discover" || content.uri !== ns.discovery) throw new BadSoap("the message is no Discover");
  const request = sole(content, ns.discovery, "request");
  if (!request) throw new BadSoap("the message has no request");
  const policies = sole(request, ns.discovery, "AuthPolicies");
  return {
    email: textIn(request, ns.discovery, "EmailAddress") ?? "",
    version: textIn(request, ns.discovery, "RequestVersion") ?? "",
    deviceType: textIn(request, ns.discovery, "DeviceType") ?? "",
    authPolicies: policies ? childrenOf(policies, ns.discovery, "AuthPolicy").map(({ text }) => text.trim()) : [],
  };
}

export const writeDiscover = ({ email, version, deviceType, authPolicies }: Discover): string =>
  [
    `<Discover xmlns="${ns.discovery}"><request>`,
    tag("EmailAddress", email),
    tag("RequestVersion", version),
    tag("DeviceType", deviceType),
    `<AuthPolicies>${authPolicies.map((policy) => tag("AuthPolicy", policy)).join("")}</AuthPolicies>`,
    "</request></Discover>",
  ].join("");

export const writeDiscovered = (service: DiscoveredService): string =>
  [
    `<DiscoverResponse xmlns="${ns.discovery}"><DiscoverResult>`,
    tag("AuthPolicy", service.authPolicy),
    tag("EnrollmentVersion", service.version),
    tag("EnrollmentPolicyServiceUrl", service.policyUrl),
    tag("EnrollmentServiceUrl", service.enrollmentUrl),
    service.authenticationUrl === null ? "" : tag("AuthenticationServiceUrl", service.authenticationUrl),
    "</DiscoverResult></DiscoverResponse>",
  ].join("");

export function readDiscovered(content: XmlElement): DiscoveredService {
  const result = sole(content, ns.discovery, "DiscoverResult");
  if (!result) throw new BadSoap("the message has no DiscoverResult");
  const text = (name: string) => textIn(result, ns.discovery, name);
  return {
    authPolicy: (text("AuthPolicy") ?? "") as AuthPolicy,
    version: text("EnrollmentVersion") ?? "",
    policyUrl: text("EnrollmentPolicyServiceUrl") ?? "",
    enrollmentUrl: text("EnrollmentServiceUrl") ?? "",
    authenticationUrl: text("AuthenticationServiceUrl"),
  };
}

const nil = (name: string): string => `<${name} xsi:nil="true"/>`;

interface Policy {
  readonly minimalKeyLength: number;
  /** Seconds. */
  readonly validity: number;
  readonly renewal: number;
}

const SHA256 = "2.16.840.1.101.3.4.2.1";
const RSA = "1.2.840.113549.1.1.1";

export const writeGetPolicies = (): string =>
  `<GetPolicies xmlns="${ns.policy}" xmlns:xsi="${ns.schema}"><client>${nil("lastUpdate")}${nil("preferredLanguage")}</client>${nil("requestFilter")}</GetPolicies>`;

/** The only policy for certificates of devices (MS-XCEP, 3.1.4.1.3). */
export const writePolicies = ({ minimalKeyLength, validity, renewal }: Policy, name: string): string =>
  [
    `<GetPoliciesResponse xmlns="${ns.policy}" xmlns:xsi="${ns.schema}"><response><policyID/>`,
    `<policyFriendlyName>${xmlText(name)}</policyFriendlyName>`,
    nil("nextUpdateHours"),
    nil("policiesNotChanged"),
    "<policies><policy><policyOIDReference>0</policyOIDReference>",
    nil("cAs"),
    "<attributes><commonName>DeviceEnrollment</commonName><policySchema>3</policySchema><certificateValidity>",
    `<validityPeriodSeconds>${validity}</validityPeriodSeconds><renewalPeriodSeconds>${renewal}</renewalPeriodSeconds>`,
    "</certificateValidity><permission><enroll>true</enroll><autoEnroll>false</autoEnroll></permission>",
    `<privateKeyAttributes><minimalKeyLength>${minimalKeyLength}</minimalKeyLength>`,
    nil("keySpec"),
    nil("keyUsageProperty"),
    nil("permissions"),
    "<algorithmOIDReference>1</algorithmOIDReference>",
    nil("cryptoProviders"),
    "</privateKeyAttributes><revision><majorRevision>101</majorRevision><minorRevision>0</minorRevision></revision>",
    nil("supersededPolicies"),
    nil("privateKeyFlags"),
    nil("subjectNameFlags"),
    nil("enrollmentFlags"),
    nil("generalFlags"),
    "<hashAlgorithmOIDReference>0</hashAlgorithmOIDReference>",
    nil("rARequirements"),
    nil("keyArchivalAttributes"),
    nil("extensions"),
    "</attributes></policy></policies></response>",
    nil("cAs"),
    "<oIDs>",
    oid(SHA256, 4, 0, "szOID_NIST_sha256"),
    oid(RSA, 3, 1, "szOID_RSA_RSA"),
    "</oIDs></GetPoliciesResponse>",
  ].join("");

const oid = (value: string, group: number, reference: number, name: string): string =>
  `<oID><value>${value}</value><group>${group}</group><oIDReferenceID>${reference}</oIDReferenceID><defaultName>${name}</defaultName></oID>`;
