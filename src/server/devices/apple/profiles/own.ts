import { withoutInvisible } from "../../../../agent-wire/invisible.ts";

/** Prefixes of the identifiers, in lower case, that the server's own profiles and declarations have. */
const ownPrefixes: readonly string[] = ["svc.", "com.svc."];

/** How devices compare types and identifiers: letter case and spaces around them do not matter. */
export const comparable = (name: string): string => withoutInvisible(name).trim().toLowerCase();

export const isOwnIdentifier = (identifier: string): boolean =>
  ownPrefixes.some((prefix) => comparable(identifier).startsWith(prefix));
