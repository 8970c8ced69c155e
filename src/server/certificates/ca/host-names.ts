// What a host may have certified by a request that it signs itself: its own identifiers and its users' names. Everything
// else in a request (subject attributes, kinds of alternative names, extensions, attributes) is refused, because an
// authority may pass it on into the certificate, where other services trust it.
import { USER_PRINCIPAL_NAME } from "../../../pki/alternative-names.ts";
import { at, type Element, oidOf, readDer, stringOf, tags } from "../../../pki/der.ts";
import type { RequestContents, RequestedExtension, SubjectAttribute } from "../../../pki/request-contents.ts";
import { uuidIn } from "../../../text/uuid.ts";
import { trustedEmails } from "../../hosts/hosts/emails.ts";
import { peopleOfHosts } from "../../hosts/scim/people.ts";
import type { Context } from "../../platform/core/context.ts";
import { ApiError } from "../../platform/core/errors.ts";
import { eq } from "../../platform/store/query.ts";

/** 403: the request is well-formed, but asks for more than the host may have. */
export const refused = (reason: string) => new ApiError(403, "forbidden", [{ name: "csr", reason }]);

export interface HostNames {
  /** Empty, as the serial number, if it could be the name of something else. */
  readonly uuid: string;
  readonly serial: string;
  /** UUIDs and serial numbers of the host that do not look like any. */
  readonly unfit: readonly string[];
  /** Empty unless the authority's settings allow host names. */
  readonly hostname: string;
  /** Mail addresses of the host's users. */
  readonly emails: readonly string[];
  /** What else identifies its users, such as names with the identity provider. */
  readonly principals: readonly string[];
}

/** Case is ignored for ASCII only: other letters have pairs that an authority would not take for equal. */
export const folded = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
export const isOneOf = (value: string, names: readonly string[]): boolean =>
  names.some((name) => name !== "" && folded(name) === folded(value));
const isDnsName = (text: string): boolean =>
  text.length <= 253 &&
  text.split(".").every((label) => /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/.test(label)) &&
  !/^\d+$/.test(text.split(".").at(-1)!);

/**
 * Hosts report any text as their UUID and serial number. Without a digit it could be an account (administrator), with
 * other characters an address, a domain or a group. No longer common name is possible (RFC 5280, ub-common-name).
 */
const isHardwareName = (text: string): boolean =>
  uuidIn(text) !== null || (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(text) && /\d/.test(text));

/** `people` replaces the users of the host, where a token proves who they are. */
export async function namesOfHost(
  { store }: Pick<Context, "store">,
  hostId: number,
  { allowsHostname, people }: { readonly allowsHostname: boolean; readonly people: readonly string[] | null },
): Promise<HostNames> {
  const [host] = await store.hosts.pick(["uuid", "hardware_serial", "hostname"], { where: eq("id", hostId) });
  const { uuid = "", hardware_serial: serial = "", hostname = "" } = host ?? {};
  const user = (await peopleOfHosts(store, [hostId])).get(hostId)?.user_name;
  return {
    uuid: isHardwareName(uuid) ? uuid : "",
    serial: isHardwareName(serial) ? serial : "",
    unfit: [uuid, serial].filter((text) => !isHardwareName(text)),
    hostname: allowsHostname && isDnsName(hostname) ? hostname : "",
    emails: people ?? (await trustedEmails(store, hostId)),
    principals: people === null && user !== undefined ? [user] : [],
  };
}

/** Whether the value names one of the users. It may be shortened to the first part of the domain, or to what is before it. */
export const isPrincipal = (value: string, { emails, principals }: HostNames): boolean =>
  isOneOf(value, [...emails, ...principals]) ||
  emails.some(
    (email) => value !== "" && folded(email).startsWith(`${folded(value)}${value.includes("@") ? "." : "@"}`),
  );

interface Rule {
  readonly label: string;
  accepts(value: string, names: HostNames): boolean;
}

const subjectRules: Readonly<Record<string, Rule>> = {
  "2.5.4.3": {
    label: "CN",
    accepts: (value, names) => isOneOf(value, [names.uuid, names.serial, names.hostname]) || isPrincipal(value, names),
  },
  "2.5.4.5": { label: "serialNumber", accepts: (value, { uuid, serial }) => isOneOf(value, [serial, uuid]) },
  "0.9.2342.19200300.100.1.1": {
    label: "UID",
    accepts: (value, names) => isOneOf(value, [names.uuid, names.serial]) || isPrincipal(value, names),
  },
  "1.2.840.113549.1.9.1": { label: "emailAddress", accepts: (value, { emails }) => isOneOf(value, emails) },
};
const SUBJECT_ATTRIBUTES = Object.values(subjectRules)
  .map(({ label }) => label)
  .join(", ");

const ALTERNATIVE_NAMES = "2.5.29.17";
const EMAIL_NAME = 0x81;
const DNS_NAME = 0x82;
const OTHER_NAME = 0xa0;
const UTF8 = 0x0c;

/** Digital signature, non-repudiation, key and data encipherment, key agreement: not to sign certificates or lists. */
const KEY_USAGE_BITS = 0b1111_1000;
const CLIENT_AUTHENTICATION = "1.3.6.1.5.5.7.3.2";
const SERVER_AUTHENTICATION = "1.3.6.1.5.5.7.3.1";
const EMAIL_PROTECTION = "1.3.6.1.5.5.7.3.4";

const extensionRules: Readonly<Record<string, (value: Element, names: HostNames) => void>> = {
  [ALTERNATIVE_NAMES]: (value, names) => {
    for (const name of value.children) checkAlternativeName(name, names);
  },
  "2.5.29.15": ({ tag, content }) => {
    const isAllowed = tag === tags.bits && content.length === 2 && (content[1]! & ~KEY_USAGE_BITS) === 0;
    if (!isAllowed)
      throw refused("the request asks for a key usage that hosts do not get, such as signing certificates");
  },
  "2.5.29.37": (value, { hostname }) => {
    const allowed = [CLIENT_AUTHENTICATION, EMAIL_PROTECTION, ...(hostname === "" ? [] : [SERVER_AUTHENTICATION])];
    const other = value.children.map(oidOf).find((usage) => !allowed.includes(usage));
    if (other !== undefined)
      throw refused(`the request asks for the extended key usage ${other}, which hosts do not get`);
  },
  "2.5.29.19": ({ children }) => {
    if (children.some(({ content }) => content.some((byte) => byte !== 0)))
      throw refused("the request asks for the certificate of an authority");
  },
  // The identifier of the key gives no rights.
  "2.5.29.14": () => {},
};

/** The names in the request. 403 for a name that is not the host's, and for everything that is not listed here. */
export function checkHostRequest({ subject, attributes, extensions }: RequestContents, names: HostNames): string[] {
  const [attribute] = attributes;
  if (attribute !== undefined)
    throw refused(`the request has the attribute ${attribute}; a host's request may only have extensions`);
  for (const field of subject) checkSubject(field, names);
  for (const extension of extensions) checkExtension(extension, names);
  const alternative = extensions.find(({ type }) => type === ALTERNATIVE_NAMES);
  const others = alternative ? readDer(alternative.value).children : [];
  // Without a name, the authority would take that of the account with which this server signs in.
  if (subject.length + others.length === 0)
    throw refused("the request names nothing: it must name the host or one of its users");
  return [...subject.map(({ value }) => value), ...others.map(nameIn)];
}

function checkSubject({ type, value }: SubjectAttribute, names: HostNames): void {
  const rule = subjectRules[type];
  if (!rule) throw refused(`the subject has the attribute ${type}; a host's request may have ${SUBJECT_ATTRIBUTES}`);
  if (!rule.accepts(value, names)) throw notOfHost(rule.label, value, names);
}

function checkExtension({ type, value }: RequestedExtension, names: HostNames): void {
  const check = extensionRules[type];
  if (!check) throw refused(`the request has the extension ${type}, which hosts do not get`);
  check(readDer(value), names);
}

/** The value of a name of one of the kinds that `checkAlternativeName` accepts. */
const nameIn = (name: Element): string =>
  name.tag === OTHER_NAME ? stringOf(at(at(name, 1, 0xa0), 0, UTF8)) : name.content.toString("latin1");

function checkAlternativeName(name: Element, names: HostNames): void {
  if (name.tag === EMAIL_NAME) {
    if (!isOneOf(nameIn(name), names.emails)) throw notOfHost("mail address", nameIn(name), names);
  } else if (name.tag === DNS_NAME) {
    if (!isOneOf(nameIn(name), [names.hostname])) throw notOfHost("DNS name", nameIn(name), names);
  } else if (name.tag === OTHER_NAME && oidOf(at(name, 0)) === USER_PRINCIPAL_NAME && name.children.length === 2) {
    if (!isPrincipal(nameIn(name), names)) throw notOfHost("user principal name", nameIn(name), names);
  } else
    throw refused(
      "the request has an alternative name of a kind that hosts do not get; mail addresses, user principal names and, " +
        "where the authority allows host names, DNS names are possible",
    );
}

function notOfHost(what: string, value: string, { hostname, unfit }: HostNames): ApiError {
  const shown = JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}...` : value);
  if (isOneOf(value, unfit))
    return refused(
      `the ${what} ${shown} looks like neither a UUID nor a serial number, and is not known as a user of the host. ` +
        "A serial number in a certificate has at most 64 letters, digits, - and _, and at least one digit: request the UUID instead",
    );
  const hint = hostname === "" ? ". Its hostname is accepted only if the authority has allow_hostname" : "";
  return refused(`the ${what} ${shown} does not identify the host, and is not known as a user of the host${hint}`);
}
