import * as Flags from "@oclif/core/flags";
import { ssoApi } from "../../api/sso.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { dryRunFlag } from "../../cli/flags.ts";

export default class SsoStart extends ClientCommand {
  static override summary =
    "Begin a sign-in and show where the browser would be sent: whether single sign-on works up to there.";
  static override description =
    "The server fetches the identity provider's metadata where it has to, and says what is wrong with it. The sign-in " +
    "itself cannot be finished from here; `svc login --sso` does that.";
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
      this.validate(ssoApi.start, body);
      return this.printPlan("begin a sign-in", body);
    }
    const { url } = await this.call(ssoApi.start, { body });
    await this.printOne({ url });
  }
}
