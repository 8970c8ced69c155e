import * as Flags from "@oclif/core/flags";
import { setupApi } from "../api/settings/setup.ts";
import { saveContext } from "../cli/auth/contexts.ts";
import { contextNameFor } from "../cli/auth/sign-in.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { readSecret, secretFlags } from "../cli/files/input.ts";
import { dryRunFlag } from "../cli/flags.ts";

export default class Setup extends ClientCommand {
  static override summary = "Create the first admin of a new server, and sign in with this account.";
  static override description =
    "The password is read from a prompt, a file, stdin, or SVC_PASSWORD. On another machine, you also need the setup token that `svc serve` " +
    "printed when it started (or set SVC_SETUP_TOKEN).";
  static override endpoints = [setupApi.run];
  static override flags = {
    name: Flags.string({ summary: "Name of the admin.", default: "Admin" }),
    email: Flags.string({ summary: "Email address of the admin." }),
    "org-name": Flags.string({ summary: "Name of the organization." }),
    "public-url": Flags.string({ summary: "URL that agents and browsers use for the server.", helpValue: "URL" }),
    ...secretFlags("password", "the password"),
    ...secretFlags("setup-token", "the setup token"),
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> --email admin@example.com --org-name Example --password-file password.txt",
  ];

  async run() {
    const { flags } = await this.parse(Setup);
    const connection = await this.connection();
    const email = flags.email ?? (await this.askText("Email", "--email"));
    const password =
      (await readSecret(this.io, flags, "password", "SVC_PASSWORD")) ??
      (await this.askNewSecret("Password", "--password-stdin, --password-file or SVC_PASSWORD"));
    const setupToken = await readSecret(this.io, flags, "setup-token", "SVC_SETUP_TOKEN");
    const body = {
      admin: { name: flags.name, email, password, password_confirmation: password },
      org_info: { org_name: flags["org-name"] ?? "" },
      server_url: flags["public-url"] ?? connection.serverUrl,
      ...(setupToken === undefined ? {} : { setup_token: setupToken.trim() }),
    };
    if (flags["dry-run"]) {
      await this.tryOut(setupApi.run, { body });
      return this.printPlan(`create admin ${email} on ${connection.serverUrl}`, {
        email,
        server_url: connection.serverUrl,
      });
    }
    const { token, admin } = await this.clientFor(connection, null).call(setupApi.run, { body });
    const name = contextNameFor(connection, flags.context);
    const { remark } = await saveContext(
      {
        name,
        serverUrl: connection.serverUrl,
        token,
        email: admin.email,
        ca: connection.ca,
        insecure: connection.insecure,
        makeCurrent: true,
      },
      this.io,
    );
    if (remark) this.warn(remark);
    await this.report(`created ${admin.email} and signed in (context ${name})`, { ...admin, context: name });
  }
}
