import * as Flags from "@oclif/core/flags";
import { BaseCommand } from "../cli/base-command.ts";
import { saveContext } from "../cli/contexts.ts";
import { CliError } from "../cli/errors.ts";
import type { FirstAdmin } from "../server/bootstrap.ts";
import { licenseExpired } from "../server/core/context.ts";
import { createLog } from "../server/core/log.ts";
import {
  flagName,
  readSettings,
  type SettingName,
  secretSettings,
  settingsTable,
} from "../server/core/settings-sources.ts";
import { BadSetting } from "../server/core/tls.ts";
import { type RunningServer, startServer } from "../server/main.ts";
import { isWorker, runWorkers } from "../server/workers.ts";

const isFlag = (name: SettingName): boolean =>
  ["tls_self_signed", "dev_license", "database_migrate", "log_rotate_compress"].includes(name);

/** Every setting is a flag, but secrets: those come by environment or file only. */
const settingFlags = Object.fromEntries(
  settingsTable()
    .filter(({ name }) => !secretSettings.includes(name))
    .map(({ name, env, fallback, description }) => {
      const summary = `${description}. Env: ${env}.${fallback === "" ? "" : ` Default: ${fallback}.`}`;
      return [flagName(name), isFlag(name) ? Flags.boolean({ summary, allowNo: true }) : Flags.string({ summary })];
    }),
);

export default class Serve extends BaseCommand {
  static override summary = "Run the server.";
  static override description =
    "Without a database URL everything is kept in the data directory, nothing to install. Settings come from flags, SVC_* environment and the --config file, in this order. Secrets (SVC_ADMIN_PASSWORD, SVC_SERVER_PRIVATE_KEY, SVC_LICENSE_KEY) come by environment or file only.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --quickstart",
    "<%= config.bin %> <%= command.id %> --host 0.0.0.0 --tls-self-signed --data-dir /var/lib/svc",
    "<%= config.bin %> <%= command.id %> --database-url postgres://svc@db/svc --workers 4",
  ];
  static override flags = {
    config: Flags.string({ summary: "YAML file with settings. Env: SVC_CONFIG.", helpValue: "FILE" }),
    quickstart: Flags.boolean({
      summary: "On an empty store: create an admin and an enroll secret, print both, save a context.",
    }),
    ...settingFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    try {
      await this.serve(flags);
    } catch (error) {
      if (error instanceof BadSetting)
        throw new CliError("usage", error.message, "`svc serve --help` and docs/settings.md describe every setting.");
      throw error;
    } finally {
      // The line to the primary would keep a worker alive that has stopped.
      if (isWorker()) process.disconnect?.();
    }
  }

  private async serve(flags: Record<string, unknown>): Promise<void> {
    const { env } = this.io;
    const given = Object.fromEntries(settingsTable().map(({ name }) => [name, flags[flagName(name)]]));
    const settings = readSettings({ flags: given, env, file: (flags.config as string | undefined) ?? env.SVC_CONFIG });
    const log = createLog({ level: settings.log_level, format: settings.log_format });
    if (settings.workers > 1 && !isWorker()) return runWorkers(settings, log);

    const quickstart = flags.quickstart === true;
    const server = await startServer(settings, log, { sharedPort: isWorker(), quickstart });
    const stopped = this.stopOnSignal(server, log);
    if (server.firstAdmin) await this.welcome(server, server.firstAdmin);
    else if (quickstart) this.note("The store has its admin already; sign in with `svc login`.");
    if (server.services.license.note) log.warn(server.services.license.note);
    if (licenseExpired(server.services))
      log.warn({ expiration: server.services.license.expiration }, "the license has expired");
    log.info({ url: server.url, engine: server.services.store.engine, tier: server.services.license.tier }, "serving");
    process.send?.("ready");
    await stopped;
  }

  /** Resolves when the server has been asked to stop and has finished. */
  private stopOnSignal(server: RunningServer, log: ReturnType<typeof createLog>): Promise<void> {
    return new Promise((resolve, reject) => {
      let asked = false;
      const stop = (signal: string) => {
        if (asked) return;
        asked = true;
        log.info({ signal }, "stopping");
        server.stop().then(() => {
          log.info("stopped");
          log.flush?.();
          resolve();
        }, reject);
      };
      process.on("SIGTERM", stop);
      process.on("SIGINT", stop);
    });
  }

  /** Credentials go to stdout once, each on a line of its own; explanations to stderr. */
  private async welcome(server: RunningServer, first: FirstAdmin): Promise<void> {
    if (first.password === null) return;
    this.log(`email: ${first.email}`);
    this.log(`password: ${first.password}`);
    const saved = await saveContext(
      {
        name: "quickstart",
        serverUrl: server.url,
        token: first.token,
        email: first.email,
        ca: first.ca,
        makeCurrent: true,
      },
      this.io,
    ).catch((error: Error) => ({
      remark: `The context could not be saved, sign in with \`svc login\`: ${error.message}`,
    }));
    if (saved.remark) this.note(saved.remark);
    this.note(`
svc serves at ${server.url}; this is the only time the password is shown.
In a second terminal:
  npx svc agent simulate --hosts 25   # simulated hosts
  npx svc hosts list                  # see them
  npx svc agent flags                 # flags for a real osqueryd${server.tls ? "" : " (agents need TLS: serve with --tls-self-signed)"}
In a browser: ${server.url} (the API: ${server.url}/api/docs)
`);
  }
}
