// Shared by plan, apply, drift and export: reads the files, fetches the server's state once, and computes the differences.

import { DRY_RUN } from "../../api/dry-run.ts";
import { type ConfigurationState, configurationApi } from "../../api/edge/configuration.ts";
import { NO_TEAM_NAME } from "../../api/settings/no-team.ts";
import { packageBatchesApi } from "../../api/software/package-batches.ts";
import { ApiCallError, type FieldReason } from "../../client/errors.ts";
import { desiredOf } from "../../gitops/desired/desired.ts";
import { checkSql } from "../../gitops/desired/sql.ts";
import { Masks } from "../../gitops/environment/masks.ts";
import type { LargeFile } from "../../gitops/files/large-files.ts";
import { type Problem, renderProblem } from "../../gitops/files/problems.ts";
import { readFiles } from "../../gitops/files/read.ts";
import type { Download } from "../../gitops/kinds/kind.ts";
import { kinds } from "../../gitops/kinds.ts";
import { withConsequences } from "../../gitops/plan/consequences.ts";
import { type Change, keyOf, type Thing } from "../../gitops/plan/diff.ts";
import { hidden } from "../../gitops/plan/hide.ts";
import { filesOf, otherTeams, planOf, secretsOf, toThingChange } from "../../gitops/plan/plan.ts";
import { type Paint, planJson, renderMarkdown, renderPlan, titleOf } from "../../gitops/plan/render.ts";
import type { Json } from "../../text/differences.ts";
import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";
import { isTrue } from "../auth/connection.ts";
import type { ClientCommand } from "../client-command.ts";
import { CliError, denied, failed } from "../errors.ts";
import { allowedNames, type FilesFlags, pathsOf } from "./configuration-files.ts";
import { waitForPackages } from "./software/package-batches.ts";
import { notMasked } from "./variables.ts";

interface StateRequest {
  /** Secret texts by reference, which are compared. */
  readonly secrets?: ReadonlyMap<string, string>;
  /** Hosts that files name. */
  readonly hosts?: readonly (string | number)[];
  /** Whether the reply contains the files of objects. */
  readonly files?: boolean;
  /** If given, the hosts of all other teams are counted. */
  readonly keptTeams?: readonly string[] | undefined;
}

export interface PlanResult {
  readonly changes: readonly Change[];
  readonly state: ConfigurationState;
  readonly secrets: ReadonlyMap<string, string>;
  /** Contents of files by their digests. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** Large files by their digests. */
  readonly uploads: ReadonlyMap<string, LargeFile>;
  readonly masks: Masks;
}

/** The role plan may only send requests with this header. The body says it too, for older servers. */
export const inDryRun = { headers: { [DRY_RUN]: "true" } };

/** In one request. */
const DOWNLOADS_MAX = 500;
/** How long the server itself tries. */
const DOWNLOAD_TIMEOUT = "3h";

export class Configuration {
  readonly #command: ClientCommand;
  /** Names of the teams that the server has. */
  #teams: ReadonlySet<string> = new Set();
  /** The server's default settings, once the state was read. */
  #defaults: ConfigurationState["defaults"] | undefined;

  /** Values of the environment's variables, which no output contains. */
  masks = new Masks();

  constructor(command: ClientCommand) {
    this.#command = command;
    command.hide = (text) => this.masks.hide(text);
    command.explain = (error) => withoutSecrets(error, command.hide);
  }

  /** Compares the files with the state of the server. `downloads`: lets the server download what the files name. */
  async planned(flags: FilesFlags, downloads = false): Promise<PlanResult> {
    const { env } = this.#command.io;
    const paths = pathsOf(env, flags);
    const files = await readFiles(paths, {
      environment: env,
      allowedNames: await allowedNames(env, flags),
      directory: process.cwd(),
      stdin: paths.includes("-") ? await this.#command.io.readStdin() : null,
      allowUnknownKeys: this.#isOn(flags["allow-unknown-keys"], "SVC_APPLY_ALLOW_UNKNOWN_KEYS"),
    });
    this.masks = files.masks;
    // Errors in the files themselves are reported without a call to the server.
    if (files.problems.failedForSure) this.#refuse(files.problems.all);
    const deleteOtherTeams = this.#isOn(flags["delete-other-teams"], "SVC_APPLY_DELETE_OTHER_TEAMS");
    const { secrets, hosts } = files;
    const keptTeams = deleteOtherTeams
      ? files.scopes.flatMap(({ kind, name }) => (kind === "team" && name) || [])
      : undefined;
    const state = await this.state({ secrets, hosts, keptTeams });
    const desired = desiredOf(files, state, {
      deleteOtherTeams,
      allowUnknownHosts: this.#isOn(flags["allow-unknown-hosts"], "SVC_APPLY_ALLOW_UNKNOWN_HOSTS"),
    });
    for (const [name, value] of files.variables) {
      const warning = notMasked(name, value);
      if (warning !== null) this.remark(warning);
    }
    const before = valuesOf(state.things);
    await checkSql(desired.things, before, files);
    if (desired.problems.failed) this.#refuse(desired.problems.all);
    this.#warnOf(desired.problems.all);
    for (const note of desired.notes) this.remark(note);
    const others = otherTeams(state.things, desired.things);
    const isWhole = files.scopes.some(({ kind }) => kind === "global");
    if (isWhole && others.length > 0 && !deleteOtherTeams)
      this.remark(
        `${plural(others.length, "team")} in no file, kept unchanged: ${others.slice(0, 10).join(", ")}${others.length > 10 ? ", ..." : ""}`,
      );
    const things = await this.withFiles(desired.things, before, downloads);
    const planned = planOf(state, { ...desired, things, isComplete: (thing) => desired.isComplete(thing) });
    const changes = withConsequences(planned, state);
    const unseen = changes.filter((change) => isUnseen(change, state));
    for (const change of unseen)
      this.remark(
        `${this.masks.hide(titleOf(change))}: your role does not see ${change.kind === "custom_variable" ? "it, so it is" : "them, so they are"} kept unchanged`,
      );
    const seen = changes.filter((change) => !unseen.includes(change));
    await this.#checkRights(seen, state, files);
    return {
      changes: seen,
      state,
      secrets: files.secrets,
      contents: files.contents,
      uploads: files.uploads,
      masks: files.masks,
    };
  }

  /**
   * The state contains what the caller may write, so all other objects look as if they did not exist. Throws the
   * server's refusal if there are changes of such objects. The secrets and contents are those of the changes.
   */
  async #checkRights(
    changes: readonly Change[],
    { things }: ConfigurationState,
    { secrets, contents }: Pick<PlanResult, "secrets" | "contents">,
  ): Promise<void> {
    if (ofAll(things)) return;
    const beyond = changes.filter(({ kind, owner, name }) => !this.#teams.has(kind === "team" ? name : (owner ?? "")));
    if (beyond.length === 0) return;
    const body = {
      changes: beyond.map(toThingChange),
      secrets: secretsOf(beyond, secrets),
      files: filesOf(beyond, contents),
      dry_run: true,
      skip_checks: true,
    };
    try {
      await this.#command.call(configurationApi.apply, { body }, inDryRun);
    } catch (error) {
      if (!(error instanceof ApiCallError) || error.status !== 403) throw error;
      const named = beyond.slice(0, 3).map(titleOf).join(", ");
      throw denied(
        `your role may not read or write these: ${named}${beyond.length > 3 ? `, and ${beyond.length - 3} more` : ""}`,
        "Give only files of teams on which you have the role gitops, plan or admin.",
      );
    }
  }

  /**
   * The things with the digests of the files that the server has for them. It downloads those that it does not have yet,
   * one team after the other; without `downloads`, the present files stay.
   */
  async withFiles<T extends Thing>(
    things: readonly T[],
    before: ReadonlyMap<string, Json>,
    downloads: boolean,
  ): Promise<readonly T[]> {
    const downloadable = things.flatMap((thing) => {
      const file = kinds[thing.kind]?.download?.(thing.value, before.get(keyOf(thing)));
      return file ? [{ thing, file }] : [];
    });
    const digests = new Map<T, string>();
    if (downloads)
      for (const owner of new Set(downloadable.map(({ thing }) => thing.owner))) {
        const ofOwner = downloadable.filter(({ thing }) => thing.owner === owner);
        const fetched = await this.#download(
          owner,
          ofOwner.map(({ file }) => file),
        );
        for (const [i, { thing }] of ofOwner.entries()) digests.set(thing, fetched[i]!);
      }
    return things.map((thing) => {
      const { withFile } = kinds[thing.kind] ?? {};
      return withFile
        ? { ...thing, value: withFile(thing.value, digests.get(thing) ?? null, before.get(keyOf(thing))) }
        : thing;
    });
  }

  /** The digests of the files, in their order. Teams that do not exist yet count as hosts without a team. */
  async #download(owner: string | null, files: readonly Download[]): Promise<string[]> {
    const isTeam = owner !== null && owner !== NO_TEAM_NAME && this.#teams.has(owner);
    const query = { download_only: true, ...(isTeam ? { team_name: owner } : {}) };
    const digests: string[] = [];
    for (let at = 0; at < files.length; at += DOWNLOADS_MAX) {
      const packages = files.slice(at, at + DOWNLOADS_MAX);
      const { request_uuid } = await this.#command.call(packageBatchesApi.start, {
        query,
        body: { software: { packages } },
      });
      const {
        status,
        message,
        files: downloaded,
      } = await waitForPackages(this.#command, request_uuid, DOWNLOAD_TIMEOUT);
      if (status === "failed" || downloaded === null)
        throw failed(`nothing was changed: ${message || "the server did not keep the downloaded files"}`);
      digests.push(...downloaded.map(({ hash_sha256 }) => hash_sha256));
    }
    return digests;
  }

  /** The current state on the server of everything that files can describe. */
  async state({ secrets, hosts = [], files = false, keptTeams }: StateRequest = {}): Promise<ConfigurationState> {
    const progress = this.#command.progress("reading the server's state ...");
    const body = {
      secrets: Object.fromEntries(secrets ?? []),
      hosts: [...hosts],
      ...(files ? { files } : {}),
      ...(keptTeams === undefined ? {} : { hosts_of_teams_except: [...keptTeams] }),
    };
    const state = await this.#command.call(configurationApi.state, { body }).finally(() => progress.done());
    this.#defaults = state.defaults;
    this.#teams = new Set(state.things.filter(({ kind }) => kind === "team").map(({ name }) => name));
    const unknown = [...new Set(state.things.map(({ kind }) => kind))].filter((kind) => !Object.hasOwn(kinds, kind));
    if (unknown.length > 0)
      this.remark(
        `this.#command version of svc does not know these kinds of objects, which the server has: ${unknown.join(", ")}. They are left out and kept unchanged: update svc`,
      );
    return state;
  }

  /** Prints the plan to stdout, as text, Markdown or structured output. */
  async printChanges(
    unmasked: readonly Change[],
    secrets: ReadonlyMap<string, string>,
    markdown = false,
  ): Promise<void> {
    const changes = hidden(unmasked, this.masks, secrets);
    if (markdown) await this.#command.write(renderMarkdown(changes, this.#defaults));
    else if (!this.#command.structured) await this.#command.write(renderPlan(changes, this.planPaint, this.#defaults));
    else if (this.#command.format === "json" || this.#command.format === "yaml")
      await this.#command.printOne(planJson(changes));
    else
      await this.#command.printList(planJson(changes).changes, {
        columns: ["action", "kind", "team", "name", "fields"],
      });
  }

  /** Prints a warning or note about the run. */
  remark(text: string): void {
    this.#command.note(`${this.#command.paint(33, "[!]")} ${printable(text)}`);
  }

  get planPaint(): Paint {
    const paint = (code: number) => (text: string) => this.#command.paint(code, text, "stdout");
    return { added: paint(32), changed: paint(33), removed: paint(31), faint: paint(2) };
  }

  isDryRun(flag: boolean | undefined): boolean {
    return this.#isOn(flag, "SVC_APPLY_DRY_RUN");
  }

  #isOn(flag: boolean | undefined, name: string): boolean {
    return flag ?? isTrue(this.#command.io.env[name]);
  }

  #warnOf(problems: readonly Problem[]): void {
    for (const problem of problems) if (problem.severity === "warning") this.remark(renderProblem(problem));
  }

  /**
   * Reports all problems of all files at once: in the error for programs, otherwise one per line in a format that
   * editors can jump to.
   */
  #refuse(problems: readonly Problem[]): never {
    this.#warnOf(problems);
    const errors = problems.filter(({ severity }) => severity === "error").sort(byPlace);
    const what = `${plural(errors.length, "error")} in the files`;
    if (this.#command.format === "json")
      throw new CliError(
        "failed",
        what,
        undefined,
        errors.map(({ file, line, column, message }) => ({ name: `${file}:${line}:${column}`, reason: message })),
      );
    for (const problem of errors) this.#command.note(printable(renderProblem(problem)));
    throw new CliError("failed", what, "Nothing was changed.");
  }
}

/** Errors of the server and of the system quote values, too. */
function withoutSecrets(error: Error, hide: (text: string) => string): Error {
  const reasons = "errors" in error && Array.isArray(error.errors) ? (error.errors as readonly FieldReason[]) : null;
  return Object.assign(error, {
    message: hide(error.message),
    stack: hide(error.stack ?? ""),
    ...("hint" in error && typeof error.hint === "string" ? { hint: hide(error.hint) } : {}),
    ...(reasons ? { errors: reasons.map(({ name, reason }) => ({ name: hide(name), reason: hide(reason) })) } : {}),
  });
}

/** By the keys of the things. */
const valuesOf = (things: readonly Thing[]): ReadonlyMap<string, Json> =>
  new Map(things.map((thing) => [keyOf(thing), thing.value]));

/** Whether the state is that of somebody who may write the organization's settings, and so everything. */
const ofAll = (things: ConfigurationState["things"]): boolean =>
  things.some(({ kind, owner }) => owner === null && kind !== "team");

/**
 * Every scope has enroll secrets: a caller whose state contains none may not write them. Custom variables belong to the
 * organization, though files of teams name them.
 */
const isUnseen = ({ kind, action }: Change, { things }: ConfigurationState): boolean =>
  action === "create" && (kind === "enroll_secrets" || (kind === "custom_variable" && !ofAll(things)));

const byPlace = (a: Problem, b: Problem): number =>
  (a.file < b.file ? -1 : a.file > b.file ? 1 : 0) || a.line - b.line || a.column - b.column;
