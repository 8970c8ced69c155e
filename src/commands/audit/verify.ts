import * as Flags from "@oclif/core/flags";
import { activitiesApi, type Verification } from "../../api/platform/activities.ts";
import { ClientCommand } from "../../cli/client-command.ts";
import { CliError } from "../../cli/errors.ts";

/** Number of entries that one call checks, far fewer than would exceed the time limit of a reply. */
const BATCH_SIZE = 50_000;

export default class AuditVerify extends ClientCommand {
  static override summary = "Check that no activity was changed, removed or moved.";
  static override description =
    "Activities form a chain: each contains a hash of its content and of the activity before it, and the servers sign the end of the chain. Exit " +
    "code 1 means a problem; the first one is reported. Write down the end that is printed for a valid chain, and give it as --known " +
    "later: this also detects a chain that was reset to an earlier state. `svc db check` makes the same check without a server.";
  static override endpoints = [activitiesApi.verify];
  static override flags = {
    known: Flags.string({
      summary: "An end of the chain from an earlier check: its position and hash.",
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
        found = await this.call(activitiesApi.verify, { query: { ...known, ...from, limit: BATCH_SIZE } });
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
      `the chain of activities is not valid: ${problem.kind}${place}: ${problem.detail}`,
      "Compare it with an earlier backup or export.",
    );
  }
}
