import { HostOperation, operationsApi } from "../../api/hosts/operations.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args } from "../../cli/flags.ts";

export default class OperationsGet extends ClientCommand {
  static override summary = "Show an operation of a host, and whether it can be cancelled.";
  static override endpoints = [operationsApi.get];
  static override args = { id: args.required("id of the operation") };
  static override examples = ["<%= config.bin %> <%= command.id %> 1"];

  async run() {
    const { args } = await this.parse(OperationsGet);
    const { operation } = await this.call(operationsApi.get, { params: { id: args.id } });
    await this.printOne(operation, { schema: () => HostOperation });
  }
}
