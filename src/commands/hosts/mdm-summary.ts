import { hostDetailsApi, MdmSummary } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { countedSolutions, countedSolutionsView } from "../../cli/topics/hosts/view.ts";

export default class HostsMdmSummary extends ClientCommand {
  static override summary = "Count hosts by their enrollment in device management, without Windows servers.";
  static override endpoints = [hostDetailsApi.mdmSummary];
  static override flags = { ...queryFlags(hostDetailsApi.mdmSummary), ...teamFlag };
  static override examples = ["<%= config.bin %> <%= command.id %> --platform darwin"];

  async run() {
    const { flags } = await this.parse(HostsMdmSummary);
    const query = queryOf(hostDetailsApi.mdmSummary, flags, await this.teamFilter(flags.team));
    const reply = await this.call(hostDetailsApi.mdmSummary, { query });
    if (this.structured || flags.fields !== undefined) return this.printOne(reply, { schema: () => MdmSummary });
    const counts = reply.mobile_device_management_enrollment_status;
    const rows = [
      { what: "enrolled manually", hosts: counts.enrolled_manual_hosts_count },
      { what: "enrolled automatically", hosts: counts.enrolled_automated_hosts_count },
      { what: "enrolled, personal", hosts: counts.enrolled_personal_hosts_count },
      { what: "not enrolled", hosts: counts.unenrolled_hosts_count },
      { what: "all of them", hosts: counts.hosts_count },
      ...countedSolutions(reply.mobile_device_management_solution),
    ];
    await this.printList(rows, countedSolutionsView);
  }
}
