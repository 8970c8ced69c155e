import type { ConnectionFlags } from "../cli/auth/connection.ts";
import { BaseCommand } from "../cli/base-command.ts";
import { CliError } from "../cli/errors.ts";
import { connectionFlags, generalFlags, outputFlags } from "../cli/flags.ts";
import { type Check, examine } from "../cli/topics/doctor/checks.ts";

const colours = { ok: 32, warning: 33, failed: 31, skipped: 2 } as const;

export default class Doctor extends BaseCommand {
  static override summary =
    "Diagnose the connection between this machine and the server; works even if the server is down.";
  static override baseFlags = { ...generalFlags, ...outputFlags, ...connectionFlags };
  static override examples = ["<%= config.bin %> <%= command.id %>"];

  async run() {
    await this.parse(Doctor);
    const progress = this.progress("looking ...");
    const checks = await examine(this.io, this.common as ConnectionFlags, this.config.version).finally(progress.done);
    await this.printList(checks, {
      columns: [
        { key: "check", whole: true },
        {
          key: "status",
          whole: true,
          paint: (status) => this.paint(colours[status as Check["status"]], status, "stdout"),
        },
        { key: "detail", wrap: true },
        { key: "hint", wrap: true },
      ],
    });
    const bad = checks.filter(({ status }) => status === "failed");
    if (bad.length === 0) return;
    const down = bad.some(({ check }) => ["address", "connection", "certificate"].includes(check));
    throw new CliError(down ? "unreachable" : "failed", `failed: ${bad.map(({ check }) => check).join(", ")}`);
  }
}
