import { certificatesApi } from "../../api/certificates/certificates.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { limitFlags, teamFlag } from "../../cli/flags.ts";
import { queryFlags, queryOf } from "../../cli/query-flags.ts";
import { templateView } from "../../cli/topics/certificates.ts";

export default class CertificatesList extends ClientCommand {
  static override summary = "List the certificate templates of a team, or those for hosts without one.";
  static override endpoints = [certificatesApi.list];
  static override flags = { ...queryFlags(certificatesApi.list, ["team"]), ...teamFlag, ...limitFlags };
  static override examples = [
    "<%= config.bin %> <%= command.id %>",
    "<%= config.bin %> <%= command.id %> --team Workstations",
  ];

  async run() {
    const { flags } = await this.parse(CertificatesList);
    // The API's own `team` parameter is an id; here it may be a name, and is sent as `team_id`.
    const { team, ...others } = flags;
    const query = queryOf(certificatesApi.list, others, await this.teamFilter(team));
    await this.printList(this.pages(certificatesApi.list, { query }, "certificates"), templateView);
  }
}
