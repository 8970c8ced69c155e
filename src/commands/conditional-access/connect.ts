import * as Flags from "@oclif/core/flags";
import { conditionalAccessApi } from "../../api/automations/conditional-access.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { readBody } from "../../cli/files/input.ts";
import { dryRunFlag, inputFlag } from "../../cli/flags.ts";

export default class ConditionalAccessConnect extends ClientCommand {
  static override summary = "Begin to connect the directory: prints the URL at which its administrator gives consent.";
  static override description =
    "The server needs credentials of an app in this directory first: `svc directory set`. When consent was given, " +
    "`svc conditional-access confirm` completes the connection.";
  static override endpoints = [conditionalAccessApi.connect];
  static override flags = {
    "directory-tenant-id": Flags.string({ summary: "GUID of the directory.", helpValue: "GUID" }),
    ...inputFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --directory-tenant-id 11111111-2222-3333-4444-555555555555",
  ];

  async run() {
    const { flags } = await this.parse(ConditionalAccessConnect);
    const { directory_tenant_id: fromInput } = await readBody(this.io, flags.input);
    const tenantId = flags["directory-tenant-id"] ?? (typeof fromInput === "string" ? fromInput : undefined);
    const directory_tenant_id = tenantId ?? (await this.askText("directory_tenant_id", "--directory-tenant-id"));
    if (flags["dry-run"]) this.trying(`connect the directory ${directory_tenant_id}`, { directory_tenant_id });
    const reply = await this.call(conditionalAccessApi.connect, { body: { directory_tenant_id } });
    await this.report(reply.directory_authentication_url, reply);
    this.note("An administrator of the directory opens this URL; then run `svc conditional-access confirm`.");
  }
}
