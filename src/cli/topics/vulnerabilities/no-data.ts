// Without vulnerability data nothing can be found, which is not the same as that there is nothing.

import { vulnerabilitiesApi } from "../../../api/software/vulnerabilities.ts";
import type { ClientCommand } from "../../client-command.ts";

const NO_DATA =
  "vulnerability data was never imported, so nothing is known about the software of your hosts; see svc vulnerabilities status";

/** The part of a reply that has vulnerabilities. */
interface Reply {
  readonly vulnerability_data_imported_at: string | null;
}

/** Says so if nothing is known about vulnerabilities. Without a reply, as after a list, the server is asked. */
export async function noteMissingData(command: ClientCommand, reply?: Reply): Promise<boolean> {
  const { vulnerability_data_imported_at } =
    reply ?? (await command.call(vulnerabilitiesApi.list, { query: { per_page: 1 } }));
  if (vulnerability_data_imported_at === null) command.note(NO_DATA);
  return vulnerability_data_imported_at === null;
}

/** Says so after a list of hosts that are chosen by their vulnerabilities. A mistake of the selector is the server's to report. */
export async function noteMissingDataFor(command: ClientCommand, where: string | undefined): Promise<void> {
  if (where !== undefined && /\bcve\b/i.test(where)) await noteMissingData(command);
}
