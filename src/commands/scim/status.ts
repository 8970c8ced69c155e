import { scimApi } from "../../api/hosts/scim.ts";
import { ClientCommand } from "../../cli/client-command.ts";

export default class ScimStatus extends ClientCommand {
  static override summary = "Show the identity provider's last request, and whether it succeeded.";
  static override endpoints = [scimApi.details];
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(ScimStatus);
    const { last_request } = await this.call(scimApi.details);
    if (last_request === null) this.note("the identity provider has sent no request yet");
    await this.printOne(last_request ?? { requested_at: null, status: null, details: null }, {
      columns: [{ key: "requested_at" }, { key: "status" }, { key: "details" }],
    });
  }
}
