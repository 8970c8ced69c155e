import { BaseCommand } from "../cli/base-command.ts";
import { type Check, examine } from "../cli/doctor.ts";
import { CliError } from "../cli/errors.ts";
import { connectionFlags, generalFlags, outputFlags } from "../cli/flags.ts";
import type { ConnectionFlags } from "../cli/settings.ts";

const marks = { ok: [32, "ok"], warning: [33, "warning"], failed: [31, "failed"], skipped: [2, "skipped"] } as const;

export default class Doctor extends BaseCommand {
  static override summary = "Look for what is wrong between this machine and the server; works with the server down.";
  static override baseFlags = { ...generalFlags, ...outputFlags, ...connectionFlags };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(Doctor);
    const progress = this.progress("looking ...");
    const checks = await examine(this.io, this.common as ConnectionFlags, this.config.version).finally(progress.done);
    await this.printList(checks, {
      columns: [
        { key: "check" },
        {
          key: "status",
          text: (status) => {
            const [colour, word] = marks[status as Check["status"]];
            return this.paint(colour, word, "stdout");
          },
        },
        { key: "detail" },
        { key: "hint" },
      ],
    });
    const bad = checks.filter(({ status }) => status === "failed");
    if (bad.length === 0) return;
    const down = bad.some(({ check }) => ["address", "connection", "certificate"].includes(check));
    throw new CliError(down ? "unreachable" : "failed", `failed: ${bad.map(({ check }) => check).join(", ")}`);
  }
}
