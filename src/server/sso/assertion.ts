// What a response and its verified assertion must say (SAML profiles 4.1.4; device-protocols.md section 5).
import { refuse } from "./refusal.ts";
import { attribute, childrenOf, instant, ns, type XmlElement } from "./xml.ts";

export interface Expected {
  /** The identity provider's entity id. */
  readonly issuer: string;
  /** Our assertion consumer service. */
  readonly acs: string;
  /** Names of ours that an audience may be. */
  readonly audiences: readonly string[];
  /** The request that it answers; null: none, the identity provider began. */
  readonly requestId: string | null;
  /** Milliseconds. */
  readonly now: number;
}

export interface Assertion {
  readonly id: string;
  /** As the identity provider spells it. */
  readonly nameId: string;
  /** From then on it would be refused for its age; milliseconds. */
  readonly until: number;
  readonly attributes: ReadonlyMap<string, readonly string[]>;
}

export const SKEW = 60_000;

/** Of the response around the assertion, which may not be signed: more reasons to refuse, none to accept. */
export function checkResponse(root: XmlElement, expected: Expected): void {
  const destination = attribute(root, "Destination");
  if (destination !== null && destination !== expected.acs) refuse("the response is for another address (Destination)");
  checkInResponseTo(attribute(root, "InResponseTo"), expected, "response");
  const issuers = childrenOf(root, ns.assertion, "Issuer");
  if (issuers.some((issuer) => plainText(issuer, "Issuer") !== expected.issuer))
    refuse("the response is from another identity provider (Issuer)");
}

/** Reads the assertion, of which every byte is signed. */
export function readAssertion(assertion: XmlElement, expected: Expected): Assertion {
  if (attribute(assertion, "Version") !== "2.0") refuse("the assertion is not of SAML 2.0");
  if (textOf(assertion, "Issuer") !== expected.issuer)
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

function checkInResponseTo(found: string | null, { requestId }: Expected, where: string): void {
  if (found === requestId) return;
  if (requestId === null) refuse(`the ${where} answers a request, but no sign-in began in this browser (InResponseTo)`);
  refuse(`the ${where} does not answer the request of this browser's sign-in (InResponseTo)`);
}

/** Exactly one confirmation by bearer, which has to hold; gives until when it does. */
function checkConfirmation(subject: XmlElement, expected: Expected): number {
  const bearers = childrenOf(subject, ns.assertion, "SubjectConfirmation").filter(
    (one) => attribute(one, "Method") === "urn:oasis:names:tc:SAML:2.0:cm:bearer",
  );
  if (bearers.length === 0) refuse("the assertion has no subject confirmation by bearer");
  if (bearers.length > 1) refuse("the assertion has several subject confirmations by bearer");
  const data = only(bearers[0]!, "SubjectConfirmationData");
  if (attribute(data, "Recipient") !== expected.acs) refuse("the assertion is for another address (Recipient)");
  checkInResponseTo(attribute(data, "InResponseTo"), expected, "assertion");
  checkNotBefore(data, expected);
  return (
    checkNotOnOrAfter(data, "NotOnOrAfter", expected) ??
    refuse("the assertion does not say until when it can be used (NotOnOrAfter)")
  );
}

function checkConditions(conditions: XmlElement, expected: Expected): number | null {
  checkNotBefore(conditions, expected);
  const known = ["AudienceRestriction", "OneTimeUse", "ProxyRestriction"];
  if (conditions.children.some(({ uri, name }) => uri !== ns.assertion || !known.includes(name)))
    refuse("the assertion makes a condition that is not understood (Conditions)");
  const restrictions = childrenOf(conditions, ns.assertion, "AudienceRestriction");
  if (restrictions.length === 0) refuse("the assertion does not say for whom it is (Audience)");
  for (const restriction of restrictions) {
    const audiences = childrenOf(restriction, ns.assertion, "Audience").map((one) => plainText(one, "Audience"));
    if (!audiences.some((audience) => expected.audiences.includes(audience)))
      refuse("the assertion is for somebody else (Audience)");
  }
  return checkNotOnOrAfter(conditions, "NotOnOrAfter", expected);
}

/** Without a statement that the user signed in, an assertion only tells of attributes. */
function checkStatements(assertion: XmlElement, expected: Expected): void {
  const statements = childrenOf(assertion, ns.assertion, "AuthnStatement");
  if (statements.length === 0) refuse("the assertion does not say that the user signed in (AuthnStatement)");
  for (const statement of statements) checkNotOnOrAfter(statement, "SessionNotOnOrAfter", expected);
}

function timeOf(element: XmlElement, name: string): number | null {
  const text = attribute(element, name);
  return text === null ? null : (instant(text) ?? refuse(`the assertion's ${name} is no time in UTC`));
}

function checkNotBefore(element: XmlElement, { now }: Expected): void {
  const from = timeOf(element, "NotBefore");
  if (from !== null && now + SKEW < from) refuse("the assertion is not valid yet (NotBefore)");
}

function checkNotOnOrAfter(element: XmlElement, name: string, { now }: Expected): number | null {
  const until = timeOf(element, name);
  if (until !== null && now - SKEW >= until) refuse(`the assertion has expired (${name})`);
  return until;
}

function nameIdOf(subject: XmlElement): string {
  const nameId = textOf(subject, "NameID");
  if (nameId === "") refuse("the assertion names nobody (NameID)");
  if (nameId.length > 255) refuse("the assertion's name is too long (NameID)");
  return nameId;
}

/** Of every attribute all values, in order; attributes of the same name are one. */
function attributesOf(assertion: XmlElement): Map<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const statement of childrenOf(assertion, ns.assertion, "AttributeStatement"))
    for (const one of childrenOf(statement, ns.assertion, "Attribute")) {
      const name = attribute(one, "Name") ?? "";
      const values = childrenOf(one, ns.assertion, "AttributeValue").map(({ text }) => text.trim());
      found.set(name, [...(found.get(name) ?? []), ...values]);
    }
  return found;
}

function only(parent: XmlElement, name: string): XmlElement {
  const [found, ...more] = childrenOf(parent, ns.assertion, name);
  return found && more.length === 0 ? found : refuse(`the assertion has not exactly one ${name}`);
}

const textOf = (parent: XmlElement, name: string): string => plainText(only(parent, name), name);

/** Text with elements in it could be read in more than one way. */
function plainText(element: XmlElement, name: string): string {
  if (element.children.length > 0) refuse(`there are elements within ${name}`);
  return element.text.trim();
}
