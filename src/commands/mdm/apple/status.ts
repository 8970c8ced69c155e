import { AppleStatus, appleTrustApi } from "../../../api/apple-trust.ts";
import { ClientCommand } from "../../../cli/client-command.ts";
import { enrolledElsewhere, SET_IT_BACK } from "../../../cli/features/enrolled-elsewhere.ts";

export default class MdmAppleStatus extends ClientCommand {
  static override summary = "Show whether Apple devices can be managed, and when which certificate ends.";
  static override endpoints = [appleTrustApi.status];
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> -o json"];

  async run() {
    await this.parse(MdmAppleStatus);
    const status = await this.call(appleTrustApi.status);
    await this.printOne(status, { schema: AppleStatus });
    const { devices_to_enroll_again: lost } = status;
    if (lost > 0) this.note(`${enrolledElsewhere(lost)}. ${SET_IT_BACK}`);
    for (const { name, days_left: left, not_valid_after: end } of status.expiring.filter(({ soon }) => soon))
      this.note(`the ${name} ${left < 0 ? "ended" : "ends"} on ${end.slice(0, 10)}: renew it`);
  }
}
