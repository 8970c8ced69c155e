import { scimApi } from "../../api/hosts/scim.ts";
import { ClientCommand } from "../../cli/client-command.ts";

export default class ScimCapabilities extends ClientCommand {
  static override summary = "Show what identity providers can send, and the parts of SCIM that the server supports.";
  static override endpoints = [scimApi.serviceProviderConfig, scimApi.resourceTypes, scimApi.schemas];
  static override examples = ["<%= config.bin %> <%= command.id %> -o json"];

  async run() {
    await this.parse(ScimCapabilities);
    const config = await this.call(scimApi.serviceProviderConfig);
    const { Resources: types } = await this.call(scimApi.resourceTypes);
    const { Resources: schemas } = await this.call(scimApi.schemas);
    await this.printOne(
      { patch: config.patch.supported, filter: config.filter.supported, resource_types: types, schemas },
      { columns: [{ key: "patch" }, { key: "filter" }] },
    );
  }
}
