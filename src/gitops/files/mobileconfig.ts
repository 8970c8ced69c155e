// The name of an Apple configuration profile, which may be signed.
import { readSignedData } from "../../pki/signed-data.ts";
import { readPlistDict } from "../../plist/read.ts";
import { stringIn } from "../../plist/value.ts";
import { withoutDataVariables } from "../../text/data-variables.ts";

/** Throws an error with the reason if the file is not a profile. */
export function profileName(content: Buffer): string {
  // DER, so signed data: whose signature it is does not matter, because devices check it.
  const profile = content[0] === 0x30 ? readSignedData(content).content : content;
  if (profile === null) throw new Error("the signed data contain no profile");
  const name = stringIn(readPlistDict(withoutDataVariables(profile)), "PayloadDisplayName")?.trim() ?? "";
  if (name === "") throw new Error("the profile has no PayloadDisplayName");
  return name;
}
