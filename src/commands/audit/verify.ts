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
    const chainEnd = flags.known === undefined ? {} : { known: flags.known };
    const progress = this.progress("checking ...");
    let verification: Verification;
    let checked = 0;
    let from = {};
    try {
      for (;;) {
        verification = await this.call(activitiesApi.verify, { query: { ...chainEnd, ...from, limit: BATCH_SIZE } });
        checked += verification.checked;
        if (verification.next === null) break;
        from = { from: verification.next };
        progress.update(`${checked} of ${verification.entries} checked ...`);
      }
    } finally {
      progress.done();
    }
    const { next: _, head, ...rest } = verification;
    await this.printOne({ ...rest, checked, end: head === null ? null : `${head.position}:${head.hash}` });
    const { problem } = verification;
    if (problem === null) return;
    const place = problem.position === null ? "" : ` at position ${problem.position}`;
    throw new CliError(
      "failed",
      `the chain of activities is not valid: ${problem.kind}${place}: ${problem.detail}`,
      "Compare it with an earlier backup or export.",
    );
  }
}
