import * as Flags from "@oclif/core/flags";
import { directoryApi } from "../../api/hosts/directory.ts";
import { changesOf } from "../../cli/base-command.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { readBody, readSecret, secretFlags } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";
import { isRecord, listIn } from "../../text/record.ts";

export default class DirectorySet extends ClientCommand {
  static override summary = "Set the credentials with which the server reads the organization's cloud directory.";
  static override description =
    "The server first checks with the directory that it accepts them. The app needs the permissions User.Read.All and " +
    "GroupMember.Read.All. The secret can be omitted while tenant and client stay the same; for others the command " +
    "prompts for it. The directory is read every hour; `svc jobs run directory_sync` reads it immediately.";
  static override endpoints = [directoryApi.credentials, directoryApi.setCredentials];
  static override flags = {
    "tenant-id": Flags.string({ summary: "GUID of the directory; default: the current one.", helpValue: "GUID" }),
    "client-id": Flags.string({ summary: "GUID of the app; default: the current one.", helpValue: "GUID" }),
    ...secretFlags("client-secret", "the client secret of the app"),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --tenant-id 11111111-2222-3333-4444-555555555555 --client-id 66666666-7777-8888-9999-aaaaaaaaaaaa --client-secret-file app-secret.txt",
  ];

  async run() {
    const { flags } = await this.parse(DirectorySet);
    const input = entryIn(await readBody(this.io, flags.input));
    const text = (field: string, flag: string | undefined): string | undefined =>
      flag ?? (typeof input[field] === "string" ? input[field] : undefined);
    const current = (await this.call(directoryApi.credentials)).directory_graph_credentials[0];
    const tenant = text("tenant_id", flags["tenant-id"]) ?? current?.tenant_id;
    const client = text("client_id", flags["client-id"]) ?? current?.client_id;
    const tenant_id = tenant ?? (await this.askText("tenant_id", "--tenant-id"));
    const client_id = client ?? (await this.askText("client_id", "--client-id"));
    const isSame = current?.tenant_id === tenant_id && current.client_id === client_id;
    const secret = text("client_secret", await readSecret(this.io, flags, "client-secret"));
    const client_secret =
      secret ?? (isSame ? undefined : await this.askSecret("The client secret", "--client-secret-stdin or -file"));
    if (flags["dry-run"])
      this.trying(
        `set the credentials for the directory ${tenant_id}`,
        { tenant_id, client_id },
        changesOf(
          { tenant_id: current?.tenant_id, client_id: current?.client_id },
          { tenant_id, client_id, ...(client_secret === undefined ? {} : { client_secret: "(secret)" }) },
        ),
      );
    const entry = { tenant_id, client_id, ...(client_secret === undefined ? {} : { client_secret }) };
    const { directory_graph_credentials: rows } = await this.call(directoryApi.setCredentials, {
      body: { directory_graph_credentials: [entry] },
    });
    await this.report(`set the credentials for the directory ${tenant_id}`, rows[0]!);
  }
}

/** The entry in a file: within the API's body, or its fields at the top level. */
function entryIn(body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const list = body.directory_graph_credentials;
  if (list === undefined) return body;
  const [entry, ...more] = listIn(list);
  if (!isRecord(entry) || more.length > 0)
    throw usage(
      "--input: directory_graph_credentials must have exactly one entry",
      "`svc directory delete` deletes the credentials.",
    );
  return entry;
}
