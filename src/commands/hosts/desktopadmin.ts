import { DesktopAdmin, HostDesktopAdmin, hostDetailsApi } from "../../api/inventory/host-details.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { counted, countedSolutions, countedSolutionsView } from "../../cli/topics/hosts/view.ts";
import { printable } from "../../text/printable.ts";

const issues = (value: unknown) =>
  Array.isArray(value) ? value.map(({ name, type }) => `${name} (${type})`).join(", ") : "";

export default class HostsDesktopadmin extends ClientCommand {
  static override summary = "Show the Munki and device management data of a Mac, or of all Macs.";
  static override endpoints = [hostDetailsApi.desktopAdmin, hostDetailsApi.desktopAdminSummary];
  static override args = { host: args.hosts };
  static override flags = { ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> mac-1.example.com",
    "<%= config.bin %> <%= command.id %> --team Workstations",
  ];

  async run() {
    const { args, flags } = await this.parse(HostsDesktopadmin);
    if (args.host === undefined) return this.#all(flags.team);
    if (flags.team !== undefined) throw usage("name a host or a team, not both");
    const { id, display_name } = await this.host(args.host);
    const { desktopadmin } = await this.call(hostDetailsApi.desktopAdmin, { params: { id } });
    if (desktopadmin === null && !this.structured) return this.note(`${printable(display_name)} is not a Mac`);
    await this.printOne(desktopadmin, {
      schema: () => HostDesktopAdmin,
      columns: [
        { key: "munki.version", header: "munki version" },
        { key: "munki_issues", header: "munki issues", text: issues },
        { key: "mobile_device_management.enrollment_status", header: "enrollment" },
        { key: "mobile_device_management.name", header: "product" },
        { key: "mobile_device_management.server_url", header: "server" },
      ],
    });
  }

  async #all(team: string | undefined): Promise<void> {
    const query = await this.teamFilter(team);
    const { desktopadmin } = await this.call(hostDetailsApi.desktopAdminSummary, { query });
    if (this.structured || this.common.fields !== undefined)
      return this.printOne(desktopadmin, { schema: () => DesktopAdmin });
    const mdm = desktopadmin.mobile_device_management_enrollment_status;
    const rows = [
      ...counted(desktopadmin.munki_versions, ({ version }) => `Munki ${version}`),
      ...counted(desktopadmin.munki_issues, ({ name, type }) => `${type}: ${name}`),
      { what: "enrolled manually", hosts: mdm.enrolled_manual_hosts_count },
      { what: "enrolled automatically", hosts: mdm.enrolled_automated_hosts_count },
      { what: "not enrolled", hosts: mdm.unenrolled_hosts_count },
      ...countedSolutions(desktopadmin.mobile_device_management_solution),
    ];
    await this.printList(rows, countedSolutionsView);
  }
}
