import { AndroidEnterprise, androidApi } from "../../../api/devices/android.ts";
import { ClientCommand } from "../../../cli/client-command.ts";

export default class MdmAndroidStatus extends ClientCommand {
  static override summary = "Show the organization at the vendor with which Android devices are managed.";
  static override endpoints = [androidApi.get];
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> -o json"];

  async run() {
    await this.parse(MdmAndroidStatus);
    await this.printOne(await this.call(androidApi.get), { schema: () => AndroidEnterprise });
  }
}
