import { resolve } from "node:path";
import * as Flags from "@oclif/core/flags";
import { nameForServer, saveContext } from "../cli/auth/contexts.ts";
import { BaseCommand } from "../cli/base-command.ts";
import { CliError } from "../cli/errors.ts";
import type { FirstAdmin } from "../server/bootstrap.ts";
import { type RunningServer, startServer } from "../server/main.ts";
import { licenseExpired } from "../server/platform/core/context.ts";
import { createLog } from "../server/platform/core/logging/log.ts";
import { stderrSink } from "../server/platform/core/logging/log-sink.ts";
import { BadSetting, certificateFile } from "../server/platform/core/security/tls.ts";
import {
  flagName,
  isSwitch,
  readSettings,
  secretSettings,
  settingsTable,
} from "../server/platform/core/settings/sources.ts";
import { onStopSignals } from "../server/platform/process/stop-signals.ts";
import { isWorker, runWorkers } from "../server/platform/process/workers.ts";

/** Every setting is a flag except secrets, which can only be set in the environment or the file. */
const settingFlags = Object.fromEntries(
  settingsTable()
    .filter(({ name }) => !secretSettings.includes(name))
    .map(({ name, env, fallback, description }) => {
      const summary = `${description}. Env: ${env}.${fallback === "" ? "" : ` Default: ${fallback}.`}`;
      return [flagName(name), isSwitch(name) ? Flags.boolean({ summary, allowNo: true }) : Flags.string({ summary })];
    }),
);

/** Time limit for writing the remaining log lines when the process ends. */
const LAST_LINES_MS = 1_000;
/** Delay after which the process exits if the last lines cannot be written; it sets its exit code in that time. */
const END_MS = 100;
/** Time limit, after a second signal, for writing to disk what has been acknowledged. */
const HURRIED_MS = 2_000;

/** The context that --quickstart saves. */
const QUICKSTART = "quickstart";

export default class Serve extends BaseCommand {
  static override summary = "Run the server.";
  static override description =
    "Without --database-url, the server stores everything in the data directory, and nothing else has to be installed. A setting can be a flag, an " +
    "SVC_* environment variable, or a line of the --config file; the first of these takes precedence. Secrets (SVC_ADMIN_PASSWORD, " +
    "SVC_SERVER_PRIVATE_KEY, SVC_LICENSE_KEY) can only be given in the environment or the file.";
  static override examples = [
    "<%= config.bin %> <%= command.id %> --quickstart",
    "<%= config.bin %> <%= command.id %> --host 0.0.0.0 --tls-self-signed --data-dir /var/lib/svc",
    "<%= config.bin %> <%= command.id %> --database-url postgres://svc@db/svc --workers 4",
  ];
  static override flags = {
    config: Flags.string({ summary: "YAML file with settings. Env: SVC_CONFIG.", helpValue: "FILE" }),
    quickstart: Flags.boolean({
      summary:
        "For a trial with an empty store: create an admin and print the password, create an enroll secret, and sign in the command line. " +
        "Turns on the development license.",
    }),
    ...settingFlags,
  };

  async run(): Promise<void> {
    const { flags } = await this.parse(Serve);
    try {
      await this.#serve(flags);
    } catch (error) {
      if (error instanceof BadSetting)
        throw new CliError("usage", error.message, "`svc serve --help` and docs/settings.md describe every setting.");
      throw error;
    } finally {
      // The channel to the primary process would keep a stopped worker alive.
      if (isWorker()) process.disconnect?.();
      // Pending log lines would too, if nothing reads them.
      if (!(await stderrSink().flush(LAST_LINES_MS))) setTimeout(() => process.exit(), END_MS);
    }
  }

  async #serve(flags: Record<string, unknown>): Promise<void> {
    const { env } = this.io;
    const flagValues = Object.fromEntries(settingsTable().map(({ name }) => [name, flags[flagName(name)]]));
    const quickstart = flags.quickstart === true;
    const settings = readSettings({
      flags: flagValues,
      env,
      file: (flags.config as string | undefined) ?? env.SVC_CONFIG,
      // A trial should include every feature.
      defaults: quickstart ? { dev_license: true } : {},
    });
    const log = createLog({ level: settings.log_level, format: settings.log_format });
    if (settings.workers > 1 && !isWorker()) {
      return runWorkers(settings, log, async () => {
        const { openStore } = await import("../server/open-data.ts");
        await (await openStore(settings, log)).close();
      });
    }

    const server = await startServer(settings, log, { isShared: isWorker(), quickstart });
    const stopped = this.#stopOnSignal(server, log);
    if (server.firstAdmin) await this.#welcome(server, server.firstAdmin, settings.server_url ?? server.url);
    else if (quickstart)
      this.note(`The store already has an admin; sign in with \`svc login --server-url ${server.url}\`.`);
    const { note } = server.services.license;
    if (quickstart && settings.dev_license && !settings.license_key?.trim())
      this.note(
        "License: development. The premium features are on, only for trials (--no-dev-license turns them off).",
      );
    else if (note) log.warn(note);
    if (licenseExpired(server.services))
      log.warn({ expiration: server.services.license.expiration }, "the license has expired");
    if (settings.tls_self_signed && settings.tls_cert === undefined) {
      const caFile = resolve(certificateFile(settings)!);
      log.info(
        { ca_file: caFile },
        `self-signed certificate: svc login --server-url ${settings.server_url ?? server.url} --ca-file ${caFile}`,
      );
    }
    log.info({ url: server.url, engine: server.services.store.engine, tier: server.services.license.tier }, "serving");
    await stopped;
  }

  /** Resolves when the server has been asked to stop and has finished. */
  #stopOnSignal(server: RunningServer, log: ReturnType<typeof createLog>): Promise<void> {
    const hurry = new AbortController();
    return new Promise((resolve, reject) => {
      onStopSignals({
        stop(signal) {
          // Ctrl-C is pressed at a terminal: nobody balances the load of that server.
          const withGrace = signal === "SIGTERM";
          log.info({ signal }, "stopping");
          server.stop({ withGrace, hurry: hurry.signal }).then(() => {
            log.info("stopped");
            resolve();
          }, reject);
        },
        hurry(signal) {
          log.warn({ signal }, "stopping at once");
          hurry.abort();
          setTimeout(() => process.exit(1), HURRIED_MS).unref();
        },
      });
    });
  }

  /** Returns a remark for the user. A sign-in to another server stays as it is. */
  async #saveSignIn(serverUrl: string, { token, email, ca }: FirstAdmin): Promise<string | null> {
    const name = await nameForServer(this.io, QUICKSTART, serverUrl);
    const { remark } = await saveContext({ name, serverUrl, token, email, ca, makeCurrent: true }, this.io);
    if (name === QUICKSTART) return remark;
    const kept = `The sign-in is saved as the context ${name}, because ${QUICKSTART} is for another server; \`svc context use ${QUICKSTART}\` returns to that.`;
    return remark === null ? kept : `${remark}\n${kept}`;
  }

  /** Prints credentials to stdout, one per line and only once; explanations go to stderr. */
  async #welcome(server: RunningServer, first: FirstAdmin, publicUrl: string): Promise<void> {
    if (first.password === null) return;
    this.log(`email: ${first.email}`);
    this.log(`password: ${first.password}`);
    const remark = await this.#saveSignIn(server.url, first).catch(
      (error: Error) => `The context could not be saved; sign in with \`svc login\`: ${error.message}`,
    );
    if (remark) this.note(remark);
    // Outside the checkout `npx svc` would not find this program.
    const svc = resolve(process.cwd()) === resolve(this.config.root) ? "npx svc" : "svc";
    this.note(`
svc is running at ${server.url}${publicUrl === server.url ? "" : `, for others at ${publicUrl}`}; this is the only time the password is shown.
In a second terminal:
  ${svc} agent simulate --hosts 25   # simulated hosts, until Ctrl-C
  ${svc} hosts list                  # list them
  ${svc} agent flags                 # flags for a real osqueryd${server.tls ? "" : " (agents need TLS: start the server with --tls-self-signed)"}
In a browser: ${publicUrl} (the API: ${publicUrl}/api/docs)
`);
  }
}
