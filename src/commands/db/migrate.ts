import { BaseCommand } from "../../cli/base-command.ts";
import { dataDirOf, placeFlags, placeOf } from "../../cli/data-places.ts";
import { dryRunFlag } from "../../cli/flags.ts";
import { migrateData, pendingOf } from "../../server/data-tools.ts";

export default class DbMigrate extends BaseCommand {
  static override summary = "Bring the Postgres schema up to date.";
  static override description =
    "`svc serve` does this at its start, except with --no-database-migrate. It is safe while servers are running.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --database-url postgres://svc@db/svc --dry-run",
    "<%= config.bin %> <%= command.id %> --database-url postgres://svc@db/svc",
  ];
  static override flags = { ...placeFlags, ...dryRunFlag };

  async run(): Promise<void> {
    const { flags } = await this.parse(DbMigrate);
    const where = { place: placeOf(this, flags), dataDir: dataDirOf(this, flags), env: this.io.env };
    if (flags["dry-run"]) {
      const pending = await pendingOf(where);
      const summary = pending.length === 0 ? "nothing to do: up to date" : `would apply: ${pending.join(", ")}`;
      return this.report(summary, { pending });
    }
    const applied = await migrateData(where);
    await this.report(applied.length === 0 ? "nothing to do: up to date" : `applied: ${applied.join(", ")}`, {
      applied,
    });
  }
}
