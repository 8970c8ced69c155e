import * as Flags from "@oclif/core/flags";
import { ssoApi } from "../../api/accounts/sso.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";

export default class SsoStart extends ClientCommand {
  static override summary =
    "Start a single sign-on and print the address of the identity provider, to test the settings.";
  static override description =
    "The server fetches the identity provider's metadata if necessary, and reports problems with it. The sign-in " +
    "cannot be finished with this command; use `svc login --sso` for that.";
  static override endpoints = [ssoApi.start];
  static override flags = {
    "relay-url": Flags.string({ summary: "Path of the server to open after signing in.", default: "/" }),
    ...dryRunFlag,
  };
  static override examples = ["<%= config.bin %> <%= command.id %> --relay-url /hosts"];

  async run() {
    const { flags } = await this.parse(SsoStart);
    const body = { relay_url: flags["relay-url"] };
    if (flags["dry-run"]) {
      this.trying("start a single sign-on", body);
    }
    const { url } = await this.call(ssoApi.start, { body });
    await this.printOne({ url });
  }
}
