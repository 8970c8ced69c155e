import * as Flags from "@oclif/core/flags";
import { osqueryFlags } from "../../agent-wire/osquery-flags.ts";
import { appConfigApi } from "../../api/settings/app-config.ts";
import { ClientCommand } from "../../cli/client-command.ts";

export default class AgentFlags extends ClientCommand {
  static override summary = "Print the flag file of an osqueryd that enrolls in this server.";
  static override examples = ["<%= config.bin %> <%= command.id %> > osquery.flags"];
  static override endpoints = [appConfigApi.get];
  static override flags = {
    "server-certs": Flags.string({
      summary: "File on the host with the certificate to trust (see `svc config certificate`).",
      helpValue: "PATH",
    }),
    "secret-path": Flags.string({ summary: "File on the host with the enroll secret.", helpValue: "PATH" }),
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(AgentFlags);
    const config = await this.call(appConfigApi.get);
    const { serverUrl } = await this.connection();
    const url = config.server_settings.server_url || serverUrl;
    if (!url.startsWith("https:"))
      this.warn(
        "agents only connect over TLS: run the server with --tls-self-signed, or behind a proxy that terminates TLS",
      );
    const lines = osqueryFlags({
      serverUrl: url,
      ...(flags["server-certs"] === undefined ? {} : { serverCerts: flags["server-certs"] }),
      ...(flags["secret-path"] === undefined ? {} : { secretPath: flags["secret-path"] }),
    });
    if (this.structured) await this.printOne(Object.fromEntries(lines.map((line) => line.slice(2).split(/=(.*)/s, 2))));
    else this.log(lines.join("\n"));
  }
}
