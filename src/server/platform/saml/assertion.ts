// Validation of a response and its verified assertion (SAML profiles 4.1.4; docs/protocols/saml.md, Checks).

import { attribute, childrenOf, type XmlElement } from "../../../xml/xml.ts";
import { instant, ns } from "./names.ts";
import { refuse } from "./refusal.ts";

export interface ExpectedAssertion {
  /** The identity provider's entity id. */
  readonly issuer: string;
  /** The URL of this server's assertion consumer service. */
  readonly acs: string;
  /** The names of this server that an audience may contain. */
  readonly audiences: readonly string[];
  /** The id of the request that was sent. Null for a sign-in that the identity provider started. */
  readonly requestId: string | null;
  /** Milliseconds. */
  readonly now: number;
}

export interface Assertion {
  readonly id: string;
  /** The name in the spelling of the identity provider. */
  readonly nameId: string;
  /** When the assertion expires, in milliseconds. */
  readonly until: number;
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

const SKEW = 60_000;

/**
 * Checks the response around the assertion. It may be unsigned, so it can only give reasons to refuse, never to
 * accept.
 */
export function checkResponse(root: XmlElement, expected: ExpectedAssertion): void {
  const destination = attribute(root, "Destination");
  if (destination !== null && destination !== expected.acs) refuse("the response is for another address (Destination)");
  checkInResponseTo(attribute(root, "InResponseTo"), expected, "response");
  const issuers = childrenOf(root, ns.assertion, "Issuer");
  if (issuers.some((issuer) => plainText(issuer, "Issuer") !== expected.issuer))
    refuse("the response is from another identity provider (Issuer)");
}

/** Reads the assertion. Every byte of it is covered by the verified signature. */
export function readAssertion(assertion: XmlElement, expected: ExpectedAssertion): Assertion {
  if (attribute(assertion, "Version") !== "2.0") refuse("the assertion is not of SAML 2.0");
  if (elementText(assertion, "Issuer") !== expected.issuer)
    refuse("the assertion is from another identity provider (Issuer)");
  const subject = only(assertion, "Subject");
  const subjectUntil = checkConfirmation(subject, expected);
  const conditionsUntil = checkConditions(only(assertion, "Conditions"), expected);
  checkStatements(assertion, expected);
  return {
    id: attribute(assertion, "ID") ?? refuse("the assertion has no ID"),
    nameId: nameIdOf(subject),
    until: Math.max(subjectUntil, conditionsUntil ?? 0) + SKEW,
    attributes: attributesOf(assertion),
  };
}

function checkInResponseTo(value: string | null, { requestId }: ExpectedAssertion, where: string): void {
  if (value === requestId) return;
  if (requestId === null) refuse(`the ${where} answers a request, but no sign-in began in this browser (InResponseTo)`);
  refuse(`the ${where} does not answer the request of this browser's sign-in (InResponseTo)`);
}

/** Requires exactly one bearer confirmation, which must be valid. Returns when it expires. */
function checkConfirmation(subject: XmlElement, expected: ExpectedAssertion): number {
  const bearers = childrenOf(subject, ns.assertion, "SubjectConfirmation").filter(
    (confirmation) => attribute(confirmation, "Method") === "urn:oasis:names:tc:SAML:2.0:cm:bearer",
  );
  if (bearers.length === 0) refuse("the assertion has no subject confirmation by bearer");
  if (bearers.length > 1) refuse("the assertion has several subject confirmations by bearer");
  const data = only(bearers[0]!, "SubjectConfirmationData");
  if (attribute(data, "Recipient") !== expected.acs) refuse("the assertion is for another address (Recipient)");
  checkInResponseTo(attribute(data, "InResponseTo"), expected, "assertion");
  checkNotBefore(data, expected);
  return checkNotOnOrAfter(data, "NotOnOrAfter", expected) ?? refuse("the assertion has no expiry time (NotOnOrAfter)");
}

function checkConditions(conditions: XmlElement, expected: ExpectedAssertion): number | null {
  checkNotBefore(conditions, expected);
  const understood = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"];
  if (conditions.children.some(({ uri, name }) => uri !== ns.assertion || !understood.includes(name)))
    refuse("the assertion has a condition that is not supported (Conditions)");
  const restrictions = childrenOf(conditions, ns.assertion, "AudienceRestriction");
  if (restrictions.length === 0) refuse("the assertion has no audience (Audience)");
  for (const restriction of restrictions) {
    const audiences = childrenOf(restriction, ns.assertion, "Audience").map((audience) =>
      plainText(audience, "Audience"),
    );
    if (!audiences.some((audience) => expected.audiences.includes(audience)))
      refuse("the assertion is for another service (Audience)");
  }
  return checkNotOnOrAfter(conditions, "NotOnOrAfter", expected);
}

/** An assertion without an authentication statement does not prove that the user signed in. */
function checkStatements(assertion: XmlElement, expected: ExpectedAssertion): void {
  const statements = childrenOf(assertion, ns.assertion, "AuthnStatement");
  if (statements.length === 0) refuse("the assertion does not state that the user signed in (AuthnStatement)");
  for (const statement of statements) checkNotOnOrAfter(statement, "SessionNotOnOrAfter", expected);
}

function timeOf(element: XmlElement, name: string): number | null {
  const text = attribute(element, name);
  return text === null ? null : (instant(text) ?? refuse(`the assertion's ${name} is not a time in UTC`));
}

function checkNotBefore(element: XmlElement, { now }: ExpectedAssertion): void {
  const from = timeOf(element, "NotBefore");
  if (from !== null && now + SKEW < from) refuse("the assertion is not valid yet (NotBefore)");
}

function checkNotOnOrAfter(element: XmlElement, name: string, { now }: ExpectedAssertion): number | null {
  const until = timeOf(element, name);
  if (until !== null && now - SKEW >= until) refuse(`the assertion has expired (${name})`);
  return until;
}

function nameIdOf(subject: XmlElement): string {
  const nameId = elementText(subject, "NameID");
  if (nameId === "") refuse("the assertion has no NameID");
  if (nameId.length > 255) refuse("the assertion's name is too long (NameID)");
  return nameId;
}

/** All values of each attribute, in order. Attributes with the same name are combined. */
function attributesOf(assertion: XmlElement): Map<string, readonly string[]> {
  const attributes = new Map<string, string[]>();
  for (const statement of childrenOf(assertion, ns.assertion, "AttributeStatement"))
    for (const element of childrenOf(statement, ns.assertion, "Attribute")) {
      const name = attribute(element, "Name") ?? "";
      const values = childrenOf(element, ns.assertion, "AttributeValue").map(({ text }) => text.trim());
      attributes.set(name, [...(attributes.get(name) ?? []), ...values]);
    }
  return attributes;
}

function only(parent: XmlElement, name: string): XmlElement {
  const [child, ...more] = childrenOf(parent, ns.assertion, name);
  return child && more.length === 0 ? child : refuse(`the assertion must have exactly one ${name}`);
}

const elementText = (parent: XmlElement, name: string): string => plainText(only(parent, name), name);

/** The text of an element without child elements: text mixed with elements could be interpreted in several ways. */
function plainText(element: XmlElement, name: string): string {
  if (element.children.length > 0) refuse(`there are elements within ${name}`);
  return element.text.trim();
}
