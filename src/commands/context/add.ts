import * as Flags from "@oclif/core/flags";
import { checkServerUrl } from "../../cli/auth/connection.ts";
import { saveContext } from "../../cli/auth/contexts.ts";
import { BaseCommand } from "../../cli/base-command.ts";
import { usage } from "../../cli/errors.ts";
import { textOf } from "../../cli/files/file-errors.ts";
import { readSecret, secretFlags } from "../../cli/files/input.ts";
import { args } from "../../cli/flags.ts";

export default class ContextAdd extends BaseCommand {
  static override summary = "Save a server under a name, as `svc login` does.";
  static override args = { context: args.context };
  static override flags = {
    "server-url": Flags.string({ summary: "URL of the server.", required: true, helpValue: "URL" }),
    "ca-file": Flags.string({ summary: "File with certificates to trust (PEM).", helpValue: "FILE" }),
    insecure: Flags.boolean({ summary: "Do not check the server's certificate." }),
    use: Flags.boolean({ summary: "Make it the current context." }),
    ...secretFlags("token", "an API token"),
  };
  static override examples = ["<%= config.bin %> <%= command.id %> production --server-url https://svc.example.com"];

  async run() {
    const { args, flags } = await this.parse(ContextAdd);
    const serverUrl = checkServerUrl(flags["server-url"], "--server-url");
    const token = (await readSecret(this.io, flags, "token"))?.trim();
    const ca = flags["ca-file"] === undefined ? null : await this.#pem(flags["ca-file"]);
    const { remark } = await saveContext(
      {
        name: args.context,
        serverUrl,
        ca,
        insecure: flags.insecure,
        makeCurrent: flags.use,
        ...(token === undefined ? {} : { token }),
      },
      this.io,
    );
    if (remark) this.warn(remark);
    await this.report(`saved context ${args.context}`, { name: args.context, server_url: serverUrl });
  }

  async #pem(path: string): Promise<string> {
    const text = await textOf(path, "--ca-file");
    if (!text.includes("-----BEGIN CERTIFICATE-----")) throw usage(`--ca-file: ${path} contains no PEM certificate`);
    return text;
  }
}
