import { HostVulnerabilityDetails, vulnerabilitiesApi } from "../../api/software/vulnerabilities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { args, teamFlag } from "../../cli/flags.ts";
import { vulnerabilityColumns } from "../../cli/topics/software/versions.ts";
import { noteMissingData } from "../../cli/topics/vulnerabilities/no-data.ts";

const counted = ({ name, hosts_count }: { name: string; hosts_count: number }): string => `${name} (${hosts_count})`;

export default class VulnerabilitiesGet extends ClientCommand {
  static override summary = "Show a vulnerability, and the software and operating systems that it affects.";
  static override description =
    "Prints nothing if the CVE is known but affects none of the hosts that you may see. Exit code 3 if it is not known.";
  static override endpoints = [vulnerabilitiesApi.get];
  static override args = { cve: args.required("id of the CVE, such as CVE-2026-0001") };
  static override flags = { ...teamFlag };
  static override examples = [
    "<%= config.bin %> <%= command.id %> CVE-2026-0001",
    "<%= config.bin %> <%= command.id %> CVE-2026-0001 -o json --jq '.software[] | {name, version, hosts_count}'",
  ];

  async run() {
    const { args, flags } = await this.parse(VulnerabilitiesGet);
    const query = await this.teamFilter(flags.team);
    const { vulnerability } = await this.call(vulnerabilitiesApi.get, { params: { cve: args.cve }, query });
    if (vulnerability === undefined) {
      if (!(await noteMissingData(this))) this.note(`${args.cve.toUpperCase()} affects no hosts`);
      return;
    }
    await this.printOne(vulnerability, {
      schema: () => HostVulnerabilityDetails,
      columns: [
        ...vulnerabilityColumns,
        {
          key: "software",
          text: () =>
            vulnerability.software
              .map(({ name, version, hosts_count }) => counted({ name: `${name} ${version}`, hosts_count }))
              .join(", "),
        },
        {
          key: "os_versions",
          header: "operating systems",
          text: () => vulnerability.os_versions.map(counted).join(", "),
        },
        { key: "cve_description", header: "description" },
        { key: "details_link", header: "details" },
      ],
    });
  }
}
