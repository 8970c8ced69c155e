/** Prefixes of the identifiers, in lower case, that the server's own profiles and declarations have. */
export const OWN_IDENTIFIERS: readonly string[] = ["svc.", "com.svc."];

/** Of the enrollment profile. It never changes: a profile with the same one replaces the installed profile. */
export const ENROLLMENT_IDENTIFIER = "com.svc.mdm";
