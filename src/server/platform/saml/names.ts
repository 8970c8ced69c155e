// Namespaces and times of SAML documents.
export const ns = {
  assertion: "urn:oasis:names:tc:SAML:2.0:assertion",
  protocol: "urn:oasis:names:tc:SAML:2.0:protocol",
  metadata: "urn:oasis:names:tc:SAML:2.0:metadata",
  signature: "http://www.w3.org/2000/09/xmldsig#",
} as const;

const instantForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** A time in milliseconds. Null if the text is not a time or has no time zone. */
export function instant(text: string): number | null {
  const at = instantForm.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? null : at;
}
