import * as Flags from "@oclif/core/flags";
import { certificatesApi } from "../../api/certificates/certificates.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { usage } from "../../cli/errors.ts";
import { args, dryRunFlag, teamFlag, yesFlag } from "../../cli/flags.ts";
import { findTemplate } from "../../cli/topics/certificates.ts";

export default class CertificatesDelete extends ClientCommand {
  static override summary = "Delete certificate templates.";
  static override destructive = true;
  static override description =
    "Asks y or N for one template. For several, you must type their number or give --confirm NUMBER, and they must belong to the same team.";
  static override endpoints = [certificatesApi.delete, certificatesApi.deleteSpecs];
  static override strict = false;
  static override args = { templates: args.optional("ids, or names within the team, of templates") };
  static override flags = {
    ...teamFlag,
    confirm: Flags.string({ summary: "Number of templates that will be deleted." }),
    ...yesFlag,
    ...dryRunFlag,
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> Wi-Fi --yes",
    "<%= config.bin %> <%= command.id %> Wi-Fi Guests --confirm 2",
  ];

  async run() {
    const { argv, flags } = await this.parse(CertificatesDelete);
    const byId = new Map<number, { id: number; name: string }>();
    for (const text of argv.map(String)) {
      const { id, name } = await findTemplate(this, text, flags.team);
      byId.set(id, { id, name });
    }
    const templates = [...byId.values()];
    const [only] = templates;
    if (!only) throw usage("no templates are given", "Name them, by name or id.");
    const what =
      templates.length === 1 ? `certificate template ${only.name}` : `${templates.length} certificate templates`;
    if (flags["dry-run"]) this.trying(`delete ${what}`, templates);
    if (templates.length === 1) {
      await this.confirm(`Delete ${what}?`);
      await this.call(certificatesApi.delete, { params: { id: only.id } });
    } else {
      await this.confirmTyped(`Delete ${what}?`, String(templates.length));
      const ids = templates.map(({ id }) => id);
      await this.call(certificatesApi.deleteSpecs, { body: { ids, ...(await this.teamFilter(flags.team)) } });
    }
    await this.report(`deleted ${what}`, { deleted: templates.length, certificates: templates });
  }
}
