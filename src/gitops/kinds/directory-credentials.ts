// Credentials for the directory of the organization: one set at most.
import { isRecord, listIn } from "../../text/record.ts";
import { thing } from "../desired/values.ts";
import { fieldsOf } from "../export/fields.ts";
import type { Value } from "../files/overlay.ts";
import { anyOf } from "../plan/activities.ts";
import type { Kind } from "./kind.ts";

const NAME = "directory";
const KEY = "directory_graph_credentials";
/** The secret that the server has. */
const KEPT = { $secret: "" };

/** The server's spelling: a file may have a GUID in capitals. */
const guid = (text: unknown): string => String(text).trim().toLowerCase();

function credentialsIn(settings: Value | null | undefined): Value[] {
  const credentials = settings?.[KEY];
  return listIn(credentials)
    .filter(isRecord)
    .map(({ tenant_id, client_id, client_secret }) => ({
      tenant_id: guid(tenant_id),
      client_id: guid(client_id),
      client_secret: client_secret === undefined || client_secret === null ? KEPT : client_secret,
    }));
}

export const directoryCredentials: Kind = {
  noun: "credentials for the directory",
  desired: ({ global }) =>
    credentialsIn(global?.values.settings).map((value) => thing("directory_credentials", null, value, NAME)),
  isComplete: (_, { global }) => global !== undefined,
  exported({ file, objects }) {
    const all = file === "global" ? objects.all(null, "directory_credentials") : [];
    return all.length === 0 ? {} : { settings: { [KEY]: all.map(({ value }) => fieldsOf(value)) } };
  },
  typesOf: () => anyOf(KEY).map((type) => type.replace("created_", "added_")),
  isAbout: () => true,
};
