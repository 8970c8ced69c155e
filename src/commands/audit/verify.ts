import * as Flags from "@oclif/core/flags";
import { activitiesApi, type Verification } from "../../api/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";

/** Entries that one call checks: well under the time that an answer may take. */
const STEP = 50_000;

export default class AuditVerify extends ClientCommand {
  static override summary = "Check that no activity was changed, removed or put elsewhere.";
  static override description =
    "Activities form a chain: each carries a hash over its content and the one before it, and the servers sign where the chain ends. Exit " +
    "code 1 tells of a problem, the first of which is named. Note down the end that a sound chain is printed with, and give it as --known " +
    "later: that shows also a chain that was set back to an earlier state. `svc db check` makes the same check without a server.";
  static override endpoints = [activitiesApi.verify];
  static override flags = {
    known: Flags.string({
      summary: "An end that was noted down earlier: its position and hash.",
      helpValue: "POSITION:HASH",
    }),
  };
  static override examples = ["<%= config.bin %> <%= command.id %>", "<%= config.bin %> <%= command.id %> -o json"];

  async run() {
    const { flags } = await this.parse(AuditVerify);
    const known = flags.known === undefined ? {} : { known: flags.known };
    const progress = this.progress("checking ...");
    let found: Verification;
    let checked = 0;
    let from = {};
    try {
      for (;;) {
        found = await this.call(activitiesApi.verify, { query: { ...known, ...from, limit: STEP } });
        checked += found.checked;
        if (found.next === null) break;
        from = { from: found.next };
        progress.update(`${checked} of ${found.entries} checked ...`);
      }
    } finally {
      progress.done();
    }
    const { next: _, head, ...rest } = found;
    await this.printOne({ ...rest, checked, end: head === null ? null : `${head.position}:${head.hash}` });
    const { problem } = found;
    if (problem === null) return;
    const place = problem.position === null ? "" : ` at position ${problem.position}`;
    throw new CliError(
      "failed",
      `the chain of activities does not hold: ${problem.kind}${place}: ${problem.detail}`,
      "Compare with a backup or an export from before.",
    );
  }
}
