// The profile that configures the agent on Macs: which server it belongs to, and the secret to enroll with.
import { createHash } from "node:crypto";
import type { PlistDict } from "../../../../plist/value.ts";
import { writePlist } from "../../../../plist/write.ts";
import type { Upload } from "../../profiles/rules.ts";
import { AGENT_SECRET } from "../../profiles/variables.ts";
import { applePlatform } from "../profiles/platform.ts";

export const AGENT_IDENTIFIER = "svc.agent";
/** Users see it in the settings of their Mac. */
const NAME = "Agent (svc)";
/** The domain of preferences that the agent reads. */
const DOMAIN = "com.svc.agent";

const payload = (type: string, part: string, uuid: string, fields: PlistDict): PlistDict => ({
  PayloadType: type,
  PayloadVersion: 1,
  PayloadIdentifier: `${AGENT_IDENTIFIER}${part}`,
  PayloadUUID: uuid,
  PayloadDisplayName: NAME,
  ...fields,
});

/** The secret is put in when the Mac gets the profile. */
export function agentUpload(serverUrl: string): Upload {
  const settings = payload(DOMAIN, ".settings", "3D8E1B6A-4C27-4F90-8A15-7B2E9C0D6F31", {
    ServerURL: serverUrl,
    EnrollSecret: `$SVC_${AGENT_SECRET}`,
  });
  const whole = payload("Configuration", "", "6F2A9C4E-1B73-4D58-9E06-C3A7F5B81D42", {
    PayloadScope: "System",
    PayloadDescription: "Tells the agent which server of your organization it belongs to.",
    PayloadContent: [settings],
  });
  const bytes = Buffer.from(writePlist(whole));
  return {
    platform: applePlatform,
    letter: "a",
    kind: "profile",
    name: NAME,
    identifier: AGENT_IDENTIFIER,
    bytes,
    checksum: createHash("sha256").update(bytes).digest("hex"),
    field: "profile",
    has_variables: true,
    activation: null,
    activation_identifier: null,
  };
}
