import * as Flags from "@oclif/core/flags";
import { configurationApi, type Pin } from "../api/edge/configuration.ts";
import { UPLOAD_MAX } from "../api/platform/uploads.ts";
import { ClientCommand } from "../cli/client-command.ts";
import { CliError, failed, usage } from "../cli/errors.ts";
import { textOf } from "../cli/files/file-errors.ts";
import { args, dryRunFlag, yesFlag } from "../cli/flags.ts";
import { bar } from "../cli/output/size.ts";
import { Configuration, inDryRun } from "../cli/topics/configuration.ts";
import { filesFlags } from "../cli/topics/configuration-files.ts";
import { ApiCallError, Unreachable } from "../client/errors.ts";
import { fileSchema } from "../gitops/files/json-schema.ts";
import { type LargeFile, readLargeFile } from "../gitops/files/large-files.ts";
import { type Change, keyOf } from "../gitops/plan/diff.ts";
import { DEFAULT_MAX_DELETES, guardRemovals } from "../gitops/plan/guard.ts";
import { filesOf, pinsOf, secretsOf, toThingChange, uploadsOf } from "../gitops/plan/plan.ts";
import { summaryOf, titleOf } from "../gitops/plan/render.ts";
import { movedSince, readSavedPlan, type SavedPlan } from "../gitops/plan/saved-plan.ts";
import type { Json } from "../text/differences.ts";
import { plural } from "../text/plural.ts";
import { printable } from "../text/printable.ts";
import { isRecord } from "../text/record.ts";

interface Application {
  readonly changes: readonly Change[];
  readonly pins: readonly Pin[];
  readonly secrets: Readonly<Record<string, string>>;
  readonly files: Readonly<Record<string, string>>;
  /** Variables of plans that older versions of svc have saved; otherwise custom variables are among the changes. */
  readonly variables: Readonly<Record<string, string>>;
  readonly uploads: readonly LargeFile[];
  /** The current objects, to compute the share that is removed. */
  readonly current: readonly Pick<Pin, "kind">[];
}

/** Tens of thousands of objects take this long. */
const APPLY_TIMEOUT = 600_000;

export default class Apply extends ClientCommand {
  static override summary = "Apply configuration files to the server in one transaction.";
  static override destructive = true;
  static override description =
    "Shows the plan, asks for confirmation, and makes all of its changes in one transaction. Give --yes to run without a terminal. " +
    "Packages that the server does not have are downloaded by it first, except in a dry run. A plan saved with " +
    "`svc plan --out` can be applied instead of files: exactly its changes are made, or none if anything on the " +
    "server has changed since.";
  static override endpoints = [configurationApi.state, configurationApi.apply];
  static override args = { plan: args.optional("file with a saved plan; - is stdin") };
  static override flags = {
    ...filesFlags,
    ...dryRunFlag,
    ...yesFlag,
    "max-deletes": Flags.integer({
      summary: `Maximum number of objects to remove. Default: ${DEFAULT_MAX_DELETES}, and at most a quarter of a kind.`,
      min: 0,
    }),
    "skip-checks": Flags.boolean({
      summary: "Do not check the settings of certificate authorities and trackers by connecting to them.",
    }),
    "allow-delete": Flags.boolean({ summary: "Allow the plan to remove any number of objects." }),
    schema: Flags.boolean({ summary: "Print the JSON Schema of the files, for editors." }),
  };
  static override examples = [
    "<%= config.bin %> <%= command.id %> -f default.yml --yes",
    "<%= config.bin %> <%= command.id %> plan.json --yes",
    "<%= config.bin %> <%= command.id %> --schema > svc.schema.json",
  ];

  readonly #configuration = new Configuration(this);

  /** Endpoints of configuration take a dry_run field in the body, which older servers support too. */
  override get triesOut(): boolean {
    return false;
  }

  async run() {
    const { args, flags } = await this.parse(Apply);
    if (flags.schema) return this.write(`${JSON.stringify(fileSchema(), null, 2)}\n`);
    if (args.plan !== undefined && flags.file !== undefined)
      throw usage(
        "give either a saved plan or files, not both",
        "`svc apply plan.json`, or `svc apply -f default.yml`.",
      );
    const dryRun = this.#configuration.isDryRun(flags["dry-run"]);
    const what = args.plan === undefined ? await this.#ofFiles(flags, dryRun) : await this.#ofPlan(args.plan, dryRun);
    await this.#configuration.printChanges(what.changes, new Map(Object.entries(what.secrets)));
    if (what.changes.length > 0) {
      this.#guard(what, flags);
      if (!dryRun) await this.#ask(what.changes);
    }
    if (what.changes.length > 0 || Object.keys(what.variables).length > 0) {
      if (!dryRun) await this.#upload(what.uploads);
      await this.#apply(what, dryRun, flags["skip-checks"]);
      this.#describe(what.changes, dryRun);
    }
    this.note(`gitops ${dryRun ? "dry run " : ""}succeeded`);
  }

  async #ofFiles(flags: Parameters<Configuration["planned"]>[0], dryRun: boolean): Promise<Application> {
    const { changes, state, secrets, contents, uploads } = await this.#configuration.planned(flags, !dryRun);
    return {
      changes,
      pins: pinsOf(state.things, changes, false),
      secrets: secretsOf(changes, secrets),
      files: filesOf(changes, contents),
      variables: {},
      uploads: uploadsOf(changes, uploads),
      current: state.things,
    };
  }

  async #ofPlan(path: string, dryRun: boolean): Promise<Application> {
    const saved = await this.#readPlan(path);
    for (const [text, names] of saved.masks) this.#configuration.masks.add(names, text);
    const { serverUrl } = await this.connection();
    if (saved.serverUrl !== serverUrl)
      throw usage(
        `the plan was made for ${printable(saved.serverUrl)}, not for ${serverUrl}`,
        "Make a plan for this server.",
      );
    const moved = movedSince(saved.pins, await this.#configuration.state());
    for (const pin of moved.slice(0, 100)) this.#configuration.remark(`${titleOf(pin)} ${how[pin.how]}`);
    if (moved.length > 0)
      throw new CliError(
        "conflict",
        `the server has changed since the plan was made: ${plural(moved.length, "thing")}`,
        "Nothing was applied. Make a new plan: `svc plan -f ... --out FILE`.",
        this.format === "json" ? moved.map((pin) => ({ name: titleOf(pin), reason: how[pin.how] })) : [],
      );
    const current = saved.pins.filter(({ revision }) => revision !== null);
    const { pins, secrets, files, variables } = saved;
    const changes = await this.#configuration.withFiles(saved.changes, before(saved.changes), !dryRun);
    return { changes, pins, secrets, files, variables, uploads: await this.#readUploads(saved), current };
  }

  async #readUploads({ uploads }: SavedPlan): Promise<LargeFile[]> {
    const files: LargeFile[] = [];
    for (const { origin, sha256 } of uploads) {
      const file = await readLargeFile(origin, UPLOAD_MAX).catch((error: Error) => {
        throw failed(`${printable(origin)} ${error.message}`);
      });
      if (file.sha256 !== sha256)
        throw new CliError(
          "conflict",
          `${printable(origin)} has changed since the plan was made`,
          "Nothing was applied. Make a new plan: `svc plan -f ... --out FILE`.",
        );
      files.push(file);
    }
    return files;
  }

  /** Ahead of the changes, so that these are still made in one short transaction. */
  async #upload(files: readonly LargeFile[]): Promise<void> {
    const client = await this.client();
    for (const file of files) {
      const progress = this.progress(`uploading ${this.#configuration.masks.hide(printable(file.name))} ...`);
      try {
        await client.upload(file, {
          signal: this.stop.signal,
          onSent: (sent) =>
            progress.update(
              `uploading ${this.#configuration.masks.hide(printable(file.name))}: ${bar(sent, file.size)}`,
            ),
        });
      } finally {
        progress.done();
      }
    }
  }

  async #readPlan(path: string): Promise<SavedPlan> {
    const text = path === "-" ? await this.io.readStdin() : await textOf(path);
    const saved = readSavedPlan(text);
    if (saved === null)
      throw usage(
        `${path} is not a plan of this version of svc`,
        "Create one with `svc plan --out FILE`, or give configuration files with -f.",
      );
    return saved;
  }

  #guard(
    { changes, current }: Application,
    flags: { "max-deletes"?: number | undefined; "allow-delete"?: boolean },
  ): void {
    if (flags["allow-delete"]) return;
    const reason = guardRemovals(changes, current, flags["max-deletes"] ?? DEFAULT_MAX_DELETES);
    if (reason !== null)
      throw usage(reason, "Nothing was changed. To apply it anyway, give --allow-delete, or --max-deletes N.");
  }

  async #ask(changes: readonly Change[]): Promise<void> {
    const { add, change, remove } = summaryOf(changes);
    await this.confirm(`Apply this: ${add} to add, ${change} to change, ${remove} to remove?`);
  }

  async #apply(
    { changes, pins, secrets, files, variables }: Application,
    dryRun: boolean,
    skipChecks: boolean,
  ): Promise<void> {
    const connection = await this.connection();
    const timeout = this.common["request-timeout"] === undefined ? APPLY_TIMEOUT : connection.timeout;
    const client = this.clientFor({ ...connection, timeout }, await connection.token());
    const progress = this.progress(dryRun ? "checking ..." : "applying ...");
    try {
      const body = {
        changes: changes.map(toThingChange),
        pins: [...pins],
        secrets: { ...secrets },
        ...(Object.keys(files).length > 0 ? { files: { ...files } } : {}),
        ...(Object.keys(variables).length > 0 ? { variables: { ...variables } } : {}),
        dry_run: dryRun,
        skip_checks: skipChecks,
      };
      await client.call(configurationApi.apply, { body }, dryRun ? inDryRun : {});
    } catch (error) {
      progress.done();
      if (error instanceof ApiCallError && error.status === 409) throw this.#conflict(error);
      if (error instanceof ApiCallError && this.format !== "json") throw withTitles(error, changes);
      const kind =
        error instanceof Unreachable
          ? "unreachable"
          : error instanceof CliError && error.kind === "interrupted"
            ? error.kind
            : null;
      if (kind !== null && !dryRun)
        throw new CliError(
          kind,
          `${(error as Error).message}, while the changes were on their way`,
          "All of them were made, or none: `svc plan` with the same files shows which.",
        );
      throw error;
    }
    progress.done();
  }

  #conflict({ message, errors }: ApiCallError): CliError {
    return new CliError("conflict", message, "Nothing was applied. `svc plan` shows the current differences.", errors);
  }

  #describe(changes: readonly Change[], dryRun: boolean): void {
    for (const change of changes) {
      const gone = change.action === "delete";
      const verb = gone ? (dryRun ? "would delete " : "") : dryRun ? "would apply " : "";
      this.note(`${gone ? this.paint(31, "[-]") : this.paint(32, "[+]")} ${verb}${titleOf(change)}`);
    }
  }
}

/** The error with the names of the objects in the files, in place of their positions in the request. */
const withTitles = (error: ApiCallError, changes: readonly Change[]): ApiCallError =>
  new ApiCallError(error.status, error.message, {
    ...error,
    errors: error.errors.map(({ name, reason }) => {
      const [, position, path = ""] = /^changes\.(\d+)(?:\.value)?(?:\.(.+))?$/.exec(name) ?? [];
      const change = position === undefined ? undefined : changes[Number(position)];
      return change === undefined
        ? { name, reason }
        : { name: [titleOf(change), path].filter((part) => part !== "").join(": "), reason };
    }),
  });

/** What the changes of a saved plan replace. */
const before = (changes: readonly Change[]): ReadonlyMap<string, Json> =>
  new Map(
    changes.flatMap((change) => {
      const { action, value, fields } = change;
      if (action !== "update" || !isRecord(value)) return [];
      return [[keyOf(change), { ...value, ...Object.fromEntries(fields.map(({ path, old = null }) => [path, old])) }]];
    }),
  );

const how = { changed: "was changed", gone: "is gone", new: "is new" } as const;
