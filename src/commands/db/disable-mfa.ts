import * as Args from "@oclif/core/args";
import { BaseCommand } from "../../cli/base-command.ts";
import { dataDirOf, placeFlags, placeOf } from "../../cli/data-places.ts";
import { notFound } from "../../cli/errors.ts";
import { dryRunFlag, yesFlag } from "../../cli/flags.ts";
import { disableMfa } from "../../server/data-tools.ts";

export default class DbDisableMfa extends BaseCommand {
  static override summary = "Turn off multi-factor authentication for a user who can no longer sign in.";
  static override description =
    "For the case that no mail can be sent and no signed-in user can run `svc users update`: the password alone is then enough to sign in. It is recorded in " +
    "the activity feed. With Postgres, servers may be running; the embedded store must not be in use.";
  static override examples = ["<%= config.bin %> <%= command.id %> admin@example.com --data-dir ./data --yes"];
  static override args = { email: Args.string({ required: true, description: "address of the user" }) };
  static override flags = { ...placeFlags, ...yesFlag, ...dryRunFlag };

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(DbDisableMfa);
    const { email } = args;
    const where = { place: placeOf(this, flags), dataDir: dataDirOf(this, flags), env: this.io.env };
    const wasOn = await disableMfa(where, email, { dryRun: true });
    if (wasOn === null) throw notFound(`there is no user with the address ${email}`);
    const what = `turn multi-factor authentication off for ${email}`;
    if (!wasOn) return this.report(`nothing to do: ${email} signs in without it`, { email, disabled: false });
    if (flags["dry-run"]) return this.printPlan(what, { email });
    await this.confirm(`${what[0]!.toUpperCase()}${what.slice(1)}?`);
    await disableMfa(where, email, { dryRun: false });
    return this.report(`${email} signs in with the password alone`, { email, disabled: true });
  }
}
