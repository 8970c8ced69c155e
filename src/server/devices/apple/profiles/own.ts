/** Prefixes of the identifiers, in lower case, that the server's own profiles and declarations have. */
export const OWN_IDENTIFIERS: readonly string[] = ["svc.", "com.svc."];
